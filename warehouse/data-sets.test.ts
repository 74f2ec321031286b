import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import {
  aLayout,
  apples,
  aRun,
  ask,
  butter,
  pantryIn,
  pears,
  publishFound,
  publishStaged,
  tamper
} from "@larder/test/support/warehouse/pantry.ts"
import { Effect, FileSystem, Option } from "effect"
import { dataSetsOf } from "./data-sets.ts"
import { type Layout, openGeneration } from "./generation/layout.ts"
import { rollback } from "./generation/rollback.ts"
import { stage } from "./staging.ts"
import { commodity, priceVersionTable, seriesTable } from "./tables.ts"

const cellar = pantryIn("cellar")

const publishButter = Effect.fnUntraced(function* (layout: Layout, origin: "live" | "replay" | "sample", day: string) {
  const run = aRun({ run_id: `butter ${day}`, pipeline: "commodities", origin, rows_read: 1 })
  const { file } = yield* stage(layout, run, commodity, (staging) =>
    Effect.andThen(
      staging.add(seriesTable, [butter]),
      staging.add(priceVersionTable, [
        {
          metric_name: "butter",
          observed_on: day,
          value: "1.5",
          value_text: "1.5000",
          published_at: `${day} 12:00:00`,
          is_final: false,
          run_id: run.run_id,
          raw_sha256: "ab",
          fetched_at: `${day} 18:00:00`,
          source_row: 1
        }
      ])
    )
  )
  // counted by the metrics of the catalog, which this one is not in
  return yield* publishStaged(layout, commodity, file, { ...run, rows_read: 0 })
}, Effect.scoped)

const told = "select pipeline, origin, is_sample, newest_on, generation from ingest.data_set order by pipeline"
const marked = `
  select distinct schema_name from duckdb_tables() where database_name = 'asked' and comment like '%Bundled samples%'
  union select schema_name from duckdb_views() where database_name = 'asked' and comment like '%Bundled samples%'
  order by all`
/** What can be read from in the schema of commodities, and does not say that it is made of samples. */
const unmarked = `
  with found as (
    select table_name as name, comment from duckdb_tables() where schema_name = 'commodity' and database_name = 'asked'
    union all select view_name, comment from duckdb_views() where schema_name = 'commodity' and database_name = 'asked'
    union all select function_name, comment from duckdb_functions()
      where schema_name = 'commodity' and database_name = 'asked' and function_type = 'table_macro'
  )
  select name from found where comment not like '%Bundled samples%' order by all`

