import { assert, describe } from "@effect/vitest"
import type { RunRecord } from "@larder/schemas"
import { itLive } from "@larder/test/support/it-live.ts"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { aLayout, aRun, queryWarehouse } from "@larder/test/support/warehouse/example-data-set.ts"
import {
  insertLabels,
  type LabelRow,
  labelsWithoutFiles,
  publishLabels
} from "@larder/test/support/warehouse/label-rows.ts"
import { Effect, Option } from "effect"
import { DuckDb } from "../duckdb.ts"
import { newestManifest } from "../generation/manifest.ts"
import { openServedFoods } from "../live/served-foods.ts"
import { foodTable } from "../tables/branded_food/data-set.ts"
import { attachLiveData, showLive } from "./live-data-set.ts"
import { completeFromLive } from "./merge.ts"
import { stage } from "./staging.ts"

/** Labels of each publication. Each test of this file has its own labels; all share four publications. */
const staged: Array<Array<LabelRow>> = []
const stageIn = (publication: number, ...labels: ReadonlyArray<LabelRow>) => {
  staged[publication] = [...(staged[publication] ?? []), ...labels]
}
const published = oncePerFile(
  Effect.gen(function* () {
    const layout = yield* aLayout
    const runs: Array<RunRecord> = []
    for (const labels of staged) runs.push((yield* publishLabels(layout, labels, labelsWithoutFiles)).run)
    return { layout, runs }
  })
)
const queryPublished = (sql: string) => Effect.flatMap(published, ({ layout }) => queryWarehouse(layout, sql))

let lastId = 1000
/** Stages a label with these values in each publication. Returns a query for columns of the result. */
const stageLabel = (...states: ReadonlyArray<Readonly<Record<string, string>>>) => {
  const fdc_id = ++lastId
  states.forEach((set, publication) => {
    stageIn(publication, { fdc_id, set })
  })
  return (columns: string) => queryPublished(`select ${columns} from branded_food.food where fdc_id = ${fdc_id}`)
}

const laterRelease = { release_on: "date '2025-12-18'", run_id: "'second'" }
const earlierRelease = { release_on: "date '2020-04-01'", run_id: "'second'" }
const columns = "brand_name, footnote, category, run_id, release_on::varchar as release_on"

