import { assert, describe, it } from "@effect/vitest"
import { aKey } from "@larder/test/support/serve/sample-ledger.ts"
import { dayNumber } from "../utc-calendar.ts"
import { addSpent, findReachedCap, type KeySpending, listBudgets, noDays, setSpent } from "./spending.ts"

const record = {
  ...aKey("key_a", "acct_a"),
  budget_credits: 5_000,
  daily_budget_credits: 100,
  weekly_budget_credits: 500
}
const makeSpending = (): KeySpending => ({
  record,
  budgets: listBudgets(record),
  periods: new Map(),
  days: noDays,
  firstCountedDay: 0,
  stored: undefined
})

describe("spending of a key with days that are read from a store", () => {
  it.each(["2026-09-21", "2026-10-22", "2026-01-01"])(
    "is loaded for all periods of each of 200 days from %s on",
    (first) => {
      const key = makeSpending()
      for (let day = dayNumber(Date.parse(first)); day < dayNumber(Date.parse(first)) + 200; day++) {
        setSpent(key, day, { sumMonth: () => 3_000, sumDay: () => 60 })
        const week = key.budgets[1]?.periodOf(day)
        assert.deepStrictEqual([...key.periods.values()].find(({ period }) => period === week)?.spent, 420)
        assert.strictEqual(findReachedCap(key, 40, day), undefined)
        assert.strictEqual(findReachedCap(key, 41, day), "daily_spend_cap_reached")
        assert.isAtMost(key.periods.size, 60)
      }
    }
  )

  it("includes the day before, because its last calls may still be running", () => {
    const key = makeSpending()
    const first = dayNumber(Date.parse("2026-01-01"))
    for (let day = first; day < first + 200; day++) {
      setSpent(key, day, { sumMonth: () => 3_000, sumDay: () => 60 })
      assert.strictEqual(findReachedCap(key, 41, Math.max(first, day - 1)), "daily_spend_cap_reached")
    }
  })
})

describe("spending of a key that is counted since the start", () => {
  it("is not read for new periods, even after the server has run for 200 days", () => {
    const first = dayNumber(Date.parse("2026-09-21"))
    const read: Array<string> = []
    const stored = { month: 0, day: first, readMonth: () => 0, readDays: () => read.push("days") }
    const key = { ...makeSpending(), firstCountedDay: first, stored }
    for (let day = first; day < first + 200; day++) {
      assert.strictEqual(findReachedCap(key, 100, day), undefined)
      addSpent(key, day, 60)
      assert.strictEqual(findReachedCap(key, 41, day), "daily_spend_cap_reached")
    }
    assert.deepStrictEqual(read, [])
  })
})
