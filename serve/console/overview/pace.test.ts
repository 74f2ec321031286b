import { assert, describe, it } from "@effect/vitest"
import { calculatePace } from "./pace.ts"

const today = "2026-11-22"
const endOfToday = Date.parse("2026-11-23T00:00:00.000Z") - 1
const noon = Date.parse("2026-11-22T12:00:00.000Z")
const spent = (name: string, credits: number) => ({ name, calls: 1, credits })

/** `expiring`: credits, and the day at whose start they expire. */
const balance = (balance_credits: number, ...expiring: ReadonlyArray<readonly [credits: number, day: string]>) => ({
  balance_credits,
  expiring: expiring.map(([credits, day]) => ({ credits, expires_at: `${day}T00:00:00.000Z` }))
})

/** Rounds to whole credits, because the end of a day is its last millisecond. */
const round = ({ credits_per_day, ...rest }: ReturnType<typeof calculatePace>) => ({
  ...rest,
  credits_per_day: Math.round(credits_per_day)
})

describe("how long a balance lasts", () => {
  it("uses the average of the last seven days, today included", () => {
    const usage = [spent("2026-10-01", 9_000), spent("2026-11-15", 9_000), spent("2026-11-16", 700), spent(today, 700)]
    assert.deepStrictEqual(round(calculatePace(usage, balance(5_100), endOfToday)), {
      days: 7,
      credits_per_day: 200,
      days_left: 25
    })
  })
  it("counts only the part of today that has passed", () => {
    const usage = [spent("2026-10-01", 9_000), spent("2026-11-16", 600), spent(today, 50)]
    assert.deepStrictEqual(calculatePace(usage, balance(5_000), noon), { days: 7, credits_per_day: 100, days_left: 50 })
    assert.strictEqual(calculatePace([spent("2026-11-21", 300)], balance(5_000), noon).credits_per_day, 200)
  })
  it("averages over the days since the first call when they are fewer, and over one day at least", () => {
    const first = { days: 1, credits_per_day: 700, days_left: 7 }
    assert.deepStrictEqual(calculatePace([spent(today, 700)], balance(5_000), noon), first)
    assert.deepStrictEqual(round(calculatePace([spent(today, 700)], balance(5_000), endOfToday)), first)
    const usage = [spent("2026-11-21", 300), spent(today, 150)]
    assert.deepStrictEqual(calculatePace(usage, balance(5_100), noon), { days: 2, credits_per_day: 300, days_left: 17 })
  })
  it("is unknown when nothing was spent in the last seven days", () => {
    assert.deepStrictEqual(calculatePace([], balance(5_000), noon), {
      days: 1,
      credits_per_day: 0,
      days_left: undefined
    })
    assert.deepStrictEqual(calculatePace([spent("2026-10-01", 9_000)], balance(5_000), noon).days_left, undefined)
  })
  it("is zero days for a balance that is used up or below zero", () => {
    assert.strictEqual(calculatePace([spent(today, 700)], balance(699), noon).days_left, 0)
    assert.strictEqual(calculatePace([spent(today, 700)], balance(-5_000), noon).days_left, 0)
  })
  it("does not count credits that expire before they can be spent at this pace", () => {
    const lasts = (...of: Parameters<typeof balance>) =>
      calculatePace([spent(today, 100)], balance(...of), noon).days_left
    assert.strictEqual(lasts(1_000, [600, "2026-11-25"]), 6) // 250 of 600 are spent in time, 400 do not expire
    assert.strictEqual(lasts(1_000, [600, "2027-01-01"]), 10)
    assert.strictEqual(lasts(1_000, [1_000, "2026-11-25"]), 2)
    assert.strictEqual(lasts(900, [300, "2026-11-24"], [300, "2026-11-26"], [300, "2026-11-26"]), 3)
    assert.strictEqual(lasts(-50), 0)
  })
})
