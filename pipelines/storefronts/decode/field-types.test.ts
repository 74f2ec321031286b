import { assert, describe, it } from "@effect/vitest"
import { FeedStats } from "./feed-stats.ts"
import { types } from "./field-types.ts"
import { Fields } from "./typed-fields.ts"

describe("a barcode", () => {
  it.each([
    ["'0012345678905", "0012345678905", []],
    [4006381333931, "4006381333931", []],
    ["N/A", null, []],
    ["8.90E+12", null, [{ field: "barcode", said: "8.90E+12" }]],
    ['="00123"', "00123", []],
    [{}, null, [{ field: "barcode", said: "{}" }]]
  ] as const)("%j is read as %j", (stated, expected, odd) => {
    const stats = new FeedStats()
    const read = new Fields(stats, { barcode: "optional" }).read("barcode", stated, types.barcode)
    assert.deepStrictEqual([read, stats.takeOddValues()], [expected, [...odd]])
  })
})

describe("a SKU that is optional", () => {
  it.each([
    ["A&amp;B-1", "A&B-1", []],
    ["5E12", "5E12", []],
    ["3.32E+13", null, [{ field: "sku", said: "3.32E+13" }]],
    ["#REF!", null, [{ field: "sku", said: "#REF!" }]],
    ["#12", "#12", []]
  ] as const)("%j is read as %j", (stated, expected, odd) => {
    const stats = new FeedStats()
    const read = new Fields(stats, { sku: "optional" }).read("sku", stated, types.code)
    assert.deepStrictEqual([read, stats.takeOddValues()], [expected, [...odd]])
  })
})
