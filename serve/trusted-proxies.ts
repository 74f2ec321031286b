/** The caller's address behind proxies. Only what trusted proxies state counts: the rightmost entries of their headers. */
import { BlockList, isIP } from "node:net"
import { type Hop, normaliseAddress, readForwarded, readForwardedFor } from "./forwarded.ts"

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

interface Found {
  readonly caller: string
  /** Why the caller is a trusted proxy although it has sent a header. */
  readonly problem?: string
}

const excerpt = (text: string) => JSON.stringify(text.replace(/[^ -~]/g, "?").slice(0, 40))

/** The nearest address that is not a trusted proxy. */
const follow = (proxies: BlockList, peer: string, name: string, hops: ReadonlyArray<Hop>): Found => {
  let caller = peer
  for (const { address, text } of hops.toReversed()) {
    if (!isInNetworks(proxies, caller)) break
    if (address === undefined) return { caller, problem: `${name} has no address of a caller: ${excerpt(text)}` }
    caller = address
  }
  return { caller }
}

interface ForwardedHeaders {
  readonly forwarded: string | null
  readonly forwardedFor: string | null
}

/**
 * `peer` is the address that opened the connection. Proxies usually set one of the headers and pass on the other as the
 * caller sent it, and nothing tells which one. So if the two name different callers, neither is believed.
 */
export const findCaller = (proxies: BlockList, peer: string, { forwarded, forwardedFor }: ForwardedHeaders): Found => {
  const proxy = normaliseAddress(peer)
  const found = [
    ...(forwardedFor ? [follow(proxies, proxy, "X-Forwarded-For", readForwardedFor(forwardedFor))] : []),
    ...(forwarded ? [follow(proxies, proxy, "Forwarded", readForwarded(forwarded))] : [])
  ]
  const [first = { caller: proxy }, second = first] = found
  if (first.caller !== second.caller)
    return { caller: proxy, problem: "X-Forwarded-For and Forwarded name different callers" }
  return first.problem === undefined ? second : first
}
