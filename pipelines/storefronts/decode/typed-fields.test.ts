import { assert, describe, it } from "@effect/vitest"
import { UnusableRow } from "./feed-errors.ts"
import { shopifyRoles } from "./field-roles.ts"
import { FeedStats, Fields, types } from "./typed-fields.ts"

/** The fault of a feed whose rows state these prices. A row with an unreadable price is a reject. */
const faultOf = (prices: ReadonlyArray<unknown>, needed?: ReadonlyArray<string>) => {
  const stats = new FeedStats()
  for (const stated of prices) {
    try {
      const fields = new Fields(stats, shopifyRoles.variant, "variant", 2)
      fields.read("title", "Tea", types.text)
      fields.read("price", stated, types.price)
      stats.recordUsed()
    } catch (cause) {
      if (!(cause instanceof UnusableRow)) throw cause
      stats.recordReject(cause.message)
    }
  }
  return stats.findFault(needed)
}
const times = (count: number, value: unknown) => Array.from({ length: count }, () => value)

describe("the field types of a feed's rows", () => {
  it("accept a feed with single values of another type", () => {
    assert.isNull(faultOf(["1.00", {}, "2.00", true, ["3.00"], "4.00", null, undefined, " "]))
  })

  it("accept a feed if fewer than three rows have another type and the others have no value", () => {
    assert.isNull(faultOf([null, ...times(2, {})]))
  })

  it("reject a feed if all values of a field have another type", () => {
    assert.strictEqual(
      faultOf([null, ...times(3, { amount: "1.00" })]),
      'all 3 rows with a value in price have one of another type there: the price of its variant 2 is {"amount":"1.00"}, which is not a price'
    )
  })

  it("reject a feed if no row can be used, or none has a required field", () => {
    assert.strictEqual(
      faultOf([{}]),
      "none of its 1 rows can be used: the price of its variant 2 is {}, which is not a price"
    )
    assert.strictEqual(faultOf([null, null], ["price"]), "none of its 2 rows has a price")
    assert.isNull(faultOf([], ["price"]))
  })
})

describe("an optional field", () => {
  const roles = { grams: "optional", images: "optional", title: "substance" } as const

  it("is null if it cannot be read, and what it said is an odd value", () => {
    const stats = new FeedStats()
    const fields = new Fields(stats, roles, "variant", 2)
    assert.deepStrictEqual(
      ["heavy", { g: 5 }, "-5", "12.5"].map((stated) => fields.read("grams", stated, types.grams)),
      [null, null, null, 12.5]
    )
    assert.deepStrictEqual(stats.takeOddValues(), [
      { field: "variant grams", said: "heavy" },
      { field: "variant grams", said: '{"g":5}' },
      { field: "variant grams", said: "-5" }
    ])
    assert.deepStrictEqual(stats.takeOddValues(), [])
  })

  it("never makes a feed untrusted, even if no value can be read", () => {
    const stats = new FeedStats()
    for (let row = 0; row < 5; row++) {
      new Fields(stats, roles).read("grams", "heavy", types.grams)
      stats.recordUsed()
    }
    assert.isNull(stats.findFault())
  })

  it("keeps the other entries of a list with a wrong one", () => {
    const stats = new FeedStats()
    assert.deepStrictEqual(new Fields(stats, roles).readObjects("images", [{ src: "a" }, 5, null]), [{ src: "a" }])
    assert.deepStrictEqual(stats.takeOddValues(), [{ field: "images", said: "5" }])
  })

  it("has no value if it says so, except in names", () => {
    const stats = new FeedStats()
    const fields = new Fields(stats, roles)
    assert.deepStrictEqual(
      ["", "NA", " n/a", "--"].map((stated) => fields.read("grams", stated, types.grams)),
      [null, null, null, null]
    )
    assert.strictEqual(fields.read("title", "NA", types.text), "NA")
    assert.deepStrictEqual(stats.takeOddValues(), [])
  })
})

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
