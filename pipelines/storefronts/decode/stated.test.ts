import { assert, describe, it } from "@effect/vitest"
import { Unusable } from "./page.ts"
import { Fields, Judged, price, text } from "./stated.ts"

/** What is said of a feed after rows that state these prices; a row without a price that can be read is a reject. */
const faultOf = (prices: ReadonlyArray<unknown>, needed?: ReadonlyArray<string>) => {
  const judged = new Judged()
  for (const stated of prices) {
    try {
      const fields = new Fields(judged, "variant", 2)
      fields.read("title", "Tea", text)
      fields.read("price", stated, price)
      judged.use()
    } catch (cause) {
      if (!(cause instanceof Unusable)) throw cause
      judged.reject(cause.message)
    }
  }
  return judged.fault(needed)
}
const times = (count: number, value: unknown) => Array.from({ length: count }, () => value)

describe("what the rows of a feed state", () => {
  it("says nothing against a feed with single values of another type", () => {
    assert.isNull(faultOf(["1.00", {}, "2.00", true, ["3.00"], "4.00", null, undefined, " "]))
  })

  it("is no fault while fewer than three rows state something else, and others say nothing", () => {
    assert.isNull(faultOf([null, ...times(2, {})]))
  })

  it("is a fault of the feed when all rows that state a field state something else", () => {
    assert.strictEqual(
      faultOf([null, ...times(3, { amount: "1.00" })]),
      'all 3 rows that state price state something else: the price of its variant 2 is {"amount":"1.00"}, which is no price'
    )
  })

  it("is a fault of the feed when not one row can be used, or states a field that each feed has", () => {
    assert.strictEqual(
      faultOf([{}]),
      "not one of its 1 rows can be used: the price of its variant 2 is {}, which is no price"
    )
    assert.strictEqual(faultOf([null, null], ["price"]), "not one of its 2 rows states a price")
    assert.isNull(faultOf([], ["price"]))
  })
})
