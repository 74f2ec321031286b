import { statSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  aRun,
  changeDatabase,
  pears,
  publishRows,
  queryWarehouse,
  rebuildExample
} from "@larder/test/support/warehouse/example-data-set.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect, FileSystem, Option } from "effect"
import { listObjectTimes } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"
import { makeGeneration, manifestName, readManifest } from "../generation/manifest.ts"
import { prune } from "../generation/retention.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { recordFailedRun, recordRun } from "../publishing/record.ts"
import { rollback } from "../publishing/rollback.ts"
import { writeRecordsOfRun } from "./records.ts"

const withApples = copyPerTest(Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples] })))

/** Enough failed runs that the parts of the first hundred generations are merged. */
const failedRuns = Array.from({ length: 103 }, (_, index) => `run ${String(index).padStart(3, "0")}`)
/** A run, a rebuild that repeated it, and the failed runs. */
const withMergedParts = copyPerTest(
  Effect.gen(function* () {
    const layout = yield* aLayout
    yield* publishRows(layout, { prices: [apples], rejects: ["as first read"] }, { run: { run_id: "apples" } })
    yield* rebuildExample(layout, { apples: { prices: [apples], rejects: ["as read again"] } })
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const file = `${folder}/records.gz`
    for (const run_id of failedRuns) {
      const run = aRun({ run_id, outcome: "failed" })
      yield* writeRecordsOfRun(file, { run, checks: [], leftOut: [], hasChangedData: false })
      yield* recordRun(layout, run, file, folder)
      yield* fs.remove(file)
    }
    return layout
  })
)
const recordFailure = (layout: Layout, run_id: string) =>
  recordFailedRun(layout, {
    run: aRun({ run_id, outcome: "failed", message: "the shop was closed", rows_read: null }),
    checks: [{ name: "cheap", severity: "error", bad_rows: 2, examples: "[1,2]", description: "all is cheap" }],
    leftOut: [{ feed: "shop", kind: "unreachable", reason: "closed" }]
  })
const listRuns = (layout: Layout) =>
  Effect.map(
    queryWarehouse(layout, "select run_id from ingest.run where outcome = 'failed' order by recorded_in"),
    (rows) => rows.map(({ run_id }) => run_id)
  )

