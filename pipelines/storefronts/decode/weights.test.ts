import { assert, describe, it } from "@effect/vitest"
import { parseGrams } from "./weights.ts"

describe("weights", () => {
  it.each([
    ["3 kg", 3000],
    ["500g", 500],
    ["500 gr", 500],
    ["500 gr.", 500],
    ["500 grams", 500],
    ["1,5 kg", 1500],
    ["1.250,5 g", 1251],
    ["1,250.5 g", 1251],
    ["1,250 kg", 1250],
    ["1.250 kg", 1250],
    ["0,500 kg", 500],
    ["1,250.5 kg", 1_250_500],
    ["1,250 lb", 567],
    ["1.250 lbs", 567],
    ["1,250 g", 1250],
    ["1.250 g", 1250],
    ["12.500 g", 12_500],
    ["500.000 g", 500],
    ["0.750 g", 1],
    ["1,250 oz", 35_437],
    ["1.250 oz", 35],
    ["1,250,000 g", 1_250_000],
    ["2 Kilograms", 2000],
    ["12 oz", 340],
    ["1.5 LB", 680],
    ["2 lbs", 907],
    ["2 pounds", 907],
    ["0 kg", null],
    ["0.00", null],
    ["0", null],
    ["500", undefined],
    ["3 stone", undefined],
    ["3 constructor", undefined],
    ["1.2.3 kg", undefined],
    ["-1 kg", undefined],
    ["heavy", undefined],
    ["", undefined]
  ])("reads %j as %j grams", (text, expected) => {
    assert.strictEqual(parseGrams(text), expected)
  })

  it.each([
    ["250", 250],
    ["250,5", 251],
    ["250.0201143", 250],
    ["1,250", 1250],
    ["1.250", 1250],
    ["0.0", null],
    ["1 kg", 1000],
    ["many", undefined],
    ["-5", undefined]
  ])("reads %j as %j grams where the field is in grams", (text, expected) => {
    assert.strictEqual(parseGrams(text, "g"), expected)
  })

  it("finds no weight in a text of a million characters", () => {
    assert.isUndefined(parseGrams(`1${" ".repeat(500_000)}x`))
    assert.isUndefined(parseGrams(`${"1,".repeat(500_000)}x`))
  })
})
