import { assert, describe, it } from "@effect/vitest"
import { shapeProblem } from "./keys.ts"

describe("a food of the expected shape", () => {
  it.each([
    ["no key that is read", { unheardOf: [{}] }],
    ["nulls", { description: null, foodNutrients: null, labelNutrients: { fat: null }, tradeChannels: [null] }],
    ["numbers and booleans for texts", { description: 7, footnote: true, gtinUpc: 59642932491 }],
    ["numbers in quotes", { foodNutrients: [{ id: "12", nutrient: { id: "1003.0" } }, { id: "4.00E+4" }] }],
    ["values that are checked later", { gpcClassCode: {}, servingSize: [], publicationDate: {}, fdcId: [1] }]
  ])("accepts a food with %s", (_, food) => assert.isUndefined(shapeProblem(food)))
})

describe("a food of an unexpected shape", () => {
  it.each([
    ["the record is no object", [1]],
    ["description is no text", { description: {} }],
    ["brandOwner is no text", { brandOwner: ["A"] }],
    ["tradeChannels is no list", { tradeChannels: "GROCERY" }],
    ["tradeChannels[1] is no text", { tradeChannels: ["GROCERY", { a: 1 }] }],
    ["foodAttributes[0].value is no text", { foodAttributes: [{ name: "A", value: [] }] }],
    ["foodNutrients[1] is no object", { foodNutrients: [{}, 5] }],
    ["foodNutrients[0].id is no number", { foodNutrients: [{ id: "abc" }] }],
    ["foodNutrients[0].nutrient is no object", { foodNutrients: [{ nutrient: "protein" }] }],
    ["foodNutrients[0].nutrient.id is no number", { foodNutrients: [{ nutrient: { id: {} } }] }],
    ["labelNutrients is no object", { labelNutrients: [] }],
    ["labelNutrients.calories is no object", { labelNutrients: { calories: 5 } }]
  ])("reports what is wrong, and its place: %s", (problem, food) => assert.strictEqual(shapeProblem(food), problem))
})
