import { appendFileSync, cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aFolder, buildFoodFiles } from "@larder/test/support/warehouse/food-files.ts"
import { Effect } from "effect"
import { openFoods } from "./open.ts"

const makeLabels = (word: string) =>
  Array.from({ length: 300 }, (_, i) => ({
    fdc_id: i + 1,
    description: `${word} ${i % 70}`,
    brand_owner: `brand ${i % 60}`,
    ingredients: `salt, ${word} ${i}`
  }))

const names = [
  "brands.index",
  "brands.postings",
  "brands.texts",
  "ingredients.index",
  "ingredients.postings",
  "ingredients.texts",
  "labels.index",
  "manifest.json",
  "names.index",
  "names.postings",
  "names.texts",
  "records.index",
  "records.tsv"
]

/** Changes each file in turn: opening must fail. */
const requireRejection = Effect.fnUntraced(function* (folder: string, change: (file: string) => void) {
  const copy = join(yield* aFolder, "copy")
  for (const name of names) {
    cpSync(folder, copy, { recursive: true })
    change(join(copy, name))
    const error = yield* Effect.flip(Effect.scoped(openFoods(copy)))
    assert.strictEqual(error._tag, "FoodFilesDamaged")
    assert.include(error.message, name)
    rmSync(copy, { recursive: true })
  }
})

describe("the files of branded foods", () => {
  itLive("are exactly these 13, without temporary files", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(readdirSync(yield* buildFoodFiles(makeLabels("gum"))).sort(), names)
    })
  )
  itLive("are rejected if one is missing, truncated, longer, changed or from another build", () =>
    Effect.gen(function* () {
      const folder = yield* buildFoodFiles(makeLabels("gum"))
      const other = yield* buildFoodFiles(makeLabels("nut"))
      yield* Effect.scoped(openFoods(folder))
      yield* requireRejection(folder, (file) => rmSync(file))
      yield* requireRejection(folder, (file) => truncateSync(file, 0))
      yield* requireRejection(folder, (file) => truncateSync(file, readFileSync(file).length - 1))
      yield* requireRejection(folder, (file) => appendFileSync(file, "x"))
      yield* requireRejection(folder, (file) => {
        const bytes = readFileSync(file)
        const middle = bytes.length >> 1
        bytes[middle] = (bytes[middle] ?? 0) ^ 1
        writeFileSync(file, bytes)
      })
      const copy = join(yield* aFolder, "copy")
      for (const name of ["ingredients.index", "records.tsv", "names.texts", "manifest.json"]) {
        cpSync(folder, copy, { recursive: true })
        cpSync(join(other, name), join(copy, name))
        assert.strictEqual((yield* Effect.flip(Effect.scoped(openFoods(copy))))._tag, "FoodFilesDamaged", name)
        rmSync(copy, { recursive: true })
      }
    })
  )
  itLive("give no results for a warehouse without foods", () =>
    Effect.gen(function* () {
      const foods = yield* openFoods(yield* buildFoodFiles([]))
      assert.deepStrictEqual([foods.foods, foods.current, foods.categories, foods.record(1)], [0, 0, "[]", undefined])
      for (const filters of [
        {},
        { name: "a" },
        { brand: "a b" },
        { ingredient: ", " },
        { barcode: "1" },
        { category: "a" }
      ]) {
        assert.deepStrictEqual(yield* foods.search(filters, undefined, 50), { records: [], next: undefined })
      }
    })
  )
})
