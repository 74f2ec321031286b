import { existsSync } from "node:fs"
import { cp, mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  commitFileOf,
  listLakeFiles,
  listLakeTables,
  logFolderOf,
  readColumns,
  readDeltaRows,
  readGenerations
} from "@larder/test/support/lake/reading.ts"
import { queryDatabase } from "@larder/test/support/warehouse/analyst.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import { makeEveryDataSet, publishPrices } from "@larder/test/support/warehouse/every-data-set.ts"
import { aLayout, aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { ConfigProvider, Effect, type FileSystem, Option, type Path } from "effect"
import { commodity, dataSets } from "../data-sets.ts"
import { type Depot, DepotUnusable } from "../depot/depot.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { makeGeneration, newestManifest } from "../generation/manifest.ts"
import { rebuildFrom } from "../publishing/rebuild.ts"
import { recordFailedRun } from "../publishing/record.ts"
import { rollback } from "../publishing/rollback.ts"
import { ingestTables } from "../tables/ingest-tables.ts"
import { writeLake, writeLakeIfEnabled } from "./setting.ts"

const withSetting = (value: string | undefined) =>
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(value === undefined ? {} : { LARDER_LAKE: value })
  )

const rollBack = (layout: Layout, only: string, to?: number) =>
  rollback(layout, { to: Option.fromNullishOr(to), only: Option.some(only), note: Option.none() })
const failRun = (layout: Layout, message: string) =>
  recordFailedRun(layout, {
    run: aRun({ pipeline: "commodities", outcome: "failed", message }),
    checks: [],
    leftOut: []
  })

const lakeOf = ({ dir }: Layout) => path.join(dir, "lake")
const prices = "commodity.observation_version"

/** Generation 1 has milk. */
const withMilk = copyPerTest(Effect.tap(aLayout, (layout) => publishPrices(layout, "milk")))
/** Generation 1 has milk, 2 also has butter, and 3 has only milk again. Each was written into the lake. */
const withHistory = copyPerTest(
  Effect.gen(function* () {
    const layout = yield* aLayout
    yield* publishPrices(layout, "milk")
    yield* writeLake(layout)
    yield* publishPrices(layout, "butter")
    yield* writeLake(layout)
    yield* rollBack(layout, "commodities", 1)
    yield* writeLake(layout)
    return layout
  })
)
const withEveryDataSet = copyPerTest(
  Effect.gen(function* () {
    const { layout } = yield* makeEveryDataSet
    yield* writeLake(layout)
    return layout
  })
)

const readRows = (layout: Layout, table: string, version?: number) =>
  Effect.promise(() => readDeltaRows(lakeOf(layout), table, version))
const listMetrics = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  rows.map((row) => row.metric_name).sort()
const readMetrics = (layout: Layout, version?: number) => Effect.map(readRows(layout, prices, version), listMetrics)

