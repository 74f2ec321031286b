import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { buildFoodFiles, type Food } from "@larder/test/support/warehouse/food-files.ts"
import { Effect } from "effect"
import fc from "fast-check"
import { parseBarcode } from "./barcodes.ts"
import { type Foods, openFoods } from "./open.ts"
import type { FoodFilters } from "./search.ts"

interface Label extends Food {
  readonly description: string
  readonly brand_owner: string | null
  readonly brand_name: string | null
  readonly subbrand_name: string | null
  readonly category: string | null
  readonly upc: string | null
  readonly ingredients: string | null
}

const words =
  'SALT Sugar malt sug a b of % _ \\ * 100% Käse KÄSE İstanbul ΟΔΟΣ œuf 😀 O\'Neil "X" ß K 燕麦 […] \ufb01 0 é e\u0301'.split(
    " "
  )
const separators = [" ", ", ", " (", "). ", "-", "; ", "%", "_", "\\", "*", "'", '"', "\t", "\u001f", "\u0001", "  "]
const unusualText = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constantFrom(...words), fc.string({ unit: "grapheme", maxLength: 4 })),
      fc.constantFrom(...separators)
    ),
    { maxLength: 12 }
  )
  .map((pairs) =>
    pairs
      .flat()
      .join("")
      .replaceAll(/[\n\r]/g, " ")
      .replaceAll("\0", " ")
  )
const orNull = (texts: fc.Arbitrary<string>) => fc.option(texts, { freq: 5 })
const brands = fc.constantFrom("Acme", "ACME Foods", "Käserei", "Fo", "od", "Salt & Co", "a")
const upcs = fc.constantFrom(
  "04252614",
  "042100005264",
  "00042100005264",
  "12345670",
  "0",
  "00000000000000",
  "425261",
  "99999999999999"
)

const label = fc.record({
  description: unusualText,
  brand_owner: orNull(brands),
  brand_name: orNull(unusualText),
  subbrand_name: orNull(brands),
  category: orNull(fc.constantFrom("Candy", "CANDY", "Käse", "KÄSE", "Chewing Gum & Mints", "Rare")),
  upc: orNull(upcs),
  ingredients: orNull(unusualText),
  is_current: fc.boolean()
})
const makeLabels = (count: number): ReadonlyArray<Label> =>
  fc.sample(label, { numRuns: count, seed: 20261001 }).map((stated, i) => ({
    ...stated,
    fdc_id: 1000 + ((i * 7919) % 10007), // not in the order of the table
    gtin_14: stated.upc?.padStart(14, "0") ?? null
  }))

/** No label contains an unpaired surrogate. */
const contains = (field: string | null, text: string | undefined) =>
  !text || (text.isWellFormed() && (field?.toLowerCase().includes(text.toLowerCase()) ?? false))
const isBarcode = (upc: string | null, text: string | undefined) =>
  !text || parseBarcode(text).some((number) => upc !== null && parseBarcode(upc).includes(number))

/** What the search must find, determined by a check of every label. */
const scan = (labels: ReadonlyArray<Label>, filters: FoodFilters) =>
  labels
    .filter((food) => food.is_current)
    .filter((food) => contains(food.description, filters.name))
    .filter((food) =>
      [food.brand_owner, food.brand_name, food.subbrand_name].some((brand) => contains(brand, filters.brand))
    )
    .filter((food) => !filters.category || food.category?.toLowerCase() === filters.category.toLowerCase())
    .filter((food) => isBarcode(food.upc, filters.barcode))
    .filter((food) => contains(food.ingredients, filters.ingredient))
    .map((food) => food.fdc_id)
    .sort((a, b) => a - b)

const readPages = Effect.fnUntraced(function* (foods: Foods, filters: FoodFilters, limits: ReadonlyArray<number>) {
  const found: Array<number> = []
  let after: number | undefined
  for (let i = 0; ; i++) {
    const limit = limits[i % limits.length] ?? 1
    const page = yield* foods.search(filters, after, limit)
    found.push(...page.records.map((record) => Number(JSON.parse(record).fdc_id)))
    if (page.next === undefined) return found
    assert.strictEqual(page.records.length, limit)
    assert.strictEqual(page.next, found.at(-1))
    after = page.next
  }
})

/** Parts of the texts of labels, some in a different case, and texts that no label has. */
const filterText = (texts: ReadonlyArray<string>) =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .tuple(fc.constantFrom(...texts), fc.nat(40), fc.integer({ min: 1, max: 14 }), fc.nat(3))
        .map(([text, from, length, variant]) => {
          const part = text.slice(from % (text.length + 1), (from % (text.length + 1)) + length)
          return [part, part.toUpperCase(), part.toLowerCase(), `${part} `][variant] ?? part
        })
    },
    { weight: 2, arbitrary: unusualText.map((text) => text.slice(0, 6)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        "\n",
        "salt\n",
        "\r",
        "\ud83d",
        "\ude00",
        "%",
        "_",
        "\\",
        "*",
        "İ",
        "i̇",
        "i\u0307",
        "σ",
        "ς",
        "燕",
        "ß",
        "0%",
        "qqq"
      )
    }
  )

describe("the search of branded foods", () => {
  itLive("finds the same as a scan of all labels, page by page", () =>
    Effect.gen(function* () {
      const labels = makeLabels(700)
      const foods = yield* openFoods(yield* buildFoodFiles(labels))
      const texts = labels.flatMap(({ description, ingredients }) => [description, ingredients ?? ""])
      const names = labels.flatMap((food) => [food.brand_owner ?? "", food.brand_name ?? "", food.subbrand_name ?? ""])
      const orUndefined = (texts: fc.Arbitrary<string>) => fc.option(texts, { freq: 1, nil: undefined })
      const filters: fc.Arbitrary<FoodFilters> = fc.oneof(
        filterText(texts).map((name) => ({ name })),
        filterText(texts).map((ingredient) => ({ ingredient })),
        filterText(names).map((brand) => ({ brand })),
        fc.record({
          name: orUndefined(filterText(texts)),
          brand: orUndefined(filterText(names)),
          category: orUndefined(fc.constantFrom("candy", "käse", "Candy ", "rare", "%")),
          barcode: orUndefined(fc.oneof(upcs, fc.constantFrom("x", "000000000000000", "4252614 "))),
          ingredient: orUndefined(filterText(texts))
        })
      )
      const limits = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 200 })), {
        minLength: 1,
        maxLength: 3
      })
      const failed: Array<unknown> = []
      let hits = 0
      for (const [filter, pageSizes] of fc.sample(fc.tuple(filters, limits), { numRuns: 600, seed: 7 })) {
        const expected = scan(labels, filter)
        const minLimit = Math.ceil(expected.length / 20) // fewer pages: otherwise the long lists take most of the time
        const found = yield* readPages(
          foods,
          filter,
          pageSizes.map((limit) => Math.max(limit, minLimit))
        )
        if (expected.length > 0) hits++
        if (JSON.stringify(found) !== JSON.stringify(expected)) failed.push({ filter, pageSizes, found, expected })
      }
      assert.deepStrictEqual(failed.slice(0, 3), [])
      assert.isAbove(hits, 240) // otherwise too few filters match for the test to mean anything
    })
  )
})
