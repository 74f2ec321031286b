import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { openAsAnalyst } from "@larder/test/support/warehouse/analyst.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import { makeEveryDataSet, publishPrices } from "@larder/test/support/warehouse/every-data-set.ts"
import { Effect, FileSystem } from "effect"
import { layoutOf } from "../generation/layout.ts"
import { refreshOpened } from "./opened-files.ts"

const countPrices = (file: string) =>
  Effect.scoped(
    Effect.flatMap(openAsAnalyst(file), (db) =>
      db.rows("select count(*)::integer as prices from commodity.observation")
    )
  )

const withEveryDataSet = Effect.tap(copyPerTest(Effect.map(makeEveryDataSet, ({ layout }) => layout)), (layout) =>
  refreshOpened(layout)
)

describe("the files that people open", () => {
  itLive("refer to their own folder after it was moved", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withEveryDataSet
      const before = yield* countPrices(layout.catalogue)
      const moved = yield* layoutOf(`${layout.home}-moved`)
      yield* Effect.acquireRelease(fs.rename(layout.home, moved.home), () =>
        Effect.orDie(fs.remove(moved.home, { recursive: true }))
      )
      yield* Effect.flip(countPrices(moved.catalogue))
      yield* refreshOpened(moved)
      assert.deepStrictEqual(yield* countPrices(moved.catalogue), before)
      yield* fs.makeDirectory(layout.home) // removed with the scope
    })
  )
  itLive("show the live data to an open session, and a constant state within a transaction", () =>
    Effect.gen(function* () {
      const layout = yield* withEveryDataSet
      const db = yield* openAsAnalyst(layout.catalogue)
      const countPrices = () =>
        Effect.map(db.rows("select metric_name from commodity.observation order by all"), (rows) => rows.length)
      assert.strictEqual(yield* countPrices(), 2)
      yield* db.run("begin")
      assert.strictEqual(yield* countPrices(), 2)
      for (const metric of ["whey", "cheese", "casein", "cream", "curd", "skim"]) yield* publishPrices(layout, metric)
      assert.strictEqual(yield* countPrices(), 2) // although these parts are no longer kept
      yield* db.run("commit")
      assert.strictEqual(yield* countPrices(), 8)
    })
  )
  itLive("are updated after a run was killed before it wrote the catalogue", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withEveryDataSet
      const before = yield* countPrices(layout.catalogue)
      yield* fs.remove(layout.catalogue)
      yield* fs.copy(layout.dataSetFile("storefronts"), layout.catalogue) // any other database
      yield* refreshOpened(layout)
      assert.deepStrictEqual(yield* countPrices(layout.catalogue), before)
    })
  )
})
