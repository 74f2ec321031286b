import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { insertLabels, type LabelRow, labelsAlone, publishLabels } from "@larder/test/support/warehouse/label-rows.ts"
import { aLayout, ask } from "@larder/test/support/warehouse/pantry.ts"
import { Effect } from "effect"
import { openFoods } from "../foods/open.ts"
import { stage } from "../staging.ts"
import { brandedFood, foodTable } from "../tables.ts"
import { carriedFolder } from "./carried.ts"
import { completeFromLive } from "./complete.ts"
import { attachLive, currentFile, type Layout, requireCurrentFile } from "./layout.ts"

const publish = (layout: Layout, labels: ReadonlyArray<LabelRow>) => publishLabels(layout, labels, labelsAlone)

const later = { release_on: "date '2025-12-18'", run_id: "'second'" }
const earlier = { release_on: "date '2020-04-01'", run_id: "'second'" }

const label = (set: Readonly<Record<string, string>>) => [{ fdc_id: 7, set }]
const columns =
  "select brand_name, footnote, category, run_id, release_on::varchar as release_on from branded_food.food"

describe("merging by completing", () => {
  itWorks("takes what a later release states, nulls included, and keeps what its form cannot state", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publish(layout, label({ brand_name: "'Old'", footnote: "'kept'", category: "'Candy'" }))
      const { run } = yield* publish(layout, label({ brand_name: "'New'", form: "'csv'", ...later }))
      assert.deepStrictEqual([run.outcome, run.rows_loaded, run.rows_unchanged], ["published", 1, 0])
      assert.deepStrictEqual(yield* ask(layout, columns), [
        { brand_name: "New", footnote: "kept", category: null, run_id: "second", release_on: "2025-12-18" }
      ])
    })
  )
  itWorks("takes from an earlier release only what the form of the later one cannot state", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publish(layout, label({ brand_name: "'Now'", form: "'csv'" }))
      yield* publish(layout, label({ brand_name: "'Then'", category: "'Candy'", footnote: "'found'", ...earlier }))
      assert.deepStrictEqual(yield* ask(layout, columns), [
        { brand_name: "Now", footnote: "found", category: null, run_id: "second", release_on: "2024-04-18" }
      ])
    })
  )
  const stated =
    "select brand_name, category, len(nutrients)::integer as amounts, quality_flags, form from branded_food.food"
  const json = { brand_name: "'JSON'", nutrients: "[]", quality_flags: "['no_nutrients', 'gtin_check_digit']" }
  const csv = {
    brand_name: "'CSV'",
    category: "'Candy'",
    nutrients: "[{'nutrient_id': 1003, 'amount': 1, 'derivation_id': 70}]",
    quality_flags: "['gtin_check_digit']",
    form: "'csv'"
  }
  for (const [first, second] of [
    [json, csv],
    [csv, json]
  ] as const) {
    itWorks(`combines both forms of one release, with the ${first.brand_name} one first`, () =>
      Effect.gen(function* () {
        const layout = yield* aLayout
        yield* publish(layout, label(first))
        yield* publish(layout, label(second))
        assert.deepStrictEqual(yield* ask(layout, stated), [
          { brand_name: "JSON", category: "Candy", amounts: 1, quality_flags: ["gtin_check_digit"], form: "both" }
        ])
      })
    )
  }
  itWorks("finds nothing new in a release that states the same or less", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const lists = { trade_channels: "['GROCERY']", attributes: "[{'name': 'Nutrient Added', 'value': '5'}]" }
      yield* publish(layout, label({ brand_name: "'Now'", ...lists }))
      const { run } = yield* publish(
        layout,
        label({ brand_name: "'Now'", source_rows: "19", trade_channels: "['GROCERY']", ...later })
      )
      assert.deepStrictEqual([run.outcome, run.rows_loaded, run.rows_unchanged], ["unchanged", 0, 19])
      const [row] = yield* ask(layout, columns)
      assert.deepStrictEqual(row?.run_id, "first")
    })
  )
  itWorks("clears what a form no longer states when the same form of the same release is read again", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const wrong = { brand_name: "'Wrong'", footnote: "'Wrong'", category: "'Candy'", trade_channels: "['GROCERY']" }
      const amounts = "[{'nutrient_id': 1003, 'amount': 1, 'derivation_id': 70}]"
      yield* publish(layout, label({ ...wrong, nutrients: amounts, attributes: "[{'name': 'a', 'value': 'b'}]" }))
      yield* publish(
        layout,
        label({ category: "'Gum'", trade_channels: "[]", nutrients: "[]", quality_flags: "['no_nutrients']" })
      )
      assert.deepStrictEqual(
        yield* ask(
          layout,
          `select brand_name, footnote, category, len(trade_channels)::integer as channels, len(nutrients)::integer as amounts,
             len(attributes)::integer as remarks, quality_flags, form from branded_food.food`
        ),
        [
          {
            brand_name: null,
            footnote: null,
            category: "Gum",
            channels: 0,
            amounts: 0,
            remarks: 1, // no list at all: the files that were read have no remarks
            quality_flags: ["no_nutrients"],
            form: "json"
          }
        ]
      )
    })
  )
  itWorks("clears only what each form can state when forms of a release in both are read again", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const found = () =>
        ask(layout, "select brand_name, footnote, not_a_significant_source_of as other, form from branded_food.food")
      const csv = { form: "'csv'", brand_name: "'Acme'", not_a_significant_source_of: "'FIBER'" }
      yield* publish(layout, label({ footnote: "'Wrong'" }))
      yield* publish(layout, label(csv))
      assert.deepStrictEqual(yield* found(), [{ brand_name: "Acme", footnote: "Wrong", other: "FIBER", form: "both" }])
      yield* publish(layout, label({}))
      assert.deepStrictEqual(yield* found(), [{ brand_name: "Acme", footnote: null, other: "FIBER", form: "both" }])
      yield* publish(layout, label({ form: "'both'", not_a_significant_source_of: "'FIBER'" }))
      assert.deepStrictEqual(yield* found(), [{ brand_name: null, footnote: null, other: "FIBER", form: "both" }])
    })
  )
  itWorks("keeps what an older release of the other form stated when a later one is read again", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const found = () => ask(layout, "select brand_name, not_a_significant_source_of as other from branded_food.food")
      yield* publish(layout, label({ form: "'csv'", not_a_significant_source_of: "'FIBER'", ...earlier }))
      yield* publish(layout, label({ brand_name: "'Wrong'" }))
      yield* publish(layout, label({ brand_name: "'Acme'" }))
      assert.deepStrictEqual(yield* found(), [{ brand_name: "Acme", other: "FIBER" }])
    })
  )
  itWorks("keeps a label of which only the name is read again", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publish(layout, label({ form: "'csv'", brand_name: "'Acme'" }))
      yield* publish(layout, label({ form: "'csv'", description: "'GUM'", quality_flags: "['label_row_missing']" }))
      assert.deepStrictEqual(
        yield* ask(layout, "select description, brand_name, quality_flags from branded_food.food"),
        [{ description: "GUM", brand_name: "Acme", quality_flags: [] }]
      )
    })
  )
  itWorks("completes 20 labels in ranges of 7", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publish(layout, [{ fdc_id: 1, up_to: 20 }])
      const { merge } = foodTable
      if (merge.by !== "completing") return assert.fail("labels are completed")
      const { filled } = yield* stage(layout, "run", brandedFood, (staging) =>
        Effect.gen(function* () {
          yield* insertLabels(staging, [
            { fdc_id: 1, up_to: 19, set: later },
            { fdc_id: 20, set: { ...later, footnote: "'x'" } }
          ])
          yield* attachLive(staging.db, yield* requireCurrentFile(layout))
          yield* completeFromLive(staging.db, "branded_food.food", Object.keys(foodTable.record.fields), merge, 7)
          return yield* staging.db.rows("select fdc_id, footnote from branded_food.food")
        })
      )
      assert.deepStrictEqual(filled, [{ fdc_id: 20, footnote: "x" }])
    })
  )
})

