import { assert, describe, it } from "@effect/vitest"
import { compareWithShape } from "./keys.ts"

describe("a food of the expected shape", () => {
  it.each([
    ["no key that is read", { unheardOf: [{}] }],
    ["nulls", { description: null, foodNutrients: null, labelNutrients: { fat: null }, tradeChannels: [null] }],
    ["trade channels that are checked later", { tradeChannels: "GROCERY" }],
    ["numbers for texts", { description: 7, footnote: 1.5, gtinUpc: 59642932491 }],
    ["numbers in quotes", { foodNutrients: [{ id: "12", nutrient: { id: "1003.0" } }, { id: "4.00E+4" }] }],
    ["values that are checked later", { gpcClassCode: {}, servingSize: [], publicationDate: {}, fdcId: [1] }]
  ])("accepts a food with %s", (_, food) => assert.deepStrictEqual(compareWithShape(food), { odd: [] }))
})

describe("a food with a key or a substance of another shape", () => {
  it.each([
    ["the record is not an object", [1]],
    ["description is not a string", { description: {} }],
    ["gtinUpc is not a string", { gtinUpc: ["A"] }],
    ["ingredients is not a string", { ingredients: { a: 1 } }],
    ["ingredients is not a string", { ingredients: false }],
    ["foodNutrients is not a list", { foodNutrients: "none" }],
    ["foodNutrients[1] is not an object", { foodNutrients: [{}, 5] }],
    ["foodNutrients[0].nutrient is not an object", { foodNutrients: [{ nutrient: "protein" }] }],
    ["foodNutrients[0].nutrient.id is not a number", { foodNutrients: [{ nutrient: { id: {} } }] }],
    ["foodNutrients[0].nutrient.id is not a number", { foodNutrients: [{ nutrient: { id: true } }] }],
    ["labelNutrients is not an object", { labelNutrients: [] }],
    ["labelNutrients.calories is not an object", { labelNutrients: { calories: 5 } }]
  ])("is reported with its path: %s", (problem, food) => assert.strictEqual(compareWithShape(food).problem, problem))
})

describe("a food with an optional field of another shape", () => {
  it.each([
    ["brandOwner", { brandOwner: ["A"] }],
    ["brandOwner", { brandOwner: true }],
    ["foodAttributes", { foodAttributes: "none" }],
    ["foodAttributes", { foodAttributes: [{}, 5] }],
    ["foodAttributes.value", { foodAttributes: [{ name: "A", value: [] }] }],
    ["foodNutrients.id", { foodNutrients: [{ id: "abc" }] }],
    ["foodNutrients.foodNutrientDerivation", { foodNutrients: [{ foodNutrientDerivation: "LCCS" }] }],
    ["foodUpdateLog", { foodUpdateLog: {} }]
  ])("has no problem, and the part is named: %s", (field, food) => {
    const { odd, problem } = compareWithShape(food)
    assert.isUndefined(problem)
    assert.deepStrictEqual(
      odd.map((part) => part.field),
      [field]
    )
  })
})
