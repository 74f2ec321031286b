import { assert, describe, it } from "@effect/vitest"
import { aKey } from "@larder/test/support/serve/sample-ledger.ts"
import { type KeySpending, leftInBudget, openMonth } from "./spending.ts"

const start = 2026 * 12 + 9

describe("spending of a key", () => {
  it("is read once for a month before the start, and never for a later one", () => {
    const read: Array<number> = []
    const readMonth = (_: string, __: string, month: number) => {
      read.push(month)
      return 400
    }
    const key: KeySpending = {
      record: { ...aKey("key_a", "acct_a"), budget_credits: 1_000 },
      months: new Map(),
      stored: { month: start, readMonth }
    }
    assert.deepStrictEqual(
      [start - 1, start, start + 1, start - 1].map((month) => leftInBudget(key, month)),
      [600, 1_000, 1_000, 600]
    )
    openMonth(key, start - 1).held += 600
    openMonth(key, start).spent += 10
    assert.deepStrictEqual([leftInBudget(key, start - 1), leftInBudget(key, start)], [0, 990])
    assert.deepStrictEqual(read, [start - 1])
  })
})