describe("merging: a row is completed from the live row of its key", () => {
  const restated = stageLabel(
    { brand_name: "'Old'", footnote: "'kept'", category: "'Candy'" },
    { brand_name: "'New'", form: "'csv'", ...laterRelease }
  )
  itLive("uses the values of a later release, including nulls, and keeps values that its form cannot have", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* restated(columns), [
        { brand_name: "New", footnote: "kept", category: null, run_id: "second", release_on: "2025-12-18" }
      ])
    })
  )
  const stated = stageLabel(
    { brand_name: "'Now'", form: "'csv'" },
    { brand_name: "'Then'", category: "'Candy'", footnote: "'found'", ...earlierRelease }
  )
  itLive("uses values of an earlier release only if the form of the later one cannot have them", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* stated(columns), [
        { brand_name: "Now", footnote: "found", category: null, run_id: "second", release_on: "2024-04-18" }
      ])
    })
  )
  const ownAmounts = "label_calories, label_fat, label_sodium, label_vitamin_d"
  const amounts = (calories: string | null, fat: string | null, sodium: string | null) => [
    { label_calories: calories, label_fat: fat, label_sodium: sodium, label_vitamin_d: null }
  ]
  const unknownDay = { brand_name: "'New'", release_on: "null::date", run_id: "'second'" }
  const mixed = stageLabel(
    { label_calories: "110", label_fat: "5" },
    { label_calories: "90", label_sodium: "7", ...unknownDay }
  )
  const added = stageLabel({ category: "'Candy'" }, { label_fat: "3", ...unknownDay })
  const replaced = stageLabel({ label_calories: "110", label_fat: "5" }, { label_sodium: "7", ...laterRelease })
  const cleared = stageLabel({ label_calories: "110" }, laterRelease)
  const unchanged = stageLabel({ label_calories: "110" }, { brand_name: "'New'", form: "'csv'", ...laterRelease })
  itLive("uses all of the label's own amounts from one release, even if it is unknown which is later", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* mixed(ownAmounts), amounts("110.000000", "5.000000", null))
      assert.deepStrictEqual(yield* added(ownAmounts), amounts(null, "3.000000", null))
      assert.deepStrictEqual(yield* replaced(ownAmounts), amounts(null, null, "7.000000"))
      assert.deepStrictEqual(yield* cleared(ownAmounts), amounts(null, null, null))
      assert.deepStrictEqual(yield* unchanged(ownAmounts), amounts("110.000000", null, null))
    })
  )
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
    const combined = stageLabel(first, second)
    itLive(`combines both forms of one release, with the ${first.brand_name} one first`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* combined("brand_name, category, len(nutrients)::integer as amounts, quality_flags, form"),
          [{ brand_name: "JSON", category: "Candy", amounts: 1, quality_flags: ["gtin_check_digit"], form: "both" }]
        )
      })
    )
  }
  const lists = { trade_channels: "['GROCERY']", attributes: "[{'name': 'Nutrient Added', 'value': '5'}]" }
  const repeated = stageLabel(
    { brand_name: "'Now'", ...lists },
    { brand_name: "'Now'", source_rows: "19", trade_channels: "['GROCERY']", ...laterRelease }
  )
  itLive("finds nothing new in a release with the same or fewer values, and counts its rows as unchanged", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* repeated("run_id"), [{ run_id: "first" }])
      const { runs } = yield* published
      assert.deepStrictEqual(
        runs.map(({ rows_unchanged }) => rows_unchanged),
        [0, 19, 0, 0] // no other label of the second run states the same as before
      )
      assert.strictEqual(runs[1]?.rows_loaded, (staged[1] ?? []).length - 1)
    })
  )
  const wrong = { brand_name: "'Wrong'", footnote: "'Wrong'", category: "'Candy'", trade_channels: "['GROCERY']" }
  const corrected = stageLabel(
    {
      ...wrong,
      nutrients: "[{'nutrient_id': 1003, 'amount': 1, 'derivation_id': 70}]",
      attributes: "[{'name': 'a', 'value': 'b'}]"
    },
    { category: "'Gum'", trade_channels: "[]", nutrients: "[]", quality_flags: "['no_nutrients']" }
  )
  itLive("clears removed values when the same form of the same release is read again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* corrected(
          `brand_name, footnote, category, len(trade_channels)::integer as channels, len(nutrients)::integer as amounts,
           len(attributes)::integer as remarks, quality_flags, form`
        ),
        [
          {
            brand_name: null,
            footnote: null,
            category: "Gum",
            channels: 0,
            amounts: 0,
            remarks: 1, // kept: a null list means that the files have no remarks
            quality_flags: ["no_nutrients"],
            form: "json"
          }
        ]
      )
    })
  )
  const acme = { brand_name: "'Acme'", not_a_significant_source_of: "'FIBER'" }
  const forms = [{ footnote: "'Wrong'" }, { form: "'csv'", ...acme }, {}]
  const twoForms = stageLabel(...forms.slice(0, 2))
  const jsonAgain = stageLabel(...forms)
  const bothAgain = stageLabel(...forms, { form: "'both'", not_a_significant_source_of: "'FIBER'" })
  itLive("clears only values that a form can have when both forms of a release are read again", () =>
    Effect.gen(function* () {
      const columnsOfForms = "brand_name, footnote, not_a_significant_source_of as other, form"
      const fiber = { other: "FIBER", form: "both" }
      assert.deepStrictEqual(yield* twoForms(columnsOfForms), [{ brand_name: "Acme", footnote: "Wrong", ...fiber }])
      assert.deepStrictEqual(yield* jsonAgain(columnsOfForms), [{ brand_name: "Acme", footnote: null, ...fiber }])
      assert.deepStrictEqual(yield* bothAgain(columnsOfForms), [{ brand_name: null, footnote: null, ...fiber }])
    })
  )
  const older = stageLabel(
    { form: "'csv'", not_a_significant_source_of: "'FIBER'", ...earlierRelease },
    { brand_name: "'Wrong'" },
    { brand_name: "'Acme'" }
  )
  itLive("keeps values of an older release in the other form when a later release is read again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* older("brand_name, not_a_significant_source_of as other"), [
        { brand_name: "Acme", other: "FIBER" }
      ])
    })
  )
  const named = stageLabel(
    { form: "'csv'", brand_name: "'Acme'" },
    { form: "'csv'", description: "'GUM'", quality_flags: "['label_row_missing']" }
  )
  itLive("keeps the other values of a label if only its name is read again", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* named("description, brand_name, quality_flags"), [
        { description: "GUM", brand_name: "Acme", quality_flags: [] }
      ])
    })
  )
  stageIn(0, { fdc_id: 1, up_to: 20 })
  itLive("completes 20 labels in ranges of 7", () =>
    Effect.gen(function* () {
      const { layout } = yield* published
      const { merge } = foodTable
      if (merge.by !== "complete") return assert.fail("labels are completed")
      const { filled } = yield* stage(layout, aRun({ run_id: "run" }), labelsWithoutFiles, (staging) =>
        Effect.gen(function* () {
          yield* insertLabels(staging, [
            { fdc_id: 1, up_to: 19, set: laterRelease },
            { fdc_id: 20, set: { ...laterRelease, footnote: "'x'" } }
          ])
          yield* attachLiveData(staging.db, layout.dataSetFile("branded-foods"))
          yield* showLive(staging.db, layout, labelsWithoutFiles)
          yield* completeFromLive(staging.db, "branded_food.food", Object.keys(foodTable.record.fields), merge, 7)
          return yield* staging.db.rows("select fdc_id, footnote from branded_food.food")
        })
      )
      assert.deepStrictEqual(filled, [{ fdc_id: 20, footnote: "x" }])
    })
  )
})

