import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { BrandedFood } from "./records.ts"

const isFood = (value: unknown) =>
  Schema.decodeUnknownResult(BrandedFood, { errors: "all", onExcessProperty: "error" })(value)._tag === "Success"

/** A label that states nothing but its name. */
const bare = {
  id: "data_branded_food_x",
  fdc_id: 1106457,
  description: "DUBBLE BUBBLE, BUBBLE GUM",
  short_description: null,
  brand_owner: null,
  brand_name: null,
  subbrand_name: null,
  category: null,
  gpc_class_code: null,
  upc: null,
  package_weight: null,
  serving_size: null,
  serving_size_unit: null,
  serving_size_unit_normalized: null,
  household_serving_text: null,
  preparation_state_code: null,
  market_country: null,
  market_country_normalized: null,
  trade_channels: [],
  ingredients: null,
  nutrition: {},
  nutrients: [],
  attributes: [],
  caffeine_statement: null,
  footnote: null,
  data_source: null,
  published_on: null,
  available_on: null,
  modified_on: null,
  discontinued_on: null,
  source: "gov-fdc",
  fetched_at: "2026-10-01T13:04:36.000Z"
}

describe("a branded food", () => {
  it("may state nothing but its name", () => {
    assert.isTrue(isFood(bare))
    assert.deepStrictEqual(Object.keys(bare), Object.keys(BrandedFood.fields))
  })
  it.each(Object.keys(bare))("always has the field %s", (field) => {
    assert.isFalse(isFood(Object.fromEntries(Object.entries(bare).filter(([name]) => name !== field))))
  })
  it("has no other fields", () => {
    assert.isFalse(isFood({ ...bare, material_code: null }))
  })
  it("omits nutrients that the label does not state, and has none that are null", () => {
    assert.isTrue(isFood({ ...bare, nutrition: { calories: 20, vitamin_d: 0 } }))
    assert.isFalse(isFood({ ...bare, nutrition: { calories: null } }))
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
  it("lists nutrients by id, with unit and amount", () => {
    const protein = { nutrient_id: 1003, number: "203", name: "Protein", unit: "g", amount: 7.14 }
    assert.isTrue(isFood({ ...bare, nutrients: [protein, { ...protein, number: null }] }))
    assert.isFalse(isFood({ ...bare, nutrients: [{ ...protein, nutrient_id: null }] }))
  })
  it.each([
    ["id", "platform_store_x"],
    ["fdc_id", 1.5],
    ["serving_size_unit_normalized", "GRM"],
    ["published_on", "2024-02-30"],
    ["fetched_at", "2026-10-01"],
    ["source", "gov-mars"]
  ])("does not have the %s %j", (field, value) => {
    assert.isFalse(isFood({ ...bare, [field]: value }))
  })
})
