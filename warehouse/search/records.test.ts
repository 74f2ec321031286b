import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { BrandedFood, brandedFoodId } from "@larder/schemas"
import { emptyFood } from "@larder/test/support/empty-food.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { aFolder, buildFoodFiles, type Food, makeFoodDatabase } from "@larder/test/support/warehouse/food-files.ts"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import { labelColumns } from "../branded-foods/nutrition.ts"
import { brandedFood } from "../tables/branded_food/data-set.ts"
import { buildFoods } from "./build/build.ts"
import { openFoods } from "./open.ts"
import { indexRecords, recordFiles } from "./records.ts"

const decodeRecord = Schema.decodeUnknownSync(BrandedFood, { onExcessProperty: "error" })
const nutrients = "(1003, '203', 'Protein', 'g'), (1008, '208', 'Energy \"kcal\"', 'kcal'), (1093, null, null, null)"

const openDatabase = Effect.fnUntraced(function* (foods: ReadonlyArray<Food>) {
  const folder = yield* aFolder
  const db = yield* makeFoodDatabase(folder, foods, { dataSet: brandedFood, nutrients })
  yield* buildFoods(db, join(folder, "foods"))
  return { db, foods: yield* openFoods(join(folder, "foods")) }
})

const emptyLabel = { ...emptyFood, description: "", fetched_at: "2026-10-01T13:04:36.000Z" }

const fullLabel = {
  description: 'GUM "X", tab\there, \\ back, null, İ 😀',
  short_description: "null",
  brand_owner: "TOOTSIE, Inc.",
  brand_name: "DUBBLE\u0001BUBBLE",
  subbrand_name: "sub",
  category: "Chewing Gum & Mints",
  gpc_class_code: 10000045,
  upc: "059642932491",
  package_weight: "12 oz/340 g",
  serving_size: 30,
  serving_size_unit: "GRM",
  serving_size_unit_normalized: "g",
  household_serving_text: "1 PIECE",
  preparation_state_code: "UNPREPARED",
  market_country: "United States",
  market_country_normalized: "US",
  trade_channels: ["CHILD_NUTRITION_FOOD_PROGRAMS", "GROCERY\t"],
  ingredients: "DEXTROSE, SALT.",
  attributes: [
    { name: "Nutrient Added", value: "8" },
    { name: null, value: null }
  ],
  caffeine_statement: "none",
  footnote: "a\nb",
  data_source: "LI",
  published_on: "2019-04-01",
  available_on: "2019-03-01",
  modified_on: "2018-02-28",
  discontinued_on: "2020-12-31"
}

describe("the record of a label version", () => {
  itLive("has every field in schema order, even for an empty label", () =>
    Effect.gen(function* () {
      const { foods } = yield* openDatabase([{ fdc_id: 7 }, { fdc_id: 3, is_current: false }])
      const record = foods.record(7) ?? ""
      assert.strictEqual(record, JSON.stringify({ id: brandedFoodId(7), fdc_id: 7, ...emptyLabel }))
      assert.deepStrictEqual(Object.keys(JSON.parse(record)), Object.keys(BrandedFood.fields))
      assert.strictEqual(JSON.parse(foods.record(3) ?? "").fdc_id, 3) // an older version
      assert.deepStrictEqual([2, 8, -7, 7.5, Number.NaN].map(foods.record), Array(5).fill(undefined))
    })
  )
  itLive("includes the label's values, named nutrients and nutrition per serving", () =>
    Effect.gen(function* () {
      const stated = [
        { nutrient_id: 1003, amount: 7.14 },
        { nutrient_id: 1008, amount: 333 },
        { nutrient_id: 1093, amount: null },
        { nutrient_id: 9999, amount: 0.000001 },
        { nutrient_id: 1003, amount: 10 },
        { nutrient_id: 1005, amount: 999_999_999_999.999 },
        { nutrient_id: 1004, amount: -0.5 }
      ]
      const { foods } = yield* openDatabase([{ ...fullLabel, fdc_id: 2147483647, nutrients: stated }])
      const json = foods.record(2147483647) ?? ""
      const record = JSON.parse(json)
      assert.strictEqual(json, JSON.stringify(record)) // numbers too, which DuckDB writes in another way
      decodeRecord(record)
      assert.deepStrictEqual(record, {
        ...emptyLabel,
        id: brandedFoodId(2147483647),
        fdc_id: 2147483647,
        ...fullLabel,
        nutrition: { calories: 99.9, fat: -0.15, carbohydrates: 300_000_000_000, protein: 2.14 },
        nutrients: [
          { nutrient_id: 1003, number: "203", name: "Protein", unit: "g", amount: 7.14 },
          { nutrient_id: 1008, number: "208", name: 'Energy "kcal"', unit: "kcal", amount: 333 },
          { nutrient_id: 1093, number: null, name: null, unit: null, amount: null },
          { nutrient_id: 9999, number: null, name: null, unit: null, amount: 0.000001 },
          { nutrient_id: 1003, number: "203", name: "Protein", unit: "g", amount: 10 },
          { nutrient_id: 1005, number: null, name: null, unit: null, amount: 999_999_999_999.999 },
          { nutrient_id: 1004, number: null, name: null, unit: null, amount: -0.5 }
        ]
      })
    })
  )
})