describe("derived tables", () => {
  const tea = { gtin_14: "'tea'", category: "'Tea'" }
  stageIn(0, { fdc_id: 101, set: tea })
  stageIn(1, { fdc_id: 102, set: { ...tea, category: "'Herbal Tea'", published_on: "date '2025-01-01'" } })
  itLive("are updated by every publication: the versions of products and the categories", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* queryPublished(
          `select fdc_id, version, version_count, is_current, replaced_by from branded_food.version where gtin_14 = 'tea'
           order by all`
        ),
        [
          { fdc_id: 101, version: 1, version_count: 2, is_current: false, replaced_by: 102 },
          { fdc_id: 102, version: 2, version_count: 2, is_current: true, replaced_by: null }
        ]
      )
      assert.deepStrictEqual(yield* queryPublished("from branded_food.category where category ilike '%tea'"), [
        { category: "Herbal Tea", product_count: 1 }
      ])
    })
  )
  const withGtin = (gtin: string, more: Readonly<Record<string, string>>) => ({ gtin_14: `'${gtin}'`, ...more })
  const day = (text: string) => `date '${text}'`
  stageIn(
    0,
    { fdc_id: 212, set: withGtin("a", { published_on: day("2024-01-01") }) },
    { fdc_id: 211, set: withGtin("a", { published_on: day("2024-01-02") }) },
    { fdc_id: 222, set: withGtin("b", { available_on: day("2024-01-01") }) },
    { fdc_id: 221, set: withGtin("b", { available_on: day("2024-01-02") }) },
    { fdc_id: 232, set: withGtin("c", { modified_on: day("2024-01-01") }) },
    { fdc_id: 231, set: withGtin("c", { modified_on: day("2024-01-02") }) },
    { fdc_id: 241, set: withGtin("d", {}) },
    { fdc_id: 242, set: withGtin("d", {}) },
    { fdc_id: 243, set: withGtin("d", { data_source: "'GDSN'" }) },
    { fdc_id: 251, set: withGtin("e", { published_on: "null" }) },
    { fdc_id: 252, set: { gtin_14: "null" } },
    { fdc_id: 253, set: { gtin_14: "null" } }
  )
  itLive("choose the current label by publication, then availability, modification and fdc_id", () =>
    Effect.gen(function* () {
      const current = yield* queryPublished(
        "select fdc_id from branded_food.current_food where fdc_id between 200 and 299 order by fdc_id"
      )
      assert.deepStrictEqual(
        current.map(({ fdc_id }) => fdc_id),
        [211, 221, 231, 242, 243, 251, 252, 253, 261, 262, 263]
      )
    })
  )
  itLive("choose one current label of each barcode over all data sources, in the same order", () =>
    Effect.gen(function* () {
      const items = yield* queryPublished(
        "select fdc_id from branded_food.trade_item where fdc_id between 200 and 299 order by fdc_id"
      )
      assert.deepStrictEqual(
        items.map(({ fdc_id }) => fdc_id),
        [211, 221, 231, 243, 251, 261, 262, 263]
      )
    })
  )
  stageIn(
    0,
    { fdc_id: 261, set: withGtin("f", { discontinued_on: day("2024-01-01") }) },
    { fdc_id: 262, set: withGtin("g", { quality_flags: "['discontinued_unreadable']" }) },
    { fdc_id: 263, set: withGtin("h", {}) }
  )
  itLive("tell which products are discontinued, and of which this could not be read", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* queryPublished(
          "select fdc_id, is_discontinued from branded_food.trade_item where fdc_id in (261, 262, 263) order by fdc_id"
        ),
        [
          { fdc_id: 261, is_discontinued: true },
          { fdc_id: 262, is_discontinued: null },
          { fdc_id: 263, is_discontinued: false }
        ]
      )
    })
  )
  const undated = "[{'fdc_id': 305, 'published_on': date '2019-04-01'}]"
  stageIn(0, { fdc_id: 307, set: { published_on: "null", earlier_versions: undated } })
  itLive("keep a label without a publication day current, although it names an earlier version", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* queryPublished(
          "select fdc_id, is_current from branded_food.version where fdc_id between 300 and 399 order by version"
        ),
        [
          { fdc_id: 305, is_current: false },
          { fdc_id: 307, is_current: true }
        ]
      )
    })
  )
  const twoVersions =
    "[{'fdc_id': 405, 'published_on': date '2019-04-01'}, {'fdc_id': 404, 'published_on': date '2018-04-01'}]"
  stageIn(
    0,
    { fdc_id: 407, set: { gtin_14: "null", earlier_versions: twoVersions } },
    { fdc_id: 408, set: { gtin_14: "null", earlier_versions: "[{'fdc_id': 407, 'published_on': null}]" } },
    { fdc_id: 409, set: { gtin_14: "null" } }
  )
  itLive("keep labels without a barcode current, and add the versions that one of them names", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* queryPublished(
          `select fdc_id, version, version_count, is_current, is_loaded, replaced_by from branded_food.version
           where fdc_id between 400 and 499 order by fdc_id`
        ),
        [
          { fdc_id: 404, version: 1, version_count: 3, is_current: false, is_loaded: false, replaced_by: 405 },
          { fdc_id: 405, version: 2, version_count: 3, is_current: false, is_loaded: false, replaced_by: 407 },
          { fdc_id: 407, version: 3, version_count: 3, is_current: true, is_loaded: true, replaced_by: null },
          { fdc_id: 408, version: 1, version_count: 1, is_current: true, is_loaded: true, replaced_by: null },
          { fdc_id: 409, version: 1, version_count: 1, is_current: true, is_loaded: true, replaced_by: null }
        ]
      )
    })
  )
  itLive("count spellings as one category exactly when the search does", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const spellings = ["İÇECEK", "i̇çecek", "IÇECEK", "ΟΔΟΣ", "οδος", "ΟΔΟΣ Α", "Οδοσ α", "KÄSE", "Käse"]
      yield* publishLabels(
        layout,
        spellings.map((category, index) => ({ fdc_id: index + 1, set: { category: `'${category}'` } }))
      )
      const counts = yield* queryWarehouse(layout, "from branded_food.category")
      const entry = Option.getOrThrow(yield* newestManifest(layout.depot)).data_sets["branded-foods"]
      if (entry === undefined) return assert.fail("labels were published")
      const foods = yield* openServedFoods(layout, entry, yield* DuckDb.readOnly(layout.dataSetFile("branded-foods")))
      const searched: Array<Readonly<Record<string, unknown>>> = []
      for (const { category } of counts) {
        const { records } = yield* foods.search({ category: String(category) }, undefined, 9)
        searched.push({ category, product_count: records.length })
      }
      assert.deepStrictEqual(counts, searched)
      assert.strictEqual(counts.length, 5)
    })
  )
  stageIn(0, { fdc_id: 501, set: { category: "'CAKE'" } }, { fdc_id: 502, up_to: 503, set: { category: "'Cake'" } })
  itLive("count categories that differ only in case as one, in the most frequent spelling", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* queryPublished("from branded_food.category where category ilike 'cake'"), [
        { category: "Cake", product_count: 3 }
      ])
    })
  )
  const laterVersions =
    "[{'fdc_id': 605, 'published_on': date '2019-04-01'}, {'fdc_id': 606, 'published_on': date '2031-01-01'}]"
  stageIn(0, { fdc_id: 607, set: { earlier_versions: laterVersions } })
  itLive("include versions that a later label only names, and never make one current", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* queryPublished(
          `select fdc_id, is_current, is_loaded, published_on::varchar as published_on, replaced_by
           from branded_food.version where fdc_id between 600 and 699 order by version`
        ),
        [
          { fdc_id: 605, is_current: false, is_loaded: false, published_on: "2019-04-01", replaced_by: 606 },
          { fdc_id: 606, is_current: false, is_loaded: false, published_on: "2024-04-18", replaced_by: 607 },
          { fdc_id: 607, is_current: true, is_loaded: true, published_on: "2024-04-18", replaced_by: null }
        ]
      )
    })
  )
})
