import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { openAsAnalyst } from "@larder/test/support/warehouse/analyst.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  aRun,
  butter,
  publishStaged,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { withColumn } from "@larder/test/support/warehouse/other-versions.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect, FileSystem, Option } from "effect"
import type { Layout } from "../generation/layout.ts"
import { makeGeneration } from "../generation/manifest.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { commodity } from "../tables/commodity/data-set.ts"
import { ingestVersion } from "../tables/ingest-tables.ts"
import type { DataSet } from "../tables/tables.ts"
import { readLive, requirePublishable } from "./live-data-set.ts"
import { rebuildFrom } from "./rebuild.ts"
import { recordFailedRun } from "./record.ts"
import { rollback } from "./rollback.ts"
import { stage } from "./staging.ts"

const newer = withColumn(commodity, "series", "colour")

const readNewest = (layout: Layout) => requireNewest(layout.depot)

/** A run of the version that has this data set: the series of one commodity. */
const publishSeries = Effect.fnUntraced(function* (layout: Layout, dataSet: DataSet, slug: string) {
  const run = aRun({ pipeline: "commodities" })
  const { staged } = yield* stage(layout, run, dataSet, ({ db }) =>
    db.run(`insert into commodity.series by name select * from (values
      ('${slug}', '${butter.metric_name}', '${butter.commodity}', '${butter.market}', '${butter.unit}', 1))
      t (slug, metric_name, commodity, market, unit, position)`)
  )
  return yield* publishStaged(layout, dataSet, staged, run)
}, Effect.scoped)

/** This version published first, then a newer one rebuilt the data set. */
const upgraded = copyPerTest(
  Effect.tap(
    aLayout,
    Effect.fnUntraced(function* (layout) {
      yield* publishSeries(layout, commodity, "butter")
      const since = (yield* readNewest(layout)).data_sets.commodities
      const rebuilt = yield* aLayout
      yield* publishSeries(rebuilt, newer, "cheese")
      yield* rebuildFrom({ layout, dataSet: newer, from: rebuilt, since })
    })
  )
)
/** A newer version recorded its runs. */
const withNewerIngest = copyPerTest(
  Effect.tap(aLayout, (layout) =>
    Effect.andThen(
      publishSeries(layout, commodity, "butter"),
      makeGeneration(layout.depot, (base) => {
        const { data_sets, event, ingest } = base ?? assert.fail()
        return Effect.succeed({ event, data_sets, ingest: { ...ingest, schema: ingest.schema + 1 } })
      })
    )
  )
)

const toSentence = (subject: string, supported = 1) =>
  `${subject} was published with tables of version ${supported + 1}, and this version of Larder supports versions up to ${supported}. Update Larder on this machine, servers first.`
const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)
const toGeneration = (to: number) => ({ to: Option.some(to), only: Option.none(), note: Option.none() })

describe("a program that is older than the live data", () => {
  itLive("fails before it fetches anything, and again when it publishes", () =>
    Effect.gen(function* () {
      const layout = yield* upgraded
      const sentence = toSentence("commodities")
      assert.strictEqual(yield* messageOf(requirePublishable(layout, commodity, 1)), sentence)
      assert.strictEqual(yield* messageOf(readLive(layout, commodity, [], (db) => db.rows("select 1"))), sentence)
      assert.strictEqual(yield* messageOf(publishSeries(layout, commodity, "milk")), sentence)
      assert.strictEqual((yield* readNewest(layout)).number, 2)
      yield* requirePublishable(layout, newer, 1)
    })
  )
  itLive("does not rebuild data of a newer version", () =>
    Effect.gen(function* () {
      const layout = yield* upgraded
      const rebuilt = yield* aLayout
      yield* publishSeries(rebuilt, commodity, "butter")
      const since = (yield* readNewest(layout)).data_sets.commodities
      const rebuild = rebuildFrom({ layout, dataSet: commodity, from: rebuilt, since })
      assert.strictEqual(yield* messageOf(rebuild), toSentence("commodities"))
      assert.strictEqual((yield* readNewest(layout)).number, 2)
    })
  )
  itLive("rolls back to a version that it supports, but not forward to a newer one", () =>
    Effect.gen(function* () {
      const layout = yield* upgraded
      yield* rollback(layout, toGeneration(1))
      assert.strictEqual((yield* readNewest(layout)).data_sets.commodities?.schema, 1)
      assert.strictEqual(yield* messageOf(rollback(layout, toGeneration(2))), toSentence("commodities"))
      assert.strictEqual((yield* readNewest(layout)).number, 3)
    })
  )
  itLive("replaces nothing if a newer version recorded its runs", () =>
    Effect.gen(function* () {
      const layout = yield* withNewerIngest
      const sentence = toSentence("schema ingest", ingestVersion)
      const failedRun = { run: aRun({ pipeline: "commodities", outcome: "failed" }), checks: [], leftOut: [] }
      assert.strictEqual(yield* messageOf(requirePublishable(layout, commodity, 1)), sentence)
      assert.strictEqual(yield* messageOf(publishSeries(layout, commodity, "milk")), sentence)
      assert.strictEqual(yield* messageOf(recordFailedRun(layout, failedRun)), sentence)
      assert.strictEqual(yield* messageOf(rollback(layout, toGeneration(1))), sentence)
      assert.strictEqual((yield* readNewest(layout)).number, 2)
    })
  )
})

describe("a program with other tables than the live data", () => {
  itLive(
    "writes the catalogue without that data set until it is rebuilt, and rolls back to no earlier state of it",
    (logs) =>
      Effect.gen(function* () {
        const sentence =
          "commodities was published by another version of Larder, with other tables or views, and no version converts them. Rebuild it from the raw archive with: npx larder-ingest rebuild commodities"
        const layout = yield* aLayout
        yield* publishSeries(layout, { ...newer, version: commodity.version }, "butter")
        assert.deepStrictEqual(logs, [`Warn: larder.duckdb is written without a data set: ${sentence}`])
        const since = (yield* readNewest(layout)).data_sets.commodities
        const rebuilt = yield* aLayout
        yield* publishSeries(rebuilt, commodity, "cheese")
        yield* rebuildFrom({ layout, dataSet: commodity, from: rebuilt, since })
        assert.deepStrictEqual(yield* queryWarehouse(layout, "select slug from commodity.series"), [{ slug: "cheese" }])
        assert.strictEqual(yield* messageOf(rollback(layout, toGeneration(1))), sentence)
        assert.strictEqual((yield* readNewest(layout)).number, 2)
      })
  )
})

describe("the catalogue of an older program", () => {
  itLive("is written without the newer data set, with one warning; the file of that data set exists", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* upgraded
      yield* fs.remove(layout.catalogue)
      yield* refreshOpened(layout)
      yield* refreshOpened(layout)
      assert.deepStrictEqual(logs, [`Warn: larder.duckdb is written without a data set: ${toSentence("commodities")}`])
      const tables = Effect.scoped(
        Effect.flatMap(openAsAnalyst(layout.catalogue), (db) =>
          db.rows("select count(*)::integer as views from duckdb_views() where schema_name = 'commodity'")
        )
      )
      assert.deepStrictEqual(yield* tables, [{ views: 0 }])
      assert.isTrue(yield* fs.exists(layout.dataSetFile("commodities")))
    })
  )
})
