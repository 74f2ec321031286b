import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { brandedFoodId, parseFdcId } from "./id.ts"

const fdcId = fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.integer({ min: 300_000, max: 3_000_000 }))

describe("the id of a branded food", () => {
  it("is decoded to its fdc_id, and is different for each fdc_id", () => {
    fc.assert(
      fc.property(fdcId, fdcId, (first, second) => {
        assert.strictEqual(parseFdcId(brandedFoodId(first)), first)
        assert.strictEqual(brandedFoodId(first) === brandedFoodId(second), first === second)
      }),
      { numRuns: 2000 }
    )
  })
  it("keeps the values that clients may have stored", () => {
    assert.deepStrictEqual([0, 1, 1106457, 2 ** 31 - 1].map(brandedFoodId), [
      "data_branded_food_0000000",
      "data_branded_food_1vaj5ir",
      "data_branded_food_0ebocse",
      "data_branded_food_0soq3xi"
    ])
  })
  it("has only one spelling", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(..."0123456789abcxyzAZ _-\n"), minLength: 5, maxLength: 9 }),
        (end) => {
          const id = `data_branded_food_${end}`
          const parsed = parseFdcId(id)
          assert.isTrue(parsed === undefined || brandedFoodId(parsed) === id)
        }
      ),
      { numRuns: 2000 }
    )
  })
  it.each([
    "",
    "data_branded_food_",
    "1106457",
    "data_branded_food_zzzzzzz",
    "platform_store_0000000",
    `${brandedFoodId(5)}\n`,
    ` ${brandedFoodId(5)}`,
    brandedFoodId(5).toUpperCase(),
    `${brandedFoodId(5)}0`
  ])("is not %j", (text) => {
    assert.isUndefined(parseFdcId(text))
  })
})
