import { assert, describe, it } from "@effect/vitest"
import { findShapeProblem } from "./keys.ts"

describe("a food of the expected shape", () => {
  it.each([
    ["no key that is read", { unheardOf: [{}] }],
    ["nulls", { description: null, foodNutrients: null, labelNutrients: { fat: null }, tradeChannels: [null] }],
    ["numbers and booleans for texts", { description: 7, footnote: true, gtinUpc: 59642932491 }],
    ["numbers in quotes", { foodNutrients: [{ id: "12", nutrient: { id: "1003.0" } }, { id: "4.00E+4" }] }],
    ["values that are checked later", { gpcClassCode: {}, servingSize: [], publicationDate: {}, fdcId: [1] }]
  ])("accepts a food with %s", (_, food) => assert.isUndefined(findShapeProblem(food)))
})

describe("a food of an unexpected shape", () => {
  it.each([
    ["the record is not an object", [1]],
    ["description is not a string", { description: {} }],
    ["brandOwner is not a string", { brandOwner: ["A"] }],
    ["tradeChannels is not a list", { tradeChannels: "GROCERY" }],
    ["tradeChannels[1] is not a string", { tradeChannels: ["GROCERY", { a: 1 }] }],
    ["foodAttributes[0].value is not a string", { foodAttributes: [{ name: "A", value: [] }] }],
    ["foodNutrients[1] is not an object", { foodNutrients: [{}, 5] }],
    ["foodNutrients[0].id is not a number", { foodNutrients: [{ id: "abc" }] }],
    ["foodNutrients[0].nutrient is not an object", { foodNutrients: [{ nutrient: "protein" }] }],
    ["foodNutrients[0].nutrient.id is not a number", { foodNutrients: [{ nutrient: { id: {} } }] }],
    ["labelNutrients is not an object", { labelNutrients: [] }],
    ["labelNutrients.calories is not an object", { labelNutrients: { calories: 5 } }]
  ])("is reported with its path: %s", (problem, food) => assert.strictEqual(findShapeProblem(food), problem))
})
