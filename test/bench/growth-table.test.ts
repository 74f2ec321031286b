import { assert, describe, it } from "@effect/vitest"
import { formatGrowth } from "./growth-table.ts"

describe("the table of growth", () => {
  it("has the cost of each step at each size, and the exponents of its growth: 1 for a linear step", () => {
    const table = formatGrowth(
      "Labels",
      [4_500, 45_000, 450_000],
      [
        { constant: 3, linear: 0.1234, squared: 1 },
        { constant: 3, linear: 1.234, squared: 100 },
        { constant: 3, linear: 12.34, squared: 10_000 }
      ]
    )
    assert.deepStrictEqual(table.split("\n"), [
      "| Labels | 4,500 | 45,000 | 450,000 | Exponent | Exponent |",
      "| --- | --- | --- | --- | --- | --- |",
      "| constant | 3 | 3 | 3 | 0.00 | 0.00 |",
      "| linear | 0.123 | 1.23 | 12.3 | 1.00 | 1.00 |",
      "| squared | 1 | 100 | 10,000 | 2.00 | 2.00 |"
    ])
  })
})
