import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  aLayout,
  apples,
  aRun,
  listFiles,
  publishRows,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect, FileSystem } from "effect"
import { recordKilledRuns } from "./record.ts"

describe("a killed run", () => {
  itLive("loses its rows immediately if it cannot be recorded, and is recorded once by a later run", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] }, { run: { run_id: "before" } })
      const folder = `${layout.staging}/killed`
      yield* fs.makeDirectory(folder)
      yield* fs.writeFileString(`${folder}/rows.duckdb`, "many rows")
      yield* fs.writeFileString(`${folder}/.lock`, "half a lock")
      const runText = JSON.stringify(aRun({ run_id: "killed" }))
      yield* fs.writeFileString(`${folder}/run.json`, runText)
      const objects = `${layout.dir}/objects`
      yield* fs.rename(objects, `${objects}-away`)
      yield* fs.writeFileString(objects, "a file where the folder should be")
      yield* recordKilledRuns(layout)
      assert.match(logs.join("\n"), /^Warn: the next run records the killed run killed: .*objects/m)
      assert.deepStrictEqual(yield* listFiles(folder), [".lock", "run.json"])
      yield* fs.remove(objects)
      yield* fs.rename(`${objects}-away`, objects)
      yield* recordKilledRuns(layout)
      assert.deepStrictEqual(yield* listFiles(layout.staging), [])
      yield* fs.makeDirectory(folder) // as if the run that recorded it was killed before it removed the folder
      yield* fs.writeFileString(`${folder}/run.json`, runText)
      yield* recordKilledRuns(layout)
      assert.deepStrictEqual(yield* listFiles(layout.staging), [])
      assert.deepStrictEqual(
        yield* queryWarehouse(layout, "select run_id, outcome from ingest.run order by recorded_in"),
        [
          { run_id: "before", outcome: "published" },
          { run_id: "killed", outcome: "interrupted" }
        ]
      )
    })
  )
})
