/**
 * Who has asked, where proxies stand in front. Only a trusted proxy's X-Forwarded-For is believed, and of that only what
 * trusted proxies have added: what a caller writes into the header itself stands further left.
 */
import { BlockList, isIP } from "node:net"

/** Of one IPv4 address there are two spellings, and `%eth0` behind an IPv6 one names no other caller. */
const plain = (address: string) =>
  address
    .trim()
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/%.*$/, "")
const family = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4")

/** Addresses and networks such as `10.0.0.0/8`, separated by commas; undefined where one of them is none. */
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

/** `peer` is who opened the connection. Answers with the nearest address that is no trusted proxy. */
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
