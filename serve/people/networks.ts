/** Networks of callers. A customer with IPv6 has at least 2^64 addresses, and often 2^16 networks of 2^64. */
import { isIP } from "node:net"
import ipaddr from "ipaddr.js"

/** The network of an IPv6 address, such as `2001:db8:0:0::/64`. Any other string is returned unchanged. */
export const findNetwork = (address: string, bits: 48 | 64): string => {
  if (isIP(address) !== 6) return address
  const groups = ipaddr.IPv6.parse(address).parts.slice(0, bits / 16)
  return `${groups.map((group) => group.toString(16)).join(":")}::/${bits}`
}
