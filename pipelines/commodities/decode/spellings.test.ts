import { assert, describe, it } from "@effect/vitest"
import type { PayloadRow } from "./payload.ts"
import { makeSpeller } from "./spellings.ts"

const none = new Set<string>()
const unifySpellings = (rows: ReadonlyArray<PayloadRow>, exact: ReadonlySet<string>) =>
  rows.map(makeSpeller(rows, exact))

describe("spellings of one field", () => {
  it("become the one that most rows have", () => {
    const rows = [
      { close_price: 1 },
      { close_Price: 2, "Published Date": "x" },
      { close_price: 3, published_date: "y" }
    ]
    assert.deepStrictEqual(
      unifySpellings(rows, none).map(({ close_price }) => close_price),
      [1, 2, 3]
    )
  })
  it("are one field even if a row has both, as long as one of them is empty", () => {
    const rows = [{ close_price: 1 }, { close_price: null, close_Price: 2 }, { close_Price: "", close_price: 3 }]
    assert.deepStrictEqual(unifySpellings(rows, none), [{ close_price: 1 }, { close_price: 2 }, { close_price: 3 }])
  })
  it("stay apart if both state something in a row: they are two fields", () => {
    const rows = [{ "Week Ending Date": 1, week_ending_date: 2 }, { week_ending_date: 3 }]
    assert.deepStrictEqual(unifySpellings(rows, none), rows)
  })
  it("stay apart if the catalog names one exactly", () => {
    const rows = [{ "Week Ending Date": 1 }, { week_ending_date: 3 }]
    assert.deepStrictEqual(unifySpellings(rows, new Set(["Week Ending Date"])), rows)
  })
})
