/**
 * Finds request ids that a ledger contains more than once for the same type. Ten million texts would not fit into
 * memory, so a 53-bit hash of each is kept; texts are compared only if two hashes are equal.
 */
import type { Entry } from "../chain/records.ts"

const nameOf = ({ request_id, type }: Entry) => `${type} ${request_id}`

/** FNV-1a twice, with different start values. */
const numberOf = (text: string): number => {
  let [high, low] = [0x811c9dc5, 0x1b873593]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 0x01000193)
    low = Math.imul(low ^ code, 0x01000193) + at
  }
  return ((high >>> 0) & 0x1fffff) * 2 ** 32 + (low >>> 0)
}

const doneOf = { charge: "charged", refund: "given back" } as const
const told = (name: string, times: number) => {
  const [type = "", id] = name.split(" ")
  if (type === "charge" || type === "refund") return `request ${id} was ${doneOf[type]} ${times} times`
  return `${type} ${id} was booked ${times} times`
}

export const repeatedRequests = () => {
  let numbers = new Float64Array(1 << 16)
  let count = 0
  const isNamed = ({ request_id, type }: Entry) => type === "charge" || request_id !== null
  return {
    add: (entry: Entry): void => {
      if (!isNamed(entry)) return
      if (count === numbers.length) {
        const larger = new Float64Array(2 * count)
        larger.set(numbers)
        numbers = larger
      }
      numbers[count++] = numberOf(nameOf(entry))
    },
    /** `entries` returns all entries that were added, once more. */
    problems: (entries: () => Iterable<Entry>): ReadonlyArray<string> => {
      const sorted = numbers.subarray(0, count).sort()
      const suspects = new Set<number>()
      for (let at = 1; at < count; at++) {
        const number = sorted[at]
        if (number !== undefined && number === sorted[at - 1]) suspects.add(number)
      }
      if (suspects.size === 0) return []
      const times = new Map<string, number>()
      for (const entry of entries()) {
        if (!isNamed(entry) || !suspects.has(numberOf(nameOf(entry)))) continue
        times.set(nameOf(entry), (times.get(nameOf(entry)) ?? 0) + 1)
      }
      return [...times].flatMap(([name, count]) => (count > 1 ? [told(name, count)] : []))
    }
  }
}
