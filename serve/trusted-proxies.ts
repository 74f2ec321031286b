/** The caller's address behind proxies. In X-Forwarded-For, only the entries of trusted proxies count: the rightmost ones. */
import { BlockList, isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** One spelling for each address: IPv4 addresses in IPv6 become IPv4, and zones such as `%eth0` are removed. */
const normaliseAddress = (address: string) => {
  const withoutZone = address.trim().replace(/%.*$/, "")
  return isIP(withoutZone) === 6 ? ipaddr.process(withoutZone).toString() : withoutZone
}
const getFamily = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4")

/** Parses addresses and networks such as `10.0.0.0/8`, separated by commas; undefined if one of them is invalid. */
export const parseProxies = (text: string): BlockList | undefined => {
  const proxies = new BlockList()
  for (const entry of text.split(",")) {
    const [, network = "", bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(entry.trim()) ?? []
    const maxBits = isIP(network) === 6 ? 128 : 32
    if (isIP(network) === 0 || Number(bits ?? maxBits) > maxBits) return undefined
    proxies.addSubnet(network, Number(bits ?? maxBits), getFamily(network))
  }
  return proxies
}

export const loopback = new BlockList()
loopback.addSubnet("127.0.0.0", 8, "ipv4")
loopback.addAddress("::1", "ipv6")

export const isInNetworks = (networks: BlockList, address: string): boolean => {
  const normalised = normaliseAddress(address)
  return isIP(normalised) !== 0 && networks.check(normalised, getFamily(normalised))
}

/** The nearest address that is not a trusted proxy. `peer` is the address that opened the connection. */
export const findCaller = (proxies: BlockList, peer: string, forwardedFor: string | null): string => {
  const forwarded = (forwardedFor ?? "").split(",").map(normaliseAddress)
  let caller = normaliseAddress(peer)
  while (isInNetworks(proxies, caller)) {
    const next = forwarded.pop() ?? ""
    if (isIP(next) === 0) return caller
    caller = next
  }
  return caller
}
