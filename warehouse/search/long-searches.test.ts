/** Searches that read a lot: their results are correct, and they do not block the event loop. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { buildFoodFiles } from "@larder/test/support/warehouse/food-files.ts"
import { Effect } from "effect"
import type { PieceFile } from "./files.ts"
import { openFiles, openFoods } from "./open.ts"
import { type FoodFilters, search } from "./search.ts"

const count = 2000
const words = Array.from({ length: 3000 }, (_, i) => `w${i}`)
const rotate = (by: number, separator: string) => [...words.slice(by), ...words.slice(0, by)].join(separator)

/** Apples have sugar, pears have salt. One label in twenty has thousands of words, none of which is rare. */
const labels = Array.from({ length: count }, (_, i) => ({
  fdc_id: i + 1,
  description: `${i % 2 === 0 ? "apple" : "pear"} ${i}`,
  brand_owner: "Acme",
  ingredients: i % 20 === 0 ? rotate(i, ", ") : `${i % 2 === 0 ? "sugar" : "salt"}, ${"water, ".repeat(200)}`
}))
const foodFiles = oncePerFile(buildFoodFiles(labels))
const disjointFilters = { name: "apple", ingredient: "salt" }

/** The number of pauses of a search, and its results. */
const searchAndCount = (folder: string, filters: FoodFilters) =>
  Effect.sync(() => {
    const opened: Array<PieceFile> = []
    const { columns, labels } = openFiles(folder, opened)
    const steps = search(labels, columns, filters, undefined, 51)
    for (let pauses = 0; ; pauses++) {
      const { done, value } = steps.next()
      if (done !== true) continue
      for (const file of opened) file.close()
      return { pauses, found: value.map((doc) => labels.ids[doc]) }
    }
  })

describe("a search that reads a lot", () => {
  itLive("pauses after every text, if two common filters never match together", () =>
    Effect.gen(function* () {
      const { found, pauses } = yield* searchAndCount(yield* foodFiles, disjointFilters)
      assert.deepStrictEqual(found, [])
      assert.isAtLeast(pauses, count / 2)
    })
  )
  itLive("finds a text of 3,000 words, and pauses between them", () =>
    Effect.gen(function* () {
      const folder = yield* foodFiles
      const { found, pauses } = yield* searchAndCount(folder, { ingredient: rotate(700, ", ").toUpperCase() })
      assert.deepStrictEqual(found, [701])
      assert.isAbove(pauses, 32)
      const common = yield* searchAndCount(folder, { ingredient: "water, ".repeat(3000) })
      assert.deepStrictEqual(common.found, [])
      assert.isAbove(common.pauses, 3000)
      const others: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
        [rotate(700, "; "), []], // its words, but with another separator
        [`${rotate(700, ", ")}, w`, []], // all of it, and more
        [rotate(700, ", ").slice(1, -1), [701]],
        ["water, ".repeat(199), labels.filter((_, i) => i % 20 !== 0).map(({ fdc_id }) => fdc_id)],
        ["w1, w2, ".repeat(3000), []],
        ["a ".repeat(8000), []]
      ]
      for (const [ingredient, expected] of others) {
        assert.deepStrictEqual((yield* searchAndCount(folder, { ingredient })).found, expected.slice(0, 51))
      }
    })
  )
  itLive("leaves the event loop to others, even if 32 searches run concurrently", () =>
    Effect.gen(function* () {
      const foods = yield* openFoods(yield* foodFiles)
      let iterations = 0
      let next = setImmediate(function countIteration() {
        iterations++
        next = setImmediate(countIteration)
      })
      const searches = Array.from({ length: 16 }, (_, i) => [
        foods.search(disjointFilters, undefined, 50),
        foods.search({ ingredient: rotate(i * 100, ", ") }, undefined, 50)
      ])
      const pages = yield* Effect.all(searches.flat(), { concurrency: "unbounded" })
      clearImmediate(next)
      for (let i = 0; i < 16; i++) {
        assert.deepStrictEqual(pages[2 * i]?.records, [])
        const found = pages[2 * i + 1]?.records.map((record) => JSON.parse(record).fdc_id)
        assert.deepStrictEqual(found, [i * 100 + 1])
      }
      assert.isAbove(iterations, 1)
    })
  )
})
