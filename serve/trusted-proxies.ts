/**
 * The caller's address behind proxies. Only the X-Forwarded-For of a trusted proxy counts, and only the entries that
 * trusted proxies added: entries that the caller itself wrote are further left.
 */
import { BlockList, isIP } from "node:net"

/** One IPv4 address has two spellings, and `%eth0` after an IPv6 address does not make it another caller. */
const plain = (address: string) =>
  address
    .trim()
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/%.*$/, "")
const family = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4")

/** Parses addresses and networks such as `10.0.0.0/8`, separated by commas; undefined if one of them is invalid. */
export const proxiesIn = (text: string): BlockList | undefined => {
  const proxies = new BlockList()
  for (const entry of text.split(",")) {
    const [, network = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry.trim()) ?? []
    const widest = isIP(network) === 6 ? 128 : 32
    if (isIP(network) === 0 || Number(bits ?? widest) > widest) return undefined
    proxies.addSubnet(network, Number(bits ?? widest), family(network))
  }
  return proxies
}

/** Proxies on this machine. */
export const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

/** Whether the address is in one of these networks. */
export const isOneOf = (networks: BlockList, address: string): boolean => {
  const written = plain(address)
  return isIP(written) !== 0 && networks.check(written, family(written))
}

/** `peer` is the address that opened the connection. Answers with the nearest address that is not a trusted proxy. */
export const callerOf = (proxies: BlockList, peer: string, forwardedFor: string | null): string => {
  const behind = (forwardedFor ?? "").split(",").map(plain)
  let caller = plain(peer)
  while (isOneOf(proxies, caller)) {
    const next = behind.pop() ?? ""
    if (isIP(next) === 0) return caller
    caller = next
  }
  return caller
}
