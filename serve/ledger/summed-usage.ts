/** Usage summed by day, by key and by endpoint: what a page shows of millions of calls. */
import { Day } from "@larder/schemas"
import { Schema } from "effect"

export const UsageSum = Schema.Struct({
  /** A UTC day, the id of a key, or an endpoint. */
  name: Schema.String,
  calls: Schema.Int,
  credits: Schema.Int
})
export type UsageSum = typeof UsageSum.Type

/** Each list covers all requested calls. A name without calls, for example because all were refunded, is omitted. */
export const SummedUsage = Schema.Struct({
  by_day: Schema.Array(UsageSum),
  by_key: Schema.Array(UsageSum),
  by_endpoint: Schema.Array(UsageSum)
})
export type SummedUsage = typeof SummedUsage.Type

/** A sum of calls. A field is null if the sum covers several days, keys or endpoints. */
export const UsagePart = Schema.Struct({
  day: Schema.NullOr(Day),
  key_id: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  calls: Schema.Int,
  credits: Schema.Int
})
export type UsagePart = typeof UsagePart.Type

const sumBy = (parts: ReadonlyArray<UsagePart>, column: "day" | "key_id" | "endpoint"): Array<UsageSum> => {
  const sums = new Map<string, { name: string; calls: number; credits: number }>()
  for (const part of parts) {
    const name = part[column]
    if (name === null) continue
    const sum = sums.get(name) ?? { name, calls: 0, credits: 0 }
    sums.set(name, sum)
    sum.calls += part.calls
    sum.credits += part.credits
  }
  return [...sums.values()].filter(({ calls, credits }) => calls !== 0 || credits !== 0)
}

const byName = (a: UsageSum, b: UsageSum) => (a.name < b.name ? -1 : 1)
const mostCreditsFirst = (a: UsageSum, b: UsageSum) => b.credits - a.credits || byName(a, b)

/** A part counts towards each list that it has a name for. */
export const sumUsage = (parts: ReadonlyArray<UsagePart>): SummedUsage => ({
  by_day: sumBy(parts, "day").toSorted(byName),
  by_key: sumBy(parts, "key_id").toSorted(mostCreditsFirst),
  by_endpoint: sumBy(parts, "endpoint").toSorted(mostCreditsFirst)
})