describe("the lake", () => {
  itLive("is only written after a publication if it is enabled", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      for (const value of [undefined, "no"]) {
        yield* writeLakeIfEnabled(layout).pipe(withSetting(value))
        assert.isFalse(existsSync(lakeOf(layout)))
      }
      yield* writeLakeIfEnabled(layout).pipe(withSetting("yes"))
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
    })
  )
  itLive("has the defined tables, and the views that have a key, with their columns", () =>
    Effect.gen(function* () {
      const lake = lakeOf(yield* withEveryDataSet)
      const views = dataSets.flatMap((dataSet) => dataSet.views.filter(({ lakeKey }) => lakeKey !== undefined))
      assert.deepStrictEqual(
        views.map(({ name }) => name),
        ["price", "current_food", "nutrition", "variant"]
      )
      const defined = [...ingestTables, ...dataSets.flatMap(({ tables }) => tables), ...views]
      assert.deepStrictEqual(listLakeTables(lake), defined.map(({ name, schema }) => `${schema}.${name}`).sort())
      for (const { name, record, schema } of defined)
        assert.deepStrictEqual(readColumns(lake, `${schema}.${name}`), Object.keys(record?.fields ?? {}), name)
    })
  )
  itLive("has as many rows as the warehouse, in every table", () =>
    Effect.gen(function* () {
      const layout = yield* withEveryDataSet
      const tables = listLakeTables(lakeOf(layout))
      const counts = yield* queryDatabase(
        layout.catalogue,
        ...tables.map((table) => `select count(*)::integer as rows from ${table}`)
      )
      for (const [index, table] of tables.entries())
        assert.strictEqual((yield* readRows(layout, table)).length, counts[index]?.[0]?.rows, table)
      const foods = yield* readRows(layout, "branded_food.current_food")
      assert.deepStrictEqual(
        foods.map(({ fdc_id }) => fdc_id),
        [2, 3, 4, 7]
      )
      assert.deepInclude((yield* readRows(layout, "branded_food.food"))[0], {
        serving_size: 30,
        trade_channels: null,
        nutrients: [
          { nutrient_id: 1093, amount: 333.5, derivation_id: null },
          { nutrient_id: 1004, amount: 0, derivation_id: 70 }
        ]
      })
    })
  )
  itLive("has a version for each generation that changed the table", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      const lake = lakeOf(layout)
      const all = ["larder-000001", "larder-000002", "larder-000003"]
      for (const table of [prices, "commodity.observation"]) assert.deepStrictEqual(readGenerations(lake, table), all)
      for (const [version, expected] of [["milk"], ["butter", "milk"], ["milk"]].entries())
        assert.deepStrictEqual(yield* readMetrics(layout, version), expected)
      assert.deepStrictEqual(readGenerations(lake, "commodity.series"), ["larder-000001", "larder-000003"])
      assert.deepStrictEqual(readGenerations(lake, "ingest.run"), all) // the last marks the second run as rolled back
    })
  )
  itLive("gets no version if nothing was published since it was written", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      assert.deepStrictEqual(yield* writeLake(layout), { generation: "larder-000003", tables: [], bytes: 0 })
    })
  )
  itLive("has the newest generation only, if earlier ones were not written", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* publishPrices(layout, "butter")
      yield* writeLake(layout)
      assert.deepStrictEqual(readGenerations(lakeOf(layout), prices), ["larder-000002"])
    })
  )
  itLive("has the record of a failed run, but none of its data", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* writeLake(layout)
      yield* failRun(layout, "no answer")
      yield* writeLake(layout)
      assert.deepStrictEqual(readGenerations(lakeOf(layout), prices), ["larder-000001"])
      const runs = yield* readRows(layout, "ingest.run")
      assert.deepStrictEqual(runs.map(({ message }) => message).sort(), ["no answer", null])
    })
  )
  itLive("has the rows of a rebuilt data set", () =>
    Effect.gen(function* () {
      const [layout, from] = [yield* withHistory, yield* aLayout]
      yield* publishPrices(from, "cheese")
      const since = Option.getOrUndefined(yield* newestManifest(layout.depot))?.data_sets.commodities
      yield* rebuildFrom({ layout, dataSet: commodity, from, since })
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["cheese"])
      assert.strictEqual(readGenerations(lakeOf(layout), prices).at(-1), "larder-000004")
    })
  )
  itLive("keeps the tables of a data set that was rolled back to before its first run, without rows", () =>
    Effect.gen(function* () {
      const layout = yield* withEveryDataSet
      yield* rollBack(layout, "storefronts")
      yield* writeLake(layout)
      const lake = lakeOf(layout)
      for (const name of ["product", "variant"]) {
        assert.deepStrictEqual(yield* readRows(layout, `storefront.${name}`), [])
        assert.deepStrictEqual(readGenerations(lake, `storefront.${name}`), ["larder-000003", "larder-000004"])
        assert.include(readColumns(lake, `storefront.${name}`), "product_id")
      }
      yield* failRun(layout, "no answer")
      yield* writeLake(layout)
      assert.lengthOf(readGenerations(lake, "storefront.product"), 2)
    })
  )
  itLive("keeps the rows of a data set that another version has published with other tables", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* writeLake(layout)
      yield* makeGeneration(layout.depot, (base) => {
        const { data_sets, event, ingest } = base ?? assert.fail()
        const commodities = { ...(data_sets.commodities ?? assert.fail()), definition: "of other tables" }
        return Effect.succeed({ event, ingest, data_sets: { ...data_sets, commodities } })
      })
      yield* failRun(layout, "no answer")
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
      assert.deepStrictEqual(readGenerations(lakeOf(layout), prices), ["larder-000001"])
      assert.strictEqual(readGenerations(lakeOf(layout), "ingest.run").at(-1), "larder-000003")
      assert.match(
        logs.join("\n"),
        /Warn: the lake keeps an earlier state of a data set: commodities was published by another/
      )
    })
  )
  itLive("keeps the rows of a data set whose database is damaged, and has the new rows of the others", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withEveryDataSet
      yield* publishPrices(layout, "butter")
      const before = readGenerations(lakeOf(layout), "storefront.product")
      const [part] = Option.getOrUndefined(yield* newestManifest(layout.local))?.data_sets.storefronts?.parts ?? []
      yield* Effect.promise(() => rm(layout.objectFile(part?.sha256 ?? "")))
      yield* writeLake(layout)
      assert.include(yield* readMetrics(layout), "butter")
      assert.deepStrictEqual(readGenerations(lakeOf(layout), "storefront.product"), before)
      assert.strictEqual(readGenerations(lakeOf(layout), "ingest.run").at(-1), "larder-000004")
      assert.match(
        logs.join("\n"),
        /Warn: the lake keeps an earlier state of a data set: \S+ of storefronts .* is missing\. .*larder-ingest rebuild storefronts/
      )
    })
  )
  itLive("is not returned to an older generation by a machine that is behind", () =>
    Effect.gen(function* () {
      const [ahead, behind] = [yield* withMilk, yield* aLayout]
      yield* writeLake(ahead)
      yield* publishPrices(ahead, "butter")
      yield* Effect.promise(() => cp(ahead.home, behind.home, { recursive: true }))
      yield* rollBack(ahead, "commodities", 1)
      yield* writeLake(ahead)
      assert.deepStrictEqual(yield* writeLake({ ...behind, depot: ahead.depot }), {
        generation: "larder-000003",
        tables: [],
        bytes: 0
      })
      assert.deepStrictEqual(yield* readMetrics(ahead), ["milk"])
    })
  )
  itLive("keeps a rollback that is written while another machine is writing what it undoes", () =>
    Effect.gen(function* () {
      const [ahead, behind] = [yield* withMilk, yield* aLayout]
      yield* writeLake(ahead)
      yield* publishPrices(ahead, "butter")
      yield* Effect.promise(() => cp(ahead.home, behind.home, { recursive: true }))
      const rollBackAndWrite = yield* Effect.cached(
        rollBack(ahead, "commodities", 1).pipe(
          Effect.andThen(writeLake(ahead)),
          Effect.provide(yield* Effect.context<FileSystem.FileSystem | Path.Path>()),
          Effect.orDie
        )
      )
      const putText: Depot["putText"] = (...args) => Effect.andThen(rollBackAndWrite, ahead.depot.putText(...args))
      yield* writeLake({ ...behind, depot: { ...ahead.depot, putText } })
      const lake = lakeOf(ahead)
      for (const table of [prices, "commodity.observation"])
        assert.deepStrictEqual(readGenerations(lake, table), ["larder-000001", "larder-000003"])
      assert.deepStrictEqual(yield* readMetrics(ahead), ["milk"])
      assert.deepStrictEqual((yield* writeLake(ahead))?.tables, [])
    })
  )
})

