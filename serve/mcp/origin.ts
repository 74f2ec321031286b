/**
 * Which web pages may call `/mcp`. A browser sends `Origin` with every POST; a program sends none and is accepted. A
 * page whose name was pointed at this machine (DNS rebinding) still sends its own origin and is refused. Allowed
 * origins are the public addresses that the operator set, the addresses of the listeners, and pages of the caller's own
 * machine, where developer tools run. `Host` is not checked, because an attacker that rebinds a name also chooses
 * `Host`. All callers need a key anyway. If a listener takes every address of its machine (`LARDER_HOST=0.0.0.0`), its
 * own address is unknown: pages of the API's own origin then need `LARDER_API_URL`.
 */

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

/** `own` are origins, such as `https://api.example.com`. */
export const isAllowedOrigin = (origin: string, own: ReadonlySet<string>): boolean => {
  const url = URL.parse(origin)
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== origin) return false
  return loopback.has(url.hostname) || own.has(origin)
}