describe("records.tsv", () => {
  const indexLines = Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
    const folder = yield* aFolder
    writeFileSync(join(folder, recordFiles.lines), lines.map((line) => `${line}\trest\n`).join(""))
    return yield* Effect.flip(Effect.try({ try: () => indexRecords(folder, lines.length), catch: String }))
  })
  itLive("is rejected if a line does not start with an fdc_id", () =>
    Effect.gen(function* () {
      for (const id of ["-5", "", "1.5", "1e3", " 7", "x", "2147483648", "99999999999999999999"]) {
        const error = yield* indexLines(["3", id, "1"])
        assert.include(error, `records.tsv has "${id}" in line 2 where an fdc_id of 0 to 2147483647 should be`)
      }
    })
  )
  itLive("is rejected if two lines have the same fdc_id", () =>
    Effect.gen(function* () {
      assert.include(yield* indexLines(["3", "2147483647", "1", "3"]), "records.tsv has several lines for the fdc_id 3")
    })
  )
  for (const useThreads of [false, true]) {
    itLive(
      `fails the build without a manifest if it is rejected, ${useThreads ? "in worker threads" : "in the same thread"}`,
      () =>
        Effect.gen(function* () {
          const folder = yield* aFolder
          const db = yield* makeFoodDatabase(folder, [{ fdc_id: 1 }, { fdc_id: -5 }])
          const error = yield* Effect.flip(buildFoods(db, join(folder, "foods"), { useThreads }))
          assert.strictEqual(error._tag, "FoodFilesNotWritten")
          assert.include(error.message, 'while indexing them: records.tsv has "-5" in line')
          assert.isFalse(existsSync(join(folder, "foods", "manifest.json")))
        })
    )
  }
})

const decimal = (largest: number) =>
  fc.tuple(fc.nat(largest), fc.constantFrom(1, 10, 100, 1000, 1_000_000)).map(([n, scale]) => n / scale)
const ids = [
  1008, 2047, 2048, 1004, 1258, 1257, 1253, 1093, 1005, 1079, 2000, 1063, 1235, 1003, 1087, 1089, 1092, 1114, 1110
]
const label = fc.record({
  serving_size: fc.option(
    decimal(5000).filter((size) => size > 0),
    { freq: 8 }
  ),
  serving_size_unit: fc.constantFrom(null, "g", "MLT", "IU", "ONZ", "fl oz", "MGM", "GRN", "LTR", "EA"),
  nutrients: fc.option(
    fc.array(
      fc.record({
        nutrient_id: fc.constantFrom(...ids),
        amount: fc.option(fc.tuple(decimal(200_000), fc.constantFrom(1, 1, 1, -1, 0)).map(([n, sign]) => n * sign))
      }),
      { maxLength: 19 }
    ),
    { freq: 9 }
  ),
  ownNutrition: fc.option(
    fc.record(Object.fromEntries(labelColumns.map((key) => [key, decimal(2000)])), { requiredKeys: [] })
  )
})

describe("nutrition per serving", () => {
  itLive("is the same in a record as in the view", () =>
    Effect.gen(function* () {
      const labels = fc
        .sample(label, { numRuns: 1500, seed: 11 })
        .map(({ ownNutrition, ...stated }, i) => ({ ...stated, ...ownNutrition, fdc_id: i + 1 }))
      const { db, foods } = yield* openDatabase(labels)
      const rows = yield* db.rows("from branded_food.nutrition")
      assert.strictEqual(rows.length, labels.length)
      const expected = new Map(rows.map(({ fdc_id, ...amounts }) => [Number(fdc_id), amounts]))
      let comparedAmounts = 0
      for (const { fdc_id } of labels) {
        const view = Object.entries(expected.get(fdc_id) ?? {}).filter(([, amount]) => amount !== null)
        const { nutrition } = JSON.parse(foods.record(fdc_id) ?? "")
        comparedAmounts += view.length
        assert.deepStrictEqual(
          Object.keys(nutrition),
          view.map(([key]) => key)
        )
        for (const [key, amount] of view) {
          // Above 10^4 the view divides by a power of ten that no double represents exactly: its last digit may differ.
          const tolerated = Math.abs(Number(amount)) < 10_000 ? 0 : Math.abs(Number(amount)) * 1e-15
          assert.closeTo(nutrition[key], Number(amount), tolerated, `${key} of ${fdc_id}`)
        }
      }
      assert.isAbove(comparedAmounts, 2500)
    })
  )
})

describe("categories", () => {
  itLive("are listed in order with their counts of current labels", () =>
    Effect.gen(function* () {
      const food = (fdc_id: number, category: string | null, is_current = true) => ({ fdc_id, category, is_current })
      const folder = yield* buildFoodFiles([
        food(1, "b"),
        food(2, 'A "x"'),
        food(3, "b"),
        food(4, "c", false),
        food(5, null)
      ])
      const foods = yield* openFoods(folder)
      assert.strictEqual(
        foods.categories,
        '[{"category":"A \\"x\\"","product_count":1},{"category":"b","product_count":2}]'
      )
      assert.deepStrictEqual([foods.foods, foods.current], [5, 4])
    })
  )
})