describe("files in the lake", () => {
  itLive("are deleted a week after a version removed them", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      const lake = lakeOf(layout)
      assert.lengthOf(listLakeFiles(lake, prices), 3)
      yield* failRun(layout, "six days later").pipe(withClockAhead("6 days"))
      const makeNewest = (days: number) =>
        Effect.promise(() => {
          const later = Date.now() / 1000 + days * 86_400
          return utimes(commitFileOf(lake, "ingest.run", 2), later, later)
        })
      yield* makeNewest(6)
      yield* writeLake(layout).pipe(withClockAhead("6 days"))
      assert.lengthOf(listLakeFiles(lake, prices), 3)
      yield* writeLake(layout).pipe(withClockAhead("8 days")) // but the depot knows of six
      assert.lengthOf(listLakeFiles(lake, prices), 3)
      yield* makeNewest(8)
      yield* writeLake(layout).pipe(withClockAhead("8 days"))
      assert.lengthOf(listLakeFiles(lake, prices), 1)
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
    })
  )
  itLive("of rows are deleted if no version names them, because their writer was killed", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      const [orphan, later] = [2, 3].map((version) =>
        path.join(
          lakeOf(layout),
          "data/commodity/observation_version",
          `${String(version).padStart(20, "0")}-${"ab".repeat(32)}.parquet`
        )
      ) as [string, string]
      yield* Effect.promise(() => Promise.all([orphan, later].map((file) => writeFile(file, "rows"))))
      yield* writeLake(layout)
      assert.deepStrictEqual([existsSync(orphan), existsSync(later)], [false, true])
    })
  )
  itLive(
    "include another checkpoint with a hint, if the writer of the last one was killed before it wrote the hint",
    () =>
      Effect.gen(function* () {
        const layout = yield* withHistory
        const log = logFolderOf(lakeOf(layout), prices)
        yield* Effect.promise(() => writeFile(path.join(log, "00000000000000000001.checkpoint.parquet"), "checkpoint"))
        yield* writeLake(layout)
        const hint = yield* Effect.promise(() => readFile(path.join(log, "_last_checkpoint"), "utf8"))
        assert.deepInclude(JSON.parse(hint), { version: 2 })
        assert.isTrue(existsSync(path.join(log, "00000000000000000002.checkpoint.parquet")))
      })
  )
  itLive("include a checkpoint after ten versions, and the log begins with it 30 days later", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const lake = lakeOf(layout)
      const table = "ingest.run"
      for (let version = 0; version <= 11; version++) {
        if (version > 0) yield* failRun(layout, `failure ${version}`)
        yield* writeLake(layout)
      }
      const checkpoint = path.join(logFolderOf(lake, table), "00000000000000000010.checkpoint.parquet")
      const db = yield* DuckDb.memory
      const [found] = yield* db.rows(`
        select count(protocol)::integer as protocols, count(metaData)::integer as definitions, count(add)::integer as files,
          count(remove)::integer as removed
        from ${literal(checkpoint)}`)
      assert.deepStrictEqual(found, { protocols: 1, definitions: 1, files: 1, removed: 10 })
      const age = (version: number, days: number) =>
        Effect.promise(() => {
          const time = Date.now() / 1000 - days * 86_400
          return utimes(commitFileOf(lake, table, version), time, time)
        })
      for (let version = 0; version <= 10; version++) yield* age(version, 31)
      yield* writeLake(layout)
      assert.isFalse(existsSync(commitFileOf(lake, table, 9)))
      assert.isTrue(existsSync(commitFileOf(lake, table, 10)))
      yield* failRun(layout, "failure 12")
      yield* writeLake(layout)
      assert.isTrue(existsSync(commitFileOf(lake, table, 12)))
    })
  )
})