describe("ingest.data_set", () => {
  itWorks("has one row per data set, and each stays true when another one is published", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { prices: [apples] }, { run: { origin: "sample" } })
      yield* publishFound(layout, { prices: [pears] }, { of: cellar, run: { origin: "live" } })
      const pantryRow = { pipeline: "pantry", origin: "sample", is_sample: true, newest_on: "2026-01-05" }
      const cellarRow = { pipeline: "cellar", origin: "live", is_sample: false, newest_on: "2026-01-05" }
      assert.deepStrictEqual(yield* ask(layout, told), [
        { ...cellarRow, generation: "larder-000002" },
        { ...pantryRow, generation: "larder-000001" }
      ])
      const eggs = { item: "eggs", seen_on: "2026-02-01" }
      yield* publishFound(layout, { prices: [eggs] }, { of: cellar, run: { origin: "replay" } })
      assert.deepStrictEqual(yield* ask(layout, told), [
        { ...cellarRow, newest_on: "2026-02-01", generation: "larder-000003" },
        { ...pantryRow, generation: "larder-000001" }
      ])
      yield* rollback(layout, Option.none())
      assert.deepStrictEqual(yield* ask(layout, told), [
        { ...cellarRow, generation: "larder-000002" },
        { ...pantryRow, generation: "larder-000001" }
      ])
    })
  )
  itWorks("names licence and attribution of the source, and of samples their own", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { prices: [apples] }, { run: { origin: "sample" } })
      yield* publishFound(layout, { prices: [pears] }, { of: cellar, run: { origin: "replay" } })
      assert.deepStrictEqual(
        yield* ask(
          layout,
          "select schema_name, description, licence, attribution, source_url from ingest.data_set order by all"
        ),
        [
          {
            schema_name: "cellar",
            description: "What is in the pantry.",
            licence: "ours",
            attribution: "the cook",
            source_url: "https://shop.example"
          },
          {
            schema_name: "pantry",
            description: "What is in the pantry. Bundled samples: most values are generated. Use none as market data.",
            licence: "Generated values: MIT. All others: ours",
            attribution:
              "Generated values: Larder's bundled samples, in the format of the source. All others: the cook",
            source_url: "https://shop.example"
          }
        ]
      )
    })
  )
  itWorks("calls a data set a sample as long as it holds any row of the samples", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { prices: [apples] }, { run: { origin: "sample", run_id: "1" } })
      yield* publishFound(layout, { prices: [pears] }, { run: { origin: "replay", run_id: "2" } })
      assert.deepStrictEqual(yield* ask(layout, "select origin, is_sample from ingest.data_set"), [
        { origin: "sample", is_sample: true }
      ])
    })
  )
  itWorks("calls one replayed that only recordings were read into", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { prices: [apples] }, { run: { origin: "replay", run_id: "1" } })
      assert.deepStrictEqual(yield* ask(layout, "select origin, is_sample from ingest.data_set"), [
        { origin: "replay", is_sample: false }
      ])
    })
  )
})

describe("the tables of samples", () => {
  itWorks("say so in their comments, those of other data sets do not, and nothing is new because of that", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { prices: [apples] }, { run: { origin: "sample" } })
      yield* publishFound(layout, { prices: [pears] }, { of: cellar, run: { origin: "live" } })
      assert.deepStrictEqual(yield* ask(layout, marked), [{ schema_name: "pantry" }])
      const again = yield* publishFound(layout, { prices: [apples] }, { run: { origin: "sample" } })
      assert.strictEqual(again.run.outcome, "unchanged")
    })
  )
  itWorks("say so as views and table macros do, and none does where the data are live", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishButter(layout, "sample", "2026-01-02")
      assert.deepStrictEqual(yield* ask(layout, unmarked), [])
      assert.strictEqual((yield* publishButter(layout, "sample", "2026-01-02")).run.outcome, "unchanged")
      const other = yield* aLayout
      yield* publishButter(other, "live", "2026-01-02")
      const all = ["coverage", "metric", "price", "price_as_of", "price_version", "product", "series"]
      assert.deepStrictEqual(
        yield* ask(other, unmarked),
        all.map((name) => ({ name }))
      )
    })
  )
  itWorks("say so after a larger data set took them over", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishButter(layout, "sample", "2026-01-02")
      const prices = Array.from({ length: 40_000 }, (_, index) => ({ item: `item ${index}`, price: "1" }))
      yield* publishFound(layout, { prices })
      assert.deepStrictEqual(yield* ask(layout, `${told} limit 1`), [
        {
          pipeline: "commodities",
          origin: "sample",
          is_sample: true,
          newest_on: "2026-01-02",
          generation: "larder-000001"
        }
      ])
      assert.deepStrictEqual(yield* ask(layout, marked), [{ schema_name: "commodity" }])
    })
  )
})

describe("a generation from before there was such a table", () => {
  itWorks("tells the same of itself", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishButter(layout, "live", "2026-01-02")
      const file = yield* (yield* FileSystem.FileSystem).realPath(layout.link)
      const read = Effect.scoped(Effect.flatMap(openGeneration(file), dataSetsOf))
      const before = yield* read
      assert.deepStrictEqual(
        before.map(({ origin, pipeline }) => [pipeline, origin]),
        [["commodities", "live"]]
      )
      yield* tamper(file, "drop table ingest.data_set")
      assert.deepStrictEqual(yield* read, before)
    })
  )
})