describe("derived tables", () => {
  itWorks("are updated by every publication: the versions of products and the categories", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const gum = { gtin_14: "'00000000000017'", category: "'Gum'" }
      yield* publish(layout, [{ fdc_id: 1, set: gum }])
      yield* publish(layout, [{ fdc_id: 2, set: { ...gum, category: "'Candy'", published_on: "date '2025-01-01'" } }])
      assert.deepStrictEqual(
        yield* ask(
          layout,
          "select fdc_id, version, versions, is_current, replaced_by from branded_food.version order by all"
        ),
        [
          { fdc_id: 1, version: 1, versions: 2, is_current: false, replaced_by: 2 },
          { fdc_id: 2, version: 2, versions: 2, is_current: true, replaced_by: null }
        ]
      )
      assert.deepStrictEqual(yield* ask(layout, "from branded_food.category"), [
        { category: "Candy", product_count: 1 }
      ])
    })
  )
  itWorks("choose the current label by publication, then availability, modification and fdc_id", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const of = (gtin: string, more: Readonly<Record<string, string>>) => ({ gtin_14: `'${gtin}'`, ...more })
      const day = (text: string) => `date '${text}'`
      yield* publish(layout, [
        { fdc_id: 12, set: of("a", { published_on: day("2024-01-01") }) },
        { fdc_id: 11, set: of("a", { published_on: day("2024-01-02") }) },
        { fdc_id: 22, set: of("b", { available_on: day("2024-01-01") }) },
        { fdc_id: 21, set: of("b", { available_on: day("2024-01-02") }) },
        { fdc_id: 32, set: of("c", { modified_on: day("2024-01-01") }) },
        { fdc_id: 31, set: of("c", { modified_on: day("2024-01-02") }) },
        { fdc_id: 41, set: of("d", {}) },
        { fdc_id: 42, set: of("d", {}) },
        { fdc_id: 43, set: of("d", { data_source: "'GDSN'" }) },
        { fdc_id: 51, set: of("e", { published_on: "null" }) },
        { fdc_id: 52, set: { gtin_14: "null" } },
        { fdc_id: 53, set: { gtin_14: "null" } }
      ])
      const current = yield* ask(layout, "select fdc_id from branded_food.current_food order by fdc_id")
      assert.deepStrictEqual(
        current.map(({ fdc_id }) => fdc_id),
        [11, 21, 31, 42, 43, 51, 52, 53]
      )
    })
  )
  itWorks("keep a label without a publication day current, although it names an earlier version", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const named = "[{'fdc_id': 5, 'published_on': date '2019-04-01'}]"
      yield* publish(layout, [{ fdc_id: 7, set: { published_on: "null", earlier_versions: named } }])
      assert.deepStrictEqual(
        yield* ask(layout, "select fdc_id, is_current from branded_food.version order by version"),
        [
          { fdc_id: 5, is_current: false },
          { fdc_id: 7, is_current: true }
        ]
      )
    })
  )
  itWorks("keep labels without a barcode current, and add the versions that one of them names", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const named =
        "[{'fdc_id': 5, 'published_on': date '2019-04-01'}, {'fdc_id': 4, 'published_on': date '2018-04-01'}]"
      yield* publish(layout, [
        { fdc_id: 7, set: { gtin_14: "null", earlier_versions: named } },
        { fdc_id: 8, set: { gtin_14: "null", earlier_versions: "[{'fdc_id': 7, 'published_on': null}]" } },
        { fdc_id: 9, set: { gtin_14: "null" } }
      ])
      assert.deepStrictEqual(
        yield* ask(
          layout,
          "select fdc_id, version, versions, is_current, is_loaded, replaced_by from branded_food.version order by fdc_id"
        ),
        [
          { fdc_id: 4, version: 1, versions: 3, is_current: false, is_loaded: false, replaced_by: 5 },
          { fdc_id: 5, version: 2, versions: 3, is_current: false, is_loaded: false, replaced_by: 7 },
          { fdc_id: 7, version: 3, versions: 3, is_current: true, is_loaded: true, replaced_by: null },
          { fdc_id: 8, version: 1, versions: 1, is_current: true, is_loaded: true, replaced_by: null },
          { fdc_id: 9, version: 1, versions: 1, is_current: true, is_loaded: true, replaced_by: null }
        ]
      )
    })
  )
  itWorks("count spellings as one category exactly when the search does", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const spellings = ["İÇECEK", "i̇çecek", "IÇECEK", "ΟΔΟΣ", "οδος", "ΟΔΟΣ Α", "Οδοσ α", "KÄSE", "Käse"]
      yield* publishLabels(
        layout,
        spellings.map((category, index) => ({ fdc_id: index + 1, set: { category: `'${category}'` } }))
      )
      const counts = yield* ask(layout, "from branded_food.category")
      const file = yield* Effect.flatMap(currentFile(layout), Effect.fromOption)
      const foods = yield* openFoods(carriedFolder(file, "foods"))
      const found: Array<Readonly<Record<string, unknown>>> = []
      for (const { category } of counts) {
        const { records } = yield* foods.search({ category: String(category) }, undefined, 9)
        found.push({ category, product_count: records.length })
      }
      assert.deepStrictEqual(counts, found)
      assert.strictEqual(counts.length, 5)
    })
  )
  itWorks("count categories that differ only in case as one, in the most frequent spelling", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publish(layout, [
        { fdc_id: 1, set: { category: "'CANDY'" } },
        { fdc_id: 2, up_to: 3, set: { category: "'Candy'" } }
      ])
      assert.deepStrictEqual(yield* ask(layout, "from branded_food.category"), [
        { category: "Candy", product_count: 3 }
      ])
    })
  )
  itWorks("include versions that a later label only names, and never make one current", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const named =
        "[{'fdc_id': 5, 'published_on': date '2019-04-01'}, {'fdc_id': 6, 'published_on': date '2031-01-01'}]"
      yield* publish(layout, [{ fdc_id: 7, set: { earlier_versions: named } }])
      assert.deepStrictEqual(
        yield* ask(
          layout,
          "select fdc_id, is_current, is_loaded, published_on::varchar as published_on, replaced_by from branded_food.version order by version"
        ),
        [
          { fdc_id: 5, is_current: false, is_loaded: false, published_on: "2019-04-01", replaced_by: 6 },
          { fdc_id: 6, is_current: false, is_loaded: false, published_on: "2024-04-18", replaced_by: 7 },
          { fdc_id: 7, is_current: true, is_loaded: true, published_on: "2024-04-18", replaced_by: null }
        ]
      )
    })
  )
})
