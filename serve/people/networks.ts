/** Networks of callers. A customer with IPv6 has at least 2^64 addresses, and often 2^16 networks of 2^64. */
import { isIP } from "node:net"

/** The network of an IPv6 address, such as `2001:db8:0:0::/64`. Any other text is returned unchanged. */
export const findNetwork = (address: string, bits: 48 | 64): string => {
  if (isIP(address) !== 6) return address
  const [head = "", tail] = address.split("::")
  const groups = head === "" ? [] : head.split(":")
  const tailGroups = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - tailGroups.length)
  const allGroups = [...groups, ...Array.from({ length: zeros }, () => "0"), ...tailGroups]
  return `${allGroups
    .slice(0, bits / 16)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/${bits}`
}
