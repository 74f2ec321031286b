import { mkdirSync, rmSync, statSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, apples, publishRows } from "@larder/test/support/warehouse/example-data-set.ts"
import { Duration, Effect, FileSystem, Schedule } from "effect"
import { folderDepot } from "../depot/folder.ts"
import { layoutOf } from "../generation/layout.ts"
import { listNumbers } from "../generation/manifest.ts"
import { followDepot } from "./follow.ts"

const aMachine = (depot: string) => Effect.flatMap(aLayout, ({ home }) => layoutOf(home, folderDepot(depot)))

describe("a server that follows a depot", () => {
  itLive("counts a pull once, and is not at fault, if only the files that people open cannot be updated", () =>
    Effect.gen(function* () {
      const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-depot-" }))
      const [publisher, server] = [yield* aMachine(folder), yield* aMachine(folder)]
      yield* publishRows(publisher, { prices: [apples] })
      mkdirSync(path.join(server.catalogue, "in the way"), { recursive: true })
      const { fault, pulls } = yield* followDepot(server, Duration.millis(10))
      assert.deepStrictEqual(yield* listNumbers(server.local), [1])
      assert.deepInclude(pulls(), { failed: 0 })
      assert.isUndefined(fault())

      rmSync(server.catalogue, { recursive: true })
      const isWritten = Effect.sync(() => statSync(server.catalogue, { throwIfNoEntry: false })?.isFile() === true)
      yield* Effect.repeat(isWritten, { until: (written) => written, schedule: Schedule.spaced("10 millis") })
      assert.deepInclude(pulls(), { failed: 0 })
    })
  )
})
