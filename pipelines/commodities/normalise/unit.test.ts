import { assert, describe, it } from "@effect/vitest"
import { unitReader } from "./unit.ts"

describe("the unit of a row", () => {
  it.each([
    ["Dollars per Pound", "usd_per_lb"],
    ["$/lb", "usd_per_lb"],
    ["Dollars per Metric Ton", "usd_per_metric_ton"],
    ["USD/tonne", "usd_per_metric_ton"],
    ["Dollars per Hundredweight", "usd_per_cwt"],
    ["Dollars per 100 Pounds", "usd_per_cwt"],
    ["Cents per Pound", "cents"],
    ["Basis Pricing", "usd_per_lb_basis"]
  ])("is %s as %s", (price_unit, unit) => {
    assert.deepStrictEqual(unitReader(["price_unit"])({ price_unit }), { unit, stated: price_unit })
  })

  it("is unknown where the row states none, or one in other words", () => {
    assert.isUndefined(unitReader(["price_unit"])({ price_unit: null }))
    assert.isUndefined(unitReader(["price_unit"])({ price_unit: "per carton" }))
    assert.isUndefined(unitReader([])({}))
  })
})
