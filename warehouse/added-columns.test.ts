import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { copied } from "@larder/test/support/warehouse/copied-home.ts"
import {
  aLayout,
  apples,
  aRun,
  ask,
  butter,
  files,
  pantry,
  pears,
  publishFound,
  publishStaged,
  tamper
} from "@larder/test/support/warehouse/pantry.ts"
import { Effect, FileSystem } from "effect"
import { writeToJournal } from "./generation/journal.ts"
import { type Layout, openGeneration } from "./generation/layout.ts"
import { loadCommodities } from "./read-models/commodity.ts"
import { stage } from "./staging.ts"
import { commodity, metricTable, productTable, rawFileTable, seriesTable } from "./tables.ts"

const rawFile = (feed: string, run_id: string) => ({
  raw_sha256: `sha of ${feed}`,
  url: `https://shop.example/${feed}`,
  pipeline: "pantry",
  feed,
  run_id,
  fetched_at: "2026-01-05T10:00:00.000Z",
  bytes: 1,
  rows_read: 1,
  rows_rejected: 0,
  mapping_sha256: "mapping"
})

/** A run that fetched one payload, and nothing else. */
const publishPayload = Effect.fnUntraced(function* (
  layout: Layout,
  feed: string,
  origin: "live" | "replay" | "sample",
  run_id = `run of ${feed}`
) {
  const run = aRun({ run_id, origin })
  const { file } = yield* stage(layout, run, pantry.dataSet, (staging) =>
    staging.add(rawFileTable, [rawFile(feed, run_id)])
  )
  return yield* publishStaged(layout, pantry.dataSet, file, run)
}, Effect.scoped)

/** As the first version defined it. */
const firstRawFile = `
  create table ingest.first_raw_file (
    raw_sha256 varchar not null, url varchar not null, pipeline varchar not null, feed varchar not null,
    run_id varchar not null, fetched_at timestamp not null, bytes bigint not null, content_type varchar,
    rows_read bigint not null, rows_rejected bigint not null, mapping_sha256 varchar not null
  )`

const makeOlder = (layout: Layout) =>
  Effect.gen(function* () {
    const file = yield* (yield* FileSystem.FileSystem).realPath(layout.link)
    yield* tamper(
      file,
      `${firstRawFile};
       insert into ingest.first_raw_file select * exclude (origin) from ingest.raw_file;
       drop table ingest.raw_file;
       alter table ingest.first_raw_file rename to raw_file;
       drop table ingest.data_set`
    )
    return file
  })

/** Two payloads and the price of apples, in a generation of the first version. */
const older = copied(
  Effect.tap(aLayout, (layout) =>
    Effect.gen(function* () {
      yield* publishPayload(layout, "from samples", "sample")
      yield* publishPayload(layout, "from a recording", "replay")
      yield* publishFound(layout, { prices: [apples] }, { run: { run_id: "run of apples", origin: "replay" } })
      yield* makeOlder(layout)
    })
  )
)

const origins = "select feed, origin from ingest.raw_file order by all"
const asTheyWere = [
  { feed: "from a recording", origin: "replay" },
  { feed: "from samples", origin: "sample" }
]

const counts = ["rows_read", "rows_loaded", "rows_unchanged", "rows_rejected"]

describe("a generation in which the counts of a run could not be null", () => {
  itWorks("takes up a run that failed before they were known, and keeps its own counts", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, { prices: [apples] }, { run: { run_id: "1" } })
      const file = yield* (yield* FileSystem.FileSystem).realPath(layout.link)
      for (const column of counts) yield* tamper(file, `alter table ingest.run alter column ${column} set not null`)
      const unknown = Object.fromEntries(counts.map((column) => [column, null]))
      yield* writeToJournal(layout, aRun({ run_id: "2", outcome: "failed", ...unknown }), [], [])
      yield* publishFound(layout, { prices: [pears] }, { run: { run_id: "3" } })
      assert.deepStrictEqual(yield* ask(layout, `select run_id, ${counts.join(", ")} from ingest.run order by all`), [
        { run_id: "1", rows_read: "1", rows_loaded: "1", rows_unchanged: "0", rows_rejected: "0" },
        { run_id: "2", ...unknown },
        { run_id: "3", rows_read: "1", rows_loaded: "1", rows_unchanged: "0", rows_rejected: "0" }
      ])
    })
  )
})

