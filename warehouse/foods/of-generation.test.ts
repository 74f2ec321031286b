import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { labelsAlone, publishLabels } from "@larder/test/support/warehouse/label-rows.ts"
import { aLayout } from "@larder/test/support/warehouse/pantry.ts"
import { Effect, FileSystem } from "effect"
import { DuckDb } from "../duckdb.ts"
import { foodsOf } from "./of-generation.ts"

describe("missing files of branded foods", () => {
  itWorks("are made once when several open them at the same time, and are read-only", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishLabels(layout, [{ fdc_id: 1 }, { fdc_id: 2 }], labelsAlone)
      const file = yield* FileSystem.FileSystem.use((fs) => fs.realPath(layout.link))
      const db = yield* DuckDb.readOnly(file)
      const opened = yield* Effect.all(
        [1, 2, 3].map(() => foodsOf(layout, file, db)),
        { concurrency: "unbounded" }
      )
      for (const foods of opened) {
        assert.strictEqual(JSON.parse(foods.record(2) ?? "").fdc_id, 2)
        const page = yield* foods.search({}, undefined, 10)
        assert.strictEqual(page.records.length, 2)
      }
      assert.strictEqual(logs.filter((log) => log.includes("They are made again")).length, 1)
      const modes = readdirSync(`${file}.foods`).map((name) => statSync(join(`${file}.foods`, name)).mode & 0o777)
      assert.deepStrictEqual([...new Set(modes)], [0o444])
    })
  )
})
