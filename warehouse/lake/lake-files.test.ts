import { existsSync } from "node:fs"
import { readFile, utimes, writeFile } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyHistoryHome, copyMilkHome, failRun, lakeOf, prices, readMetrics } from "@larder/test/support/lake/homes.ts"
import { commitFileOf, listLakeFiles, logFolderOf } from "@larder/test/support/lake/reading.ts"
import { Effect } from "effect"
import { DuckDb, literal } from "../duckdb.ts"
import { putCheckpoint } from "./checkpoint.ts"
import { writeLake } from "./setting.ts"
import { readStored } from "./stored.ts"

const withMilk = copyMilkHome()
const withHistory = copyHistoryHome()

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
  itLive("include a hint to the last checkpoint, even if its writer was killed before it wrote the hint", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      const db = yield* DuckDb.memory
      const readPrices = Effect.map(
        readStored(layout.depot, db, layout.dir),
        ({ tables }) => tables.get(prices)?.newest
      )
      const newest = (yield* readPrices) ?? assert.fail()
      const depot = { ...layout.depot, putHint: () => Effect.void }
      yield* putCheckpoint(depot, db, prices, newest, 0, layout.dir)
      assert.deepStrictEqual(yield* readPrices, newest, "from the checkpoint")
      yield* writeLake(layout)
      const hint = path.join(logFolderOf(lakeOf(layout), prices), "_last_checkpoint")
      assert.deepInclude(JSON.parse(yield* Effect.promise(() => readFile(hint, "utf8"))), { version: 2 })
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
      const commit = yield* Effect.promise(() => readFile(commitFileOf(lake, table, 12), "utf8"))
      assert.match(commit, /"remove":\{"path":"0{18}11-/)
    })
  )
})
