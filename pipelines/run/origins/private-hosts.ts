/**
 * Checks that an untrusted list does not lead to this machine, its networks, or reserved ranges. For a name, every
 * address is checked that it resolves to when the connection is made, so that DNS rebinding cannot bypass the check.
 * Hosts of `LARDER_PRIVATE_HOSTS` (names or addresses without port, separated by commas) are always allowed.
 */
import { lookup } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { Config, Effect } from "effect"
import ipaddr from "ipaddr.js"
import { ForbiddenAddress } from "./origin.ts"

export const privateHosts = Config.String("LARDER_PRIVATE_HOSTS").pipe(
  Config.withDefault(""),
  Config.map((hosts): ReadonlySet<string> => {
    const names = hosts.split(",").map((host) => host.trim().toLowerCase())
    return new Set(names.filter(Boolean).map(withoutBrackets))
  })
)

function withoutBrackets(host: string) {
  return host.replace(/^\[(.*)\]$/, "$1")
}

/** Returns the range of an address that is not public; undefined for a public one. IPv4 inside IPv6 counts as IPv4. */
export const findPrivateRange = (address: string): string | undefined => {
  const range = ipaddr.process(address).range()
  return range === "unicast" ? undefined : range
}

const describeAddress = (host: string, address: string, range: string) => {
  const subject = host === address ? host : `${host} is ${address}, which`
  return `${subject} is not a public address (${range}); to allow it, add ${host} to LARDER_PRIVATE_HOSTS`
}

class PrivateAddress extends Error {}

/** Returns the message of a failed connection, if a private address was the reason. */
export const privateAddressMessage = (cause: unknown) => (cause instanceof PrivateAddress ? cause.message : undefined)

/** Checks what needs no lookup: the scheme, and hosts that are addresses. */
export const checkAddress = (url: string, at: URL, allowed: ReadonlySet<string>) => {
  const forbid = (problem: string) => Effect.fail(new ForbiddenAddress({ url, problem }))
  if (at.protocol !== "https:" && at.protocol !== "http:") return forbid(`${at.protocol} is neither http: nor https:`)
  const host = withoutBrackets(at.hostname)
  const range = isIP(host) === 0 || allowed.has(host) ? undefined : findPrivateRange(host)
  return range === undefined ? Effect.void : forbid(describeAddress(host, host, range))
}

export const publicLookup =
  (allowed: ReadonlySet<string>): LookupFunction =>
  (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || first === undefined) return done(error ?? new Error(`${host} has no address`), [])
      for (const { address } of allowed.has(host.toLowerCase()) ? [] : addresses) {
        const range = findPrivateRange(address)
        if (range !== undefined) return done(new PrivateAddress(describeAddress(host, address, range)), [])
      }
      if (options.all) return done(null, addresses)
      return done(null, first.address, first.family)
    })
