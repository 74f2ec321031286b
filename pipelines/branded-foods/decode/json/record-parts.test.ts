import { assert, describe, it } from "@effect/vitest"
import { compareWithShape, separateParts } from "./record-parts.ts"

describe("a food of the expected shape", () => {
  it.each([
    ["no key that is read", { unheardOf: [{}] }],
    ["nulls", { description: null, foodNutrients: null, labelNutrients: { fat: null }, tradeChannels: [null] }],
    ["trade channels that are checked later", { tradeChannels: "GROCERY" }],
    ["numbers for texts", { description: 7, footnote: 1.5, gtinUpc: 59642932491 }],
    ["numbers in quotes", { foodNutrients: [{ id: "12", nutrient: { id: "1003.0" } }, { id: "4.00E+4" }] }],
    ["values that are checked later", { gpcClassCode: {}, servingSize: [], publicationDate: {}, fdcId: [1] }]
  ])("accepts a food with %s", (_, food) => assert.deepStrictEqual(compareWithShape(food), { odd: [], rejected: [] }))
})

describe("a food with a key or a substance of another shape", () => {
  it.each([
    ["the record is not an object", [1]],
    ["description is not a string", { description: {} }],
    ["gtinUpc is not a string", { gtinUpc: ["A"] }],
    ["ingredients is not a string", { ingredients: { a: 1 } }],
    ["ingredients is not a string", { ingredients: false }],
    ["foodNutrients is not a list", { foodNutrients: "none" }],
    ["labelNutrients is not an object", { labelNutrients: [] }],
    [
      "foodNutrients[1000] is not an object, and more than 1000 other parts cannot be read",
      { foodNutrients: Array(1001).fill("protein") }
    ],
    [
      "foodAttributes[1000] is not an object, and more than 1000 other parts cannot be read",
      { foodAttributes: Array(2000).fill(5) }
    ]
  ])("is reported with its path: %s", (problem, food) => assert.strictEqual(compareWithShape(food).problem, problem))
})

describe("a food with a single amount of another shape", () => {
  const separate = (food: object) => {
    const findings = compareWithShape(food)
    const { kept, rejected } = separateParts(JSON.stringify(food), findings)
    return { problem: findings.problem, reasons: findings.rejected.map(({ reason }) => reason), kept, rejected }
  }

  it.each([
    ["foodNutrients[1] is not an object", { foodNutrients: [{}, 5] }],
    ["foodNutrients[0].nutrient is not an object", { foodNutrients: [{ nutrient: "protein" }] }],
    ["foodNutrients[0].nutrient.id is not a number", { foodNutrients: [{ nutrient: { id: {} } }] }],
    ["foodNutrients[0].nutrient.id is not a number", { foodNutrients: [{ nutrient: { id: true } }] }],
    ["labelNutrients.calories is not an object", { labelNutrients: { calories: 5 } }]
  ])("loses this amount, whose fault is named with its path: %s", (reason, food) => {
    const { problem, reasons } = separate(food)
    assert.deepStrictEqual([problem, reasons], [undefined, [reason]])
  })

  it("has one reason for an amount with two faults", () => {
    const { reasons } = separate({
      foodNutrients: [{ nutrient: { id: "x" }, amount: 1, foodNutrientDerivation: {} }, 5, 6]
    })
    assert.deepStrictEqual(reasons, [
      "foodNutrients[0].nutrient.id is not a number",
      "foodNutrients[1] is not an object",
      "foodNutrients[2] is not an object"
    ])
  })

  it("keeps the others at their positions, and each lost amount with its id", () => {
    const { kept, rejected } = separate({
      fdcId: 7,
      foodNutrients: ["a", { amount: 1 }, "b", { amount: 2, foodNutrientDerivation: "LCCS" }],
      foodAttributes: [5, { name: "N" }, 6],
      labelNutrients: { fat: "x", iron: { value: 3 } }
    })
    assert.deepStrictEqual(JSON.parse(kept), {
      fdcId: 7,
      foodNutrients: [null, { amount: 1 }, null, { amount: 2 }],
      foodAttributes: [{ name: "N" }],
      labelNutrients: { iron: { value: 3 } }
    })
    assert.deepStrictEqual(
      rejected.map((part) => JSON.parse(part)),
      [
        { fdcId: 7, foodNutrients: ["a"] },
        { fdcId: 7, foodNutrients: ["b"] },
        { fdcId: 7, labelNutrients: { fat: "x" } }
      ]
    )
  })
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
