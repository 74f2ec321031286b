import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { everyDataSet } from "@larder/test/support/warehouse/every-data-set.ts"
import { analysing } from "@larder/test/support/warehouse/seen.ts"
import { Effect, FileSystem } from "effect"
import { layoutOf } from "../generation/layout.ts"
import { refreshOpened } from "./opened-files.ts"

const prices = (file: string) =>
  Effect.scoped(
    Effect.flatMap(analysing(file), (db) => db.rows("select count(*)::integer as prices from commodity.price"))
  )

describe("the files that people open", () => {
  itWorks("lead to their own folder after it was moved", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { layout } = yield* everyDataSet
      const before = yield* prices(layout.catalogue)
      const moved = yield* layoutOf(`${layout.home}-moved`)
      yield* Effect.acquireRelease(fs.rename(layout.home, moved.home), () =>
        Effect.orDie(fs.remove(moved.home, { recursive: true }))
      )
      yield* Effect.flip(prices(moved.catalogue))
      yield* refreshOpened(moved)
      assert.deepStrictEqual(yield* prices(moved.catalogue), before)
      yield* fs.makeDirectory(layout.home) // removed with the scope
    })
  )
  itWorks("are brought up where a run was killed before it wrote the catalogue", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { layout } = yield* everyDataSet
      const before = yield* prices(layout.catalogue)
      yield* fs.remove(layout.catalogue)
      yield* fs.copy(layout.dataSetFile("storefronts"), layout.catalogue) // of whatever came before
      yield* refreshOpened(layout)
      assert.deepStrictEqual(yield* prices(layout.catalogue), before)
    })
  )
})
