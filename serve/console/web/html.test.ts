import { assert, describe, it } from "@effect/vitest"
import { centsText, creditsText, pluralize, stackedTable, table, timeText, usdText } from "./html.ts"

describe("numbers and times as text", () => {
  it.each([
    [5_000, "$5.00"],
    [10, "$0.01"],
    [1_234_567, "$1,234.567"],
    [0, "$0.00"],
    [-2_500, "−$2.50"]
  ])("writes %d credits as %s", (given, words) => {
    assert.strictEqual(usdText(given), words)
  })
  it("writes counts in singular or plural, and cents as dollars", () => {
    assert.deepStrictEqual(
      [creditsText(1), creditsText(1_000), pluralize(1, "call"), pluralize(0, "call")],
      ["1 credit", "1,000 credits", "1 call", "0 calls"]
    )
    assert.strictEqual(centsText(1_050), "$10.50")
  })
  it("writes times to the second, in UTC", () => {
    assert.strictEqual(timeText("2026-10-05T23:59:59.999Z"), "5 Oct 2026, 23:59:59\u00A0UTC")
  })
})

describe("a table", () => {
  it("marks the header cells of columns and rows, and escapes its texts", async () => {
    const text = String(
      await table(
        "A & B",
        [{ name: "<b>", count: 5 }],
        [
          ["<Name>", ({ name }) => name],
          ["N", ({ count }) => count, "numeric"]
        ]
      )
    )
    assert.include(text, '<th scope="col" class="">&lt;Name&gt;</th>')
    assert.include(text, '<th scope="row" class="">&lt;b&gt;</th><td class="numeric">5</td>')
    assert.include(text, 'aria-label="A &amp; B"')
  })
  it("stays a table for screen readers when its rows become cards", async () => {
    const text = String(
      await stackedTable(
        "A",
        [5],
        [
          ["Name", () => "a"],
          ["N", (count) => count]
        ]
      )
    )
    assert.include(
      text,
      '<tr role="row"><th scope="row" class="" role="rowheader">a</th><td class="" role="cell" data-label="N">'
    )
  })
})
