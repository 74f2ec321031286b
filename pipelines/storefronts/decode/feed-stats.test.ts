import { assert, describe, it } from "@effect/vitest"
import { UnusableRow } from "./feed-errors.ts"
import { FeedStats } from "./feed-stats.ts"
import { shopifyRoles } from "./field-roles.ts"
import { types } from "./field-types.ts"
import { Fields } from "./typed-fields.ts"

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
