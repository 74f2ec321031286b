import { assert, describe, it } from "@effect/vitest"
import { emptyFood } from "@larder/test/support/empty-food.ts"
import { Schema } from "effect"
import { BrandedFood } from "./records.ts"

const isFood = (value: unknown) =>
  Schema.decodeUnknownResult(BrandedFood, { errors: "all", onExcessProperty: "error" })(value)._tag === "Success"

/** A label that states only its name. */
const minimal = {
  id: "data_branded_food_x",
  fdc_id: 1106457,
  ...emptyFood,
  fetched_at: "2026-10-01T13:04:36.000Z"
}

describe("a branded food", () => {
  it("is valid if it states only its name", () => {
    assert.isTrue(isFood(minimal))
    assert.deepStrictEqual(Object.keys(minimal), Object.keys(BrandedFood.fields))
  })
  it.each(Object.keys(minimal))("is invalid without the field %s", (field) => {
    assert.isFalse(isFood(Object.fromEntries(Object.entries(minimal).filter(([name]) => name !== field))))
  })
  it("is invalid with another field", () => {
    assert.isFalse(isFood({ ...minimal, material_code: null }))
  })
  it("may omit nutrients, but their values must not be null", () => {
    assert.isTrue(isFood({ ...minimal, nutrition: { calories: 20, vitamin_d: 0 } }))
    assert.isFalse(isFood({ ...minimal, nutrition: { calories: null } }))
    assert.deepStrictEqual(Object.keys(BrandedFood.fields.nutrition.fields), [
      "calories",
      "fat",
      "saturated_fat",
      "trans_fat",
      "cholesterol",
      "sodium",
      "carbohydrates",
      "fiber",
      "sugars",
      "added_sugar",
      "protein",
      "calcium",
      "iron",
      "potassium",
      "vitamin_d"
    ])
  })
  it("lists nutrients by an id that is never null, and may leave their number null", () => {
    const protein = { nutrient_id: 1003, number: "203", name: "Protein", unit: "g", amount: 7.14 }
    assert.isTrue(isFood({ ...minimal, nutrients: [protein, { ...protein, number: null }] }))
    assert.isFalse(isFood({ ...minimal, nutrients: [{ ...protein, nutrient_id: null }] }))
  })
  it.each([
    ["id", "platform_store_x"],
    ["fdc_id", 1.5],
    ["serving_size_unit_normalized", "GRM"],
    ["published_on", "2024-02-30"],
    ["fetched_at", "2026-10-01"],
    ["source", "gov-mars"]
  ])("is invalid with the %s %j", (field, value) => {
    assert.isFalse(isFood({ ...minimal, [field]: value }))
  })
})
