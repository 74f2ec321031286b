import { assert, describe, it } from "@effect/vitest"
import { type Decimal, perServing, plainText, scientific, shortText, threeDigits } from "./decimals.ts"

const decimal = (digits: number, scale: number): Decimal => ({ digits, scale })

describe("decimals of the generator: spellings of the source", () => {
  it.each([
    [decimal(0, 3), "0.000", "0.0", "0"],
    [decimal(833, 1), "83.3", "83.3", "83.3"],
    [decimal(710, 2), "7.10", "7.1", "7.1"],
    [decimal(400, -2), "4.00E+4", "40000.0", "40000"],
    [decimal(333, 0), "333", "333.0", "333"],
    [decimal(6, 0), "6", "6.0", "6"],
    [decimal(213, 5), "0.00213", "0.00213", "0.00213"],
    [decimal(25, 8), "2.5E-7", "0.00000025", "0.00000025"]
  ])("%j is %s, %s in the CSV and %s as a serving size", (value, java, csv, short) => {
    assert.deepStrictEqual([scientific(value), plainText(value), shortText(value)], [java, csv, short])
  })
})

describe("decimals of the generator: three significant digits, half to even", () => {
  it.each([
    [decimal(1125, 3), "1.12"],
    [decimal(1135, 3), "1.14"],
    [decimal(9995, 1), "1.00E+3"],
    [decimal(49998, 4), "5.00"],
    [decimal(2, 0), "2.00"],
    [decimal(0, 9), "0.000"]
  ])("%j becomes %s", (value, expected) => {
    assert.strictEqual(scientific(threeDigits(value)), expected)
  })
  it("gives the label values of amounts per 100", () => {
    assert.strictEqual(scientific(perServing(decimal(833, 1), decimal(6, 0))), "5.00")
    assert.strictEqual(scientific(perServing(decimal(670, 1), decimal(15, 0))), "10.0")
    assert.strictEqual(scientific(perServing(decimal(333, 0), decimal(6, 0))), "20.0")
  })
  it("makes micrograms of vitamin D from international units in one step", () => {
    assert.strictEqual(scientific(perServing(decimal(333, 0), decimal(30, 0), 40)), "2.50")
    assert.strictEqual(scientific(perServing(decimal(42, 0), decimal(2385, 1), 40)), "2.50")
  })
  it("rounds as big integers do", () => {
    for (let digits = 1; digits < 400_000; digits += 997)
      for (const serving of [6, 15, 28, 567, 2405]) {
        const exact = BigInt(digits) * BigInt(serving)
        const unit = 10n ** BigInt(Math.max(0, `${exact}`.length - 3))
        const twice = (exact % unit) * 2n
        const down = exact / unit
        const rounded = twice > unit || (twice === unit && down % 2n === 1n) ? down + 1n : down
        const { digits: ours, scale } = perServing(decimal(digits, 2), decimal(serving, 1))
        const shift = BigInt(Math.max(0, 5 - scale))
        assert.strictEqual(BigInt(ours) * 10n ** shift, rounded * unit * 10n ** BigInt(Math.max(0, scale - 5)))
      }
  })
})
