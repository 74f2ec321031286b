/** Addresses of listeners, for clients. A client cannot open `0.0.0.0` or `::`, which mean all interfaces of a machine. */
import { isLoopback } from "@larder/schemas"

export const buildUrl = (host: string, port: number): string =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`

const loopbackHosts = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["[::]", "[::1]"]
])
const parseHostname = (url: string) => URL.parse(url)?.hostname ?? ""

export const isAllInterfaces = (url: string): boolean => loopbackHosts.has(parseHostname(url))

export const isLoopbackUrl = (url: string): boolean => isLoopback({ hostname: parseHostname(url) })

/** The host of a request, with or without a port: a name, optionally with a trailing dot, or an address. */
const hostPattern = /^((?=[^:]{1,253}(:|$))[\w-]+(\.[\w-]+)*\.?|\[[\da-f:.]+\])(:\d{0,5})?$/i

let latestHost: string | null = null

/**
 * Returns a valid host unchanged. Any other string could have a second meaning in a page, header or command. Most requests
 * have the host of the one before, which is not checked again.
 */
export const parseHost = (host: string | null): string | undefined => {
  if (host === null) return undefined
  if (host !== latestHost && !(hostPattern.test(host) && URL.canParse(`http://${host}`))) return undefined
  latestHost = host
  return host
}

/** The address of a listener for a client that used this host; without a valid host, the address for this machine. */
export const addressFor = (listening: string, requestHost: string | null): string => {
  const url = URL.parse(listening)
  const loopback = loopbackHosts.get(url?.hostname ?? "")
  if (url === null || loopback === undefined) return listening
  const host = parseHost(requestHost)
  url.hostname = host === undefined ? loopback : new URL(`http://${host}`).hostname
  return url.origin
}