describe("a generation from before a column was added", () => {
  itWorks("gets the column with the next run of any pipeline, filled from what the generation knows", () =>
    Effect.gen(function* () {
      const layout = yield* older
      const { run } = yield* publishPayload(layout, "from the network", "live")
      assert.deepStrictEqual([run.outcome, run.generation], ["published", "larder-000004"])
      assert.deepStrictEqual(yield* ask(layout, origins), [...asTheyWere, { feed: "from the network", origin: "live" }])
      const [column] = yield* ask(
        layout,
        `select comment is not null as told, is_nullable from duckdb_columns()
         where database_name = 'asked' and table_name = 'raw_file' and column_name = 'origin'`
      )
      assert.deepStrictEqual(column, { told: true, is_nullable: false })
      assert.strictEqual((yield* publishFound(layout, { prices: [apples] })).run.outcome, "unchanged")
    })
  )
  itWorks("gets it from a run that found nothing new, too, which keeps the rows as they were", () =>
    Effect.gen(function* () {
      const layout = yield* older
      const { run } = yield* publishFound(layout, { prices: [apples] })
      assert.deepStrictEqual([run.outcome, run.rows_loaded, run.generation], ["published", 0, "larder-000004"])
      assert.deepStrictEqual(yield* ask(layout, origins), asTheyWere)
      assert.deepStrictEqual(yield* ask(layout, "select item, run_id from pantry.price"), [
        { item: "apple", run_id: "run of apples" }
      ])
    })
  )
  itWorks("is copied, and not taken over by a larger staging file, as its tables differ", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const run = aRun({ pipeline: "commodities" })
      const { file } = yield* stage(layout, run, commodity, (staging) =>
        Effect.andThen(staging.add(seriesTable, [butter]), staging.add(rawFileTable, [rawFile("butter", run.run_id)]))
      )
      yield* publishStaged(layout, commodity, file, run)
      yield* makeOlder(layout)
      const prices = Array.from({ length: 40_000 }, (_, index) => ({ item: `item ${index}`, price: "1" }))
      yield* publishFound(layout, { prices })
      assert.deepStrictEqual(yield* ask(layout, origins), [{ feed: "butter", origin: "replay" }])
    })
  )
  itWorks("stays as it was after a dry run and after a failed check, with nothing left beside it", () =>
    Effect.gen(function* () {
      const layout = yield* older
      const before = yield* files(layout.dir)
      yield* publishFound(layout, { prices: [pears] }, { dryRun: true })
      const check = { name: "none", severity: "error", description: "", sql: "from pantry.price" } as const
      yield* Effect.flip(publishFound(layout, { prices: [pears] }, { checks: [check] }))
      assert.deepStrictEqual(yield* files(layout.dir), before)
      assert.deepStrictEqual(
        yield* ask(layout, "select column_name from (describe ingest.raw_file) where column_name = 'origin'"),
        []
      )
    })
  )
  itWorks("is refused under its own name where it differs in another way, too", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* older
      const file = yield* fs.realPath(layout.link)
      yield* tamper(file, "alter table pantry.price drop column seen_on")
      const before = yield* files(layout.dir)
      const error = yield* Effect.flip(publishFound(layout, { prices: [pears] }))
      assert.isTrue(error.message.startsWith(`${file} was built by another version of Larder: `), error.message)
      assert.deepStrictEqual(yield* files(layout.dir), before)
    })
  )
})

describe("the origin of a payload", () => {
  itWorks("stays that of the run that fetched it first", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishPayload(layout, "eggs", "sample")
      const { run } = yield* publishPayload(layout, "eggs", "replay", "a later run")
      assert.strictEqual(run.outcome, "unchanged")
      assert.deepStrictEqual(yield* ask(layout, origins), [{ feed: "eggs", origin: "sample" }])
    })
  )
})

describe("the licence of a metric", () => {
  const levels = { butter: "exchange_spot", butter_survey: "manufacturer_sale" }
  const metrics = Object.entries(levels).map(([metric_name, market_level]) => ({
    metric_name,
    measure: "price",
    unit: "usd_per_lb",
    region: "united_states",
    market_level,
    freight: "not_stated",
    frequency: "daily",
    source: "gov-mars",
    product_slug: metric_name,
    report: "Butter",
    feed: "gov-mars/1",
    licence: market_level === "exchange_spot" ? "cme_group" : "public_domain"
  }))
  const products = metrics.map(({ metric_name: slug }) => ({
    slug,
    category: "dairy",
    attributes: "{}",
    details: "{}"
  }))
  const publishCatalog = Effect.fnUntraced(function* (layout: Layout, run_id: string) {
    const run = aRun({ run_id, pipeline: "commodities" })
    const { file } = yield* stage(layout, run, commodity, (staging) =>
      Effect.all([
        staging.add(productTable, products),
        staging.add(metricTable, metrics),
        staging.add(seriesTable, [butter])
      ])
    )
    return yield* publishStaged(layout, commodity, file, run)
  }, Effect.scoped)
  /** A generation without the column. */
  const fromBefore = Effect.gen(function* () {
    const layout = yield* aLayout
    yield* publishCatalog(layout, "first")
    yield* tamper(`${layout.dir}/larder-000001.duckdb`, "alter table commodity.metric drop column licence")
    return layout
  })

  itWorks("is added to a generation from before by the next run, also where nothing else is new", () =>
    Effect.gen(function* () {
      const layout = yield* fromBefore
      const { run } = yield* publishCatalog(layout, "second")
      assert.deepStrictEqual([run.outcome, run.rows_loaded, run.generation], ["published", 0, "larder-000002"])
      assert.deepStrictEqual(yield* ask(layout, "select metric_name, licence from commodity.metric order by all"), [
        { metric_name: "butter", licence: "cme_group" },
        { metric_name: "butter_survey", licence: "public_domain" }
      ])
    })
  )
  itWorks(
    "withholds from a generation from before as from any other, with its series and a product of nothing else",
    () =>
      Effect.gen(function* () {
        const layout = yield* fromBefore
        const db = yield* openGeneration(`${layout.dir}/larder-000001.duckdb`)
        const { groups, metrics, products, series } = yield* loadCommodities(db, ["cme_group"])
        assert.deepStrictEqual([groups, [...series]], [[], []])
        assert.deepStrictEqual([...metrics.keys()], ["butter_survey"])
        assert.deepStrictEqual(
          products.map(({ slug }) => slug),
          ["butter_survey"]
        )
      })
  )
})
