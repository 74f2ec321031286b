/** Reads the headers in which proxies name their callers: `X-Forwarded-For`, and `Forwarded` (RFC 7239). */
import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** One spelling for each address: IPv4 addresses in IPv6 become IPv4, and zones such as `%eth0` are removed. */
export const normaliseAddress = (address: string) => {
  const withoutZone = address.trim().replace(/%.*$/, "")
  return isIP(withoutZone) === 6 ? ipaddr.process(withoutZone).toString() : withoutZone
}

/** What one proxy states about its caller. */
export interface Hop {
  /** Undefined for `unknown`, an obfuscated name such as `_hidden`, or any other text. */
  readonly address: string | undefined
  readonly text: string
}

/** An address with a port, which may be obfuscated too; IPv6 is then in brackets. */
const withPort = /^(?:\[([^\]]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/

const readHop = (text: string): Hop => {
  const [, ipv6, ipv4] = withPort.exec(text) ?? []
  const address = normaliseAddress(ipv6 ?? ipv4 ?? text)
  return { text, address: isIP(address) === 0 ? undefined : address }
}

/** Some proxies quote addresses with a port, as in `Forwarded`. */
export const readForwardedFor = (header: string): ReadonlyArray<Hop> =>
  header.split(",").map((entry) => readHop(entry.trim().replace(/^"(.*)"$/, "$1")))

/** One `name=value` or nothing, up to the next separator. Values may be unquoted although they contain a colon. */
const pairs = /\s*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]+))\s*)?([;,]|$)/gy

/**
 * A header with an error is not read in part: a caller could open a quotation that hides what the proxy adds. An element
 * without `for` hides the caller.
 */
export const readForwarded = (header: string): ReadonlyArray<Hop> => {
  const hops: Array<Hop> = []
  let caller: string | undefined
  for (const [, name = "", quoted, plain = "", separator] of header.matchAll(pairs)) {
    if (name.toLowerCase() === "for") {
      if (caller !== undefined) break
      caller = quoted?.replace(/\\(.)/g, "$1") ?? plain
    }
    if (separator === ";") continue
    hops.push(readHop(caller ?? ""))
    caller = undefined
    if (separator === "") return hops
  }
  return [{ text: header, address: undefined }]
}
