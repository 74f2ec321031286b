import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect } from "effect"
import { DuckDb, literal } from "../duckdb.ts"
import { brandedFood } from "../tables/branded_food/data-set.ts"
import { define } from "../tables/dictionary.ts"
import { computeServingAmount, servingUnits } from "./serving-units.ts"

describe("the amount of a serving in g or ml", () => {
  it.each([
    [1, "ONZ", 28.349523],
    [16, "oz", 453.59237],
    [8, "OZA", 236.588237],
    [1, "LBR", 453.59237],
    [0.1, "KGM", 100],
    [2, "CLT", 20],
    [0.24, "LTR", 240],
    [500, "MGM", 0.5],
    [0.0005, "MGM", 0.000001],
    [12, "fl oz", 354.882355],
    [1, "PTI", 568.26125],
    [30, "grams", 30],
    [42, "MG", 42],
    [42, "IU", 42],
    [42, "mc", 42],
    [30, "GRM", 30],
    [240, "ml", 240],
    [50, null, 50],
    [1, "EA", undefined],
    [1, "cup", undefined],
    [1, "ﬂ oz", undefined],
    [1, "", undefined],
    [999_999_999_999, "LTR", undefined],
    [0.000499, "MGM", undefined]
  ])("%d %s are %d", (size, unit, expected) => {
    assert.strictEqual(computeServingAmount(size, unit), expected)
  })

  itLive("is the same in the warehouse, for every unit", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* define(db, brandedFood)
      const units = [...servingUnits.map(({ code }) => code), "Fl Oz", "EA", "cup", "", "ﬂ oz", null]
      const cases = units.flatMap((unit) =>
        [0.000001, 0.5, 1, 7.333333, 28.3495, 5000, 100_000].map((size) => ({ size, unit }))
      )
      const values = cases.map(
        ({ size, unit }) => `(${size}::decimal(18, 6), ${unit === null ? "null" : literal(unit)})`
      )
      const rows = yield* db.rows(
        `select branded_food.serving_amount(size, unit)::double as amount from (values ${values.join(", ")}) as serving(size, unit)`
      )
      assert.deepStrictEqual(
        rows.map(({ amount }, i) => ({ ...cases[i], amount })),
        cases.map(({ size, unit }) => ({ size, unit, amount: computeServingAmount(size, unit) ?? null }))
      )
    })
  )
})

describe("the factors of units", () => {
  const tenTrillionths = (code: string) => {
    const [whole = "", fraction = ""] = servingUnits.find((unit) => unit.code === code)?.factor.split(".") ?? []
    return BigInt(whole + fraction.padEnd(13, "0"))
  }
  it.each([
    ["GLL", 231n, "INQ"],
    ["GLL", 4n, "QTL"],
    ["GLL", 8n, "PTL"],
    ["GLL", 16n, "G21"],
    ["GLL", 32n, "GIA"],
    ["GLL", 128n, "OZA"],
    ["OZA", 2n, "G24"],
    ["OZA", 6n, "G25"],
    ["GLI", 4n, "QTI"],
    ["GLI", 8n, "PTI"],
    ["GLI", 160n, "OZI"],
    ["BUA", 64n, "PTD"],
    ["LBR", 16n, "ONZ"],
    ["LBR", 7000n, "GRN"],
    ["LTN", 2240n, "LBR"]
  ])("are exact: one %s is %d %s", (code, count, part) => {
    assert.strictEqual(tenTrillionths(code), count * tenTrillionths(part))
  })
  it("fit into the macro's decimals, and no unit occurs twice", () => {
    for (const { code, factor, kind } of servingUnits) {
      assert.match(factor, /^\d{1,7}(\.\d{0,12}[1-9])?$/, code)
      assert.include(["mass", "volume", "miscoded"], kind)
      assert.strictEqual(code, code.toUpperCase())
    }
    assert.strictEqual(new Set(servingUnits.map(({ code }) => code)).size, servingUnits.length)
  })
})
