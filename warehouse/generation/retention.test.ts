import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, apples, exampleIn, publishRows } from "@larder/test/support/warehouse/example-data-set.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect, type FileSystem, type Path } from "effect"
import { listObjectTimes } from "../depot/depot.ts"
import { prune } from "./retention.ts"

describe("pruning", () => {
  itLive("keeps a data set that another process publishes for the first time meanwhile", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
      const publishFirst = yield* Effect.cached(
        publishRows(layout, { prices: [apples] }, { target: exampleIn("cellar") }).pipe(
          Effect.provide(context),
          Effect.orDie
        )
      )
      const local = {
        ...layout.local,
        list: (prefix: string, after?: string) => layout.local.list(prefix, after).pipe(Effect.tap(publishFirst))
      }
      yield* prune({ ...layout, depot: local, local })
      const { data_sets } = yield* requireNewest(layout.local)
      const objects = yield* listObjectTimes(layout.local)
      const parts = data_sets.cellar?.parts ?? []
      assert.isNotEmpty(parts)
      for (const { sha256 } of parts) assert.isTrue(objects.has(sha256))
    })
  )
})
