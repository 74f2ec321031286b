import { cp, mkdir, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyHistoryHome, copyMilkHome, lakeOf, prices, readMetrics } from "@larder/test/support/lake/homes.ts"
import { commitFileOf, listLakeTables, logFolderOf, readGenerations } from "@larder/test/support/lake/reading.ts"
import { publishPrices } from "@larder/test/support/warehouse/every-data-set.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect } from "effect"
import { DepotUnusable } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"
import { writeLake } from "./setting.ts"

const withMilk = copyMilkHome()
const withHistory = copyHistoryHome()

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
        `DEPOT/lake contains lake/data/mine/table/_delta_log/00000000000000000000.json, which this version of Larder did not write, or which is damaged. ${remedy}`
      )
      assert.deepStrictEqual(listLakeTables(lakeOf(layout)), ["mine.table"])
      yield* Effect.promise(() => rm(lakeOf(layout), { recursive: true }))
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
    })
  )
  itLive("stays as it is if the last checkpoint of a log is damaged", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      const checkpoint = path.join(logFolderOf(lakeOf(layout), prices), "00000000000000000001.checkpoint.parquet")
      yield* Effect.promise(() => writeFile(checkpoint, "half a checkpoint"))
      assert.strictEqual(
        yield* errorMessage(layout),
        `DEPOT/lake contains lake/data/commodity/observation_version/_delta_log/00000000000000000001.checkpoint.parquet, which this version of Larder did not write, or which is damaged. ${remedy}`
      )
    })
  )
  itLive("stays as it is if a version is missing that its log needs", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      yield* Effect.promise(() => rm(commitFileOf(lakeOf(layout), prices, 1)))
      assert.strictEqual(
        yield* errorMessage(layout),
        `DEPOT/lake lacks lake/data/commodity/observation_version/_delta_log/00000000000000000001.json, unless another machine has just removed it: run again first. ${remedy}`
      )
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
      for (const table of ["ingest/generation", "commodity/observation"]) // their writer was killed
        yield* Effect.promise(() =>
          writeFile(path.join(lakeOf(layout), "data", table, `${"0".repeat(20)}-${"ab".repeat(32)}.parquet`), "rows")
        )
      const denied = new DepotUnusable({ attempt: "remove", cause: new Error("denied"), advice: "Allow it." })
      const remove = (names: ReadonlyArray<string>) => (names.length === 0 ? Effect.void : Effect.fail(denied))
      yield* publishPrices(layout, "cheese")
      yield* writeLake({ ...layout, depot: { ...layout.depot, remove } })
      for (const table of [prices, "commodity.observation", "ingest.generation"])
        assert.strictEqual(readGenerations(lakeOf(layout), table).at(-1), "larder-000004", table)
      const warnings = logs.filter((line) => line.startsWith("Warn"))
      assert.lengthOf(warnings, 2)
      assert.strictEqual(
        warnings[0]?.replaceAll(layout.dir, "DEPOT"),
        "Warn: outdated files of commodity.observation remain in the lake, and the next run tries again: Cannot remove: denied. Allow it. The table itself is up to date. Check that DEPOT/lake/data/commodity/observation/ has room, and that files in it can be written and deleted."
      )
    })
  )
})
