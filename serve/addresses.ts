/**
 * Where listeners are, for whom. A listener on every address of its machine (`0.0.0.0`, `::`) is at no address that could be
 * opened: on its machine it is at the loopback, and for others at the host by which they came.
 */

export const urlOf = (host: string, port: number): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

const loopbackOf = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["[::]", "[::1]"]
])
const hostnameOf = (url: string) => URL.parse(url)?.hostname ?? ""

export const isEveryAddress = (url: string): boolean => loopbackOf.has(hostnameOf(url))

/** Whether nobody else's machine reaches it. */
export const isLoopback = (url: string): boolean => /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostnameOf(url))

/** A host as a request names it, with or without a port: a name, perhaps with a dot at its end, or an address. */
const host = /^((?=[^:]{1,253}(:|$))[\w-]+(\.[\w-]+)*\.?|\[[\da-f:.]+\])(:\d{0,5})?$/i

/**
 * The host of a request, where it is a name or an address. Anything else could mean more than a host in a page, in a header
 * or in a command that somebody copies.
 */
export const hostIn = (text: string | null): string | undefined =>
  text !== null && host.test(text) && URL.canParse(`http://${text}`) ? text : undefined

/** The address of a listener for who came by this host, or for this machine where it is none. */
export const addressFor = (listening: string, cameBy: string | null): string => {
  const url = URL.parse(listening)
  const loopback = loopbackOf.get(url?.hostname ?? "")
  if (url === null || loopback === undefined) return listening
  const host = hostIn(cameBy)
  url.hostname = host === undefined ? loopback : new URL(`http://${host}`).hostname
  return url.origin
}