describe("ingestion.duckdb", () => {
  itLive(
    "fails if it cannot be marked as written, so that a server reports it and does not write it again at each poll",
    () =>
      Effect.gen(function* () {
        const layout = yield* withApples
        const fs = yield* FileSystem.FileSystem
        yield* fs.remove(layout.markers, { recursive: true, force: true })
        yield* fs.writeFileString(layout.markers, "a file in place of the folder")
        const error = yield* Effect.flip(refreshOpened(layout))
        assert.include(error.message, layout.markers)
      })
  )

  itLive("has a failed run immediately, with its error, its checks and the feeds that it left out", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* recordFailure(layout, "one")
      assert.deepStrictEqual(
        yield* queryWarehouse(
          layout,
          "select run_id, outcome, generation, rows_read, message, recorded_in from ingest.run"
        ),
        [
          {
            run_id: "one",
            outcome: "failed",
            generation: null,
            rows_read: null,
            message: "the shop was closed",
            recorded_in: "larder-000001"
          }
        ]
      )
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select name, bad_rows::integer as bad_rows, examples from ingest.check_result"),
        [{ name: "cheap", bad_rows: 2, examples: "[1,2]" }]
      )
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select feed, kind, reason from ingest.left_out"), [
        { feed: "shop", kind: "unreachable", reason: "closed" }
      ])
    })
  )
  itLive("is replaced by each run, and is read-only", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const inodes: Array<number> = []
      for (const run of ["one", "two", "three", "four"]) {
        yield* recordFailure(layout, run)
        inodes.push(statSync(layout.ingestion).ino)
        assert.strictEqual(statSync(layout.ingestion).mode & 0o777, 0o444)
      }
      assert.isTrue(inodes.every((inode, index) => inode !== inodes[index - 1]))
      assert.deepStrictEqual(yield* listRuns(layout), ["one", "two", "three", "four"])
    })
  )
  itLive("does not change for a reader that has it open", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      yield* recordFailure(layout, "one")
      const reader = yield* otherProcess({ do: "read", file: layout.ingestion })
      assert.strictEqual(yield* reader.nextLine, "open")
      const count = reader.query("select count(*)::integer as runs from ingest.run")
      const before = yield* count
      for (const run of ["two", "three", "four"]) yield* recordFailure(layout, run)
      assert.deepStrictEqual(yield* count, before)
      assert.deepStrictEqual(yield* listRuns(layout), ["one", "two", "three", "four"])
    })
  )
  itLive("is written again from the parts if it is missing, incomplete or changed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withApples
      yield* recordFailure(layout, "one")
      yield* fs.remove(layout.ingestion)
      yield* refreshOpened(layout)
      assert.deepStrictEqual(yield* listRuns(layout), ["one"])
      yield* recordFailure(layout, "two")
      yield* fs.chmod(layout.ingestion, 0o644)
      yield* fs.writeFileString(layout.ingestion, "half of a file")
      yield* recordFailure(layout, "three")
      yield* fs.writeFileString(`${layout.ingestion}.wal`, "of a program that wrote to the file")
      yield* recordFailure(layout, "four")
      yield* changeDatabase(layout.ingestion, "create table ingest.foreign (i int); delete from ingest.run")
      yield* recordFailure(layout, "five")
      assert.deepStrictEqual(yield* listRuns(layout), ["one", "two", "three", "four", "five"])
      yield* Effect.flip(queryWarehouse(layout, "from ingest.foreign"))
    })
  )
  itLive(
    "drops the records of a generation whose manifest was removed, and the next run reads its payloads again",
    () =>
      Effect.gen(function* () {
        const layout = yield* withApples
        const fs = yield* FileSystem.FileSystem
        yield* publishRows(layout, { prices: [pears], rejects: ["of pears"] }, { run: { run_id: "lost" } })
        yield* fs.remove(`${layout.dir}/${manifestName(2)}`)
        const repeated = yield* publishRows(layout, { prices: [pears] }, { run: { run_id: "again" } })
        assert.deepInclude(repeated.run, { outcome: "published", rows_loaded: 1, generation: "larder-000002" })
        assert.deepStrictEqual(
          yield* queryWarehouse(layout, "select run_id from ingest.run where recorded_in = 'larder-000002'"),
          [{ run_id: "again" }]
        )
        assert.deepStrictEqual(yield* queryWarehouse(layout, "from ingest.reject"), [])
      })
  )
  itLive("keeps merged parts as long as a kept generation names them", () =>
    Effect.gen(function* () {
      const layout = yield* withMergedParts
      const merged = (yield* readManifest(layout.depot, 100))?.ingest.parts ?? []
      const arePresent = Effect.map(listObjectTimes(layout.depot), (objects) =>
        merged.map((part) => objects.has(part.sha256))
      )
      yield* prune(layout)
      assert.deepStrictEqual(new Set(yield* arePresent), new Set([true]))
      const { data_sets, event, ingest: newestIngest } = yield* requireNewest(layout.depot)
      const repeatNewest = () => Effect.succeed({ data_sets, event, ingest: newestIngest })
      for (let number = 106; number <= 200; number++) yield* makeGeneration(layout.depot, repeatNewest)
      yield* prune(layout)
      const [publishedPart, rebuildPart, ...failureParts] = yield* arePresent
      assert.deepStrictEqual([publishedPart, rebuildPart], [true, true]) // these generations are kept, because they published data
      assert.deepStrictEqual(new Set(failureParts), new Set([false]))
    })
  )
  itLive("has the same records whether the parts of a hundred generations and a rebuild are separate or merged", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withMergedParts
      const run_id = "apples"
      const { ingest } = yield* requireNewest(layout.depot)
      assert.deepStrictEqual(
        ingest.parts.map(({ first, last }) => [first, last]),
        [[1, 100], ...[101, 102, 103, 104, 105].map((number) => [number, number])]
      )
      assert.deepStrictEqual(yield* listRuns(layout), failedRuns)
      const reasons = queryWarehouse(layout, "select reason, run_id from ingest.reject")
      const readAll = Effect.all([
        queryWarehouse(layout, "select * from ingest.run join ingest.generation using (run_id) order by run_id"),
        reasons
      ])
      const before = yield* readAll
      assert.deepStrictEqual(before[1], [{ reason: "as read again", run_id }])
      yield* fs.remove(layout.ingestion)
      yield* refreshOpened(layout)
      assert.deepStrictEqual(yield* readAll, before)
      yield* rollback(layout, { to: Option.some(1), only: Option.none(), note: Option.none() })
      assert.deepStrictEqual(yield* reasons, [{ reason: "as first read", run_id }])
    })
  )
})
