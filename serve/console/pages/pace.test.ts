import { assert, describe, it } from "@effect/vitest"
import { paceOf } from "./pace.ts"

const today = "2026-11-22"
const spent = (name: string, credits: number) => ({ name, calls: 1, credits })

describe("how long a balance lasts", () => {
  it("goes by the average of the last seven days, today included", () => {
    const usage = [spent("2026-10-01", 9_000), spent("2026-11-15", 9_000), spent("2026-11-16", 700), spent(today, 700)]
    assert.deepStrictEqual(paceOf(usage, 5_000, today), { days: 7, credits_per_day: 200, days_left: 25 })
  })
  it("goes by the days since the first call where they are fewer", () => {
    assert.deepStrictEqual(paceOf([spent(today, 700)], 5_000, today), { days: 1, credits_per_day: 700, days_left: 7 })
    const usage = [spent("2026-11-21", 300), spent(today, 100)]
    assert.deepStrictEqual(paceOf(usage, 5_000, today), { days: 2, credits_per_day: 200, days_left: 25 })
  })
  it("is not known where nothing was spent lately", () => {
    assert.deepStrictEqual(paceOf([], 5_000, today), { days: 1, credits_per_day: 0, days_left: undefined })
    assert.deepStrictEqual(paceOf([spent("2026-10-01", 9_000)], 5_000, today).days_left, undefined)
  })
  it("is no day for a balance that is used up, or below zero", () => {
    assert.strictEqual(paceOf([spent(today, 700)], 699, today).days_left, 0)
    assert.strictEqual(paceOf([spent(today, 700)], -5_000, today).days_left, 0)
  })
})
