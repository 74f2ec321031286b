import { assert, describe, it } from "@effect/vitest"
import { calculateSpendingRate } from "./spending-rate.ts"

const today = "2026-11-22"
const endOfToday = Date.parse("2026-11-23T00:00:00.000Z") - 1
const noon = Date.parse("2026-11-22T12:00:00.000Z")
const aUsageSum = (name: string, credits: number) => ({ name, calls: 1, credits })

/** Rounds to whole credits, because the end of a day is its last millisecond. */
const round = ({ credits_per_day, ...rest }: ReturnType<typeof calculateSpendingRate>) => ({
  ...rest,
  credits_per_day: Math.round(credits_per_day)
})

describe("how long a balance lasts", () => {
  it("uses the average of the last seven days, today included", () => {
    const usage = [
      aUsageSum("2026-10-01", 9_000),
      aUsageSum("2026-11-15", 9_000),
      aUsageSum("2026-11-16", 700),
      aUsageSum(today, 700)
    ]
    assert.deepStrictEqual(round(calculateSpendingRate(usage, 5_100, endOfToday)), {
      days: 7,
      credits_per_day: 200,
      days_left: 25
    })
  })
  it("counts only the part of today that has passed", () => {
    const usage = [aUsageSum("2026-10-01", 9_000), aUsageSum("2026-11-16", 600), aUsageSum(today, 50)]
    assert.deepStrictEqual(calculateSpendingRate(usage, 5_000, noon), {
      days: 7,
      credits_per_day: 100,
      days_left: 50
    })
    assert.strictEqual(calculateSpendingRate([aUsageSum("2026-11-21", 300)], 5_000, noon).credits_per_day, 200)
  })
  it("averages over the days since the first call if they are fewer, but at least over one day", () => {
    const first = { days: 1, credits_per_day: 700, days_left: 7 }
    assert.deepStrictEqual(calculateSpendingRate([aUsageSum(today, 700)], 5_000, noon), first)
    assert.deepStrictEqual(round(calculateSpendingRate([aUsageSum(today, 700)], 5_000, endOfToday)), first)
    const usage = [aUsageSum("2026-11-21", 300), aUsageSum(today, 150)]
    assert.deepStrictEqual(calculateSpendingRate(usage, 5_100, noon), {
      days: 2,
      credits_per_day: 300,
      days_left: 17
    })
  })
  it("is unknown if nothing was spent in the last seven days", () => {
    assert.deepStrictEqual(calculateSpendingRate([], 5_000, noon), {
      days: 1,
      credits_per_day: 0,
      days_left: undefined
    })
    assert.deepStrictEqual(calculateSpendingRate([aUsageSum("2026-10-01", 9_000)], 5_000, noon).days_left, undefined)
  })
  it("is zero days for a balance that is used up or below zero", () => {
    assert.strictEqual(calculateSpendingRate([aUsageSum(today, 700)], 699, noon).days_left, 0)
    assert.strictEqual(calculateSpendingRate([aUsageSum(today, 700)], -5_000, noon).days_left, 0)
  })
})
