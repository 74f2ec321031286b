/** Addresses in settings and requests: which are of this machine, and where plain HTTP is safe. */

/** Whether it is a name or address of this machine. A parsed URL has every IPv4 address as four decimal numbers. */
export const isLoopback = ({ hostname }: Pick<URL, "hostname">): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether nobody else can read or modify in transit what is sent there: HTTPS, or plain HTTP on this machine. */
export const isSafeInTransit = (url: URL): boolean =>
  url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))