describe("a lake that cannot be written", () => {
  const errorMessage = (layout: Layout) =>
    Effect.map(Effect.flip(writeLake(layout)), ({ message }) => message.replaceAll(layout.dir, "DEPOT"))
  const remedy =
    "Nothing was changed. Remove this folder so that the next run writes a new lake, or set LARDER_DEPOT to another depot."

  itLive("stays as it is if another program or an earlier version of Larder wrote a log", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const log = commitFileOf(lakeOf(layout), "mine.table", 0)
      yield* Effect.promise(async () => {
        await mkdir(path.dirname(log), { recursive: true })
        await writeFile(log, '{"commitInfo":{"userMetadata":"larder-000001","engineInfo":"Larder"}}\n')
      })
      assert.strictEqual(
        yield* errorMessage(layout),
        `DEPOT/lake contains lake/data/mine/table/_delta_log/00000000000000000000.json, which names no generation: this version of Larder did not write it. ${remedy}`
      )
      assert.deepStrictEqual(listLakeTables(lakeOf(layout)), ["mine.table"])
      yield* Effect.promise(() => rm(lakeOf(layout), { recursive: true }))
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
    })
  )
  itLive("stays as it is if it belongs to another warehouse", () =>
    Effect.gen(function* () {
      const [mine, other] = [yield* withHistory, yield* aLayout]
      yield* publishPrices(other, "wool")
      yield* Effect.promise(() => cp(lakeOf(mine), lakeOf(other), { recursive: true }))
      assert.strictEqual(
        yield* errorMessage(other),
        `DEPOT/lake belongs to another warehouse: its larder-000003 is not in this warehouse. ${remedy}`
      )
      for (const metric of ["silk", "flax", "hemp"]) yield* publishPrices(other, metric)
      assert.strictEqual(
        yield* errorMessage(other),
        `DEPOT/lake belongs to another warehouse: its larder-000003 differs from this warehouse's. ${remedy}`
      )
    })
  )
  itLive("is up to date even if outdated files cannot be deleted: each such table is one warning", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      for (const table of ["ingest/generation", "commodity/price"]) // their writer was killed
        yield* Effect.promise(() =>
          writeFile(path.join(lakeOf(layout), "data", table, `${"0".repeat(20)}-${"ab".repeat(32)}.parquet`), "rows")
        )
      const denied = new DepotUnusable({ attempt: "remove", cause: new Error("denied"), advice: "Allow it." })
      const remove = (names: ReadonlyArray<string>) => (names.length === 0 ? Effect.void : Effect.fail(denied))
      yield* publishPrices(layout, "cheese")
      yield* writeLake({ ...layout, depot: { ...layout.depot, remove } })
      for (const table of ["ingest.generation", prices, "commodity.observation"])
        assert.strictEqual(readGenerations(lakeOf(layout), table).at(-1), "larder-000004", table)
      const warnings = logs.filter((line) => line.startsWith("Warn"))
      assert.lengthOf(warnings, 2)
      assert.strictEqual(
        warnings[0]?.replaceAll(layout.dir, "DEPOT"),
        "Warn: outdated files of ingest.generation remain in the lake, and the next run tries again: Cannot remove: denied. Allow it. The table itself is up to date. Check that DEPOT/lake/data/ingest/generation/ has room, and that files in it can be written and deleted."
      )
    })
  )
  itLive("does not fail the publication, and is reported in one line", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const unwritable = Effect.fail(
        new DepotUnusable({ attempt: "write", cause: new Error("no room"), advice: "Make some." })
      )
      yield* writeLakeIfEnabled({ ...layout, depot: { ...layout.depot, putFile: () => unwritable } }).pipe(
        withSetting("yes")
      )
      assert.deepStrictEqual(
        logs.filter((line) => line.startsWith("Warn")),
        ["Warn: the lake is not up to date, and the next run tries again: Cannot write: no room. Make some."]
      )
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
    })
  )
})
