import { assert, describe, it } from "@effect/vitest"
import { PublishedNumber } from "@larder/schemas/decimals.ts"
import { fieldsOf, findField, isScalar, normalisedKey, textOf } from "./field.ts"

describe("a field", () => {
  it.each([
    ["weekly Av", "weekly_av"],
    ["published_Date", "published_date"],
    ["lot_Desc", "lot_desc"],
    ["Week Ending Date", "week_ending_date"]
  ])("%s is looked up as %s", (key, expected) => assert.strictEqual(normalisedKey(key), expected))

  it("is found in another case or with blanks, and is undefined when no key fits", () => {
    assert.deepStrictEqual(findField(["slug_id", "published_Date"], "published_date"), { field: "published_Date" })
    assert.deepStrictEqual(findField(["weekly Av"], "weekly_av"), { field: "weekly Av" })
    assert.isUndefined(findField(["slug_id"], "published_date"))
  })

  it("prefers the exact name to one that normalises to it", () => {
    const both = ["week_ending_date", "Week Ending Date"]
    assert.deepStrictEqual(findField(both, "Week Ending Date"), { field: "Week Ending Date" })
    assert.deepStrictEqual(findField(both, "week_ending_date"), { field: "week_ending_date" })
  })

  it("is ambiguous when two keys normalise to it", () => {
    const both = ["Week Ending Date", "week ending date"]
    assert.deepStrictEqual(findField(both, "week_ending_date"), { ambiguous: both })
  })

  it("is listed when any row has it, in order of appearance", () => {
    assert.deepStrictEqual(fieldsOf([{ a: 1 }, { b: 2, a: 1 }, { c: null }]), ["a", "b", "c"])
  })
})

describe("a cell", () => {
  it.each([[null], [undefined], [""], ["  "], ["N/A"], ["n/a"], [" N/A "]])("has no text when it is %j", (cell) => {
    assert.isUndefined(textOf(cell))
  })

  it("keeps the digits of a number as printed", () => {
    assert.strictEqual(textOf(new PublishedNumber("1.6140")), "1.6140")
    assert.strictEqual(textOf(" 13,594,473 "), "13,594,473")
    assert.strictEqual(textOf(new PublishedNumber("0")), "0")
  })

  it.each([
    [[], "[]"],
    [["N/A"], '["N/A"]'],
    [{}, "{}"],
    [false, "false"]
  ])("states something, and no text or number, when it is %j", (cell, text) => {
    assert.strictEqual(textOf(cell), text)
  })

  it.each([[[1]], [{ a: 1 }], [true]])("is not a scalar when it is %j", (cell) => {
    assert.isFalse(isScalar(cell))
  })
})
