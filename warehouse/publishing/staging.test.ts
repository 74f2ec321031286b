import { assert, describe } from "@effect/vitest"
import type { RunRecord } from "@larder/schemas"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, aRun, example } from "@larder/test/support/warehouse/example-data-set.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { Effect, Exit, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { removeAbandoned, stage } from "./staging.ts"

const price = { item: "apple", price: "1.2500", seen_on: "2026-01-05", run_id: "r" }
const listNames = (layout: Layout) =>
  Effect.map(
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(layout.staging)),
    (names) => names.sort()
  )
/** Removes the files of killed runs, and returns these runs. */
const removeKilledRuns = Effect.fnUntraced(function* (layout: Layout) {
  const killed: Array<RunRecord> = []
  yield* removeAbandoned(layout, (run) => Effect.sync(() => killed.push(run)))
  return killed
})

describe("a staging file", () => {
  itLive("contains the added rows until the scope ends, then is deleted", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { filled, staged } = yield* stage(layout, aRun({ run_id: "run" }), example.dataSet, (staging) =>
            Effect.as(staging.add(example.price, [price, { ...price, item: "pear" }]), "filled")
          )
          assert.strictEqual(filled, "filled")
          assert.deepStrictEqual(yield* staged.db.rows("select item, price from example.price"), [
            { item: "apple", price: "1.2500" },
            { item: "pear", price: "1.2500" }
          ])
        })
      )
      assert.deepStrictEqual(yield* listNames(layout), [])
    })
  )
  itLive("is also deleted after a failure, and the failure is reported", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const error = yield* Effect.flip(
        Effect.scoped(
          stage(layout, aRun({ run_id: "run" }), example.dataSet, (staging) =>
            staging.add(example.price, [{ ...price, price: "N/A" }])
          )
        )
      )
      assert.match(error.message, /"N\/A".*append to example\.price/)
      assert.deepStrictEqual(yield* listNames(layout), [])
    })
  )
})

describe("files of killed runs", () => {
  itLive("are removed by the next run, with everything else in the staging folder", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* fs.makeDirectory(`${layout.staging}/killed/rows.duckdb.tmp`, { recursive: true })
      yield* Effect.scoped(DuckDb.readWrite(`${layout.staging}/killed/.lock`))
      yield* fs.writeFileString(`${layout.staging}/killed/rows.duckdb.wal`, "half")
      yield* fs.makeDirectory(`${layout.staging}/killed-at-once`)
      yield* fs.makeDirectory(`${layout.staging}/damaged`)
      yield* fs.writeFileString(`${layout.staging}/damaged/.lock`, "no database")
      yield* fs.writeFileString(`${layout.staging}/stray.txt`, "stray")
      assert.deepStrictEqual(yield* removeKilledRuns(layout), [])
      const result = yield* Effect.scoped(
        stage(layout, aRun({ run_id: "run" }), example.dataSet, () => listNames(layout))
      )
      assert.deepStrictEqual(result.filled, ["run"])
    })
  )
  itLive("are removed after SIGKILL, but not while their run is active in another process", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* fs.makeDirectory(`${layout.staging}/other`, { recursive: true })
      const other = yield* otherProcess({ do: "hold", file: `${layout.staging}/other/.lock` })
      assert.strictEqual(yield* other.nextLine, "held")
      const otherRun = aRun({ run_id: "other" })
      yield* fs.writeFileString(`${layout.staging}/other/run.json`, JSON.stringify(otherRun))
      const staged = stage(layout, aRun({ run_id: "run" }), example.dataSet, () => listNames(layout))
      assert.deepStrictEqual(yield* removeKilledRuns(layout), [])
      assert.deepStrictEqual((yield* Effect.scoped(staged)).filled, ["other", "run"])
      yield* other.kill("SIGKILL")
      assert.deepStrictEqual(yield* removeKilledRuns(layout), [otherRun])
      assert.deepStrictEqual((yield* Effect.scoped(staged)).filled, ["run"])
    })
  )
  itLive("are kept while their run in this process waits to publish", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const { staged } = yield* stage(layout, aRun({ run_id: "first" }), example.dataSet, (staging) =>
        staging.add(example.price, [price])
      )
      assert.deepStrictEqual(yield* removeKilledRuns(layout), [])
      const second = yield* Effect.exit(
        Effect.scoped(stage(layout, aRun({ run_id: "second" }), example.dataSet, () => Effect.void))
      )
      assert.isTrue(Exit.isSuccess(second))
      assert.strictEqual((yield* staged.db.rows("from example.price")).length, 1)
    })
  )
})
