import { link, utimes } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import {
  aLayout,
  apples,
  changeDatabase,
  pears,
  publishRows,
  queryWarehouse
} from "@larder/test/support/warehouse/example-data-set.ts"
import { requireNewest } from "@larder/test/support/warehouse/require-newest.ts"
import { Effect, Fiber, FileSystem } from "effect"
import { putObject } from "../depot/depot.ts"
import type { Layout } from "./layout.ts"
import { findFault, identifyFile } from "./parts.ts"

const withApples = copyPerTest(Effect.tap(aLayout, (layout) => publishRows(layout, { prices: [apples] })))
const findDatabase = Effect.fnUntraced(function* (layout: Layout) {
  const manifest = yield* requireNewest(layout.depot)
  const [part] = manifest.data_sets.example?.parts ?? []
  return part === undefined ? yield* Effect.die("no part") : { part, file: layout.objectFile(part.sha256) }
})

describe("a part", () => {
  itLive("is verified once by reading it, and then recognised by size, inode and time", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withApples
      const { file, part } = yield* findDatabase(layout)
      const published = new Date("2026-01-05T10:00:00Z")
      yield* Effect.promise(() => utimes(file, published, published))
      assert.isUndefined(yield* findFault(layout, part))
      yield* Effect.promise(() => link(file, path.join(layout.dir, "another name"))) // sets its change time
      const bytes = yield* fs.readFile(file)
      yield* fs.chmod(file, 0o644)
      yield* fs.writeFile(file, bytes.fill(7, bytes.length - 8))
      yield* Effect.promise(() => utimes(file, published, published))
      assert.isUndefined(yield* findFault(layout, part)) // only a forger restores the modification time
      yield* Effect.promise(() => utimes(file, new Date(), new Date()))
      assert.strictEqual(yield* findFault(layout, part), "was changed after it was published: its SHA-256 differs")
    })
  )
  itLive("is not used by a run after it was changed, and the run says what to do", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const { file } = yield* findDatabase(layout)
      yield* changeDatabase(file, "create table example.foreigner (i int)")
      const error = yield* Effect.flip(publishRows(layout, { prices: [pears] }))
      assert.match(
        error.message,
        /^example\.duckdb of example \(.*\) (has \d+ bytes, but was published with \d+|was changed after it was published: its SHA-256 differs)\. It is not used\. Rebuild it from the raw archive with: npx larder-ingest rebuild example; or go back with: npx larder-ingest rollback --only example$/
      )
      assert.strictEqual((yield* requireNewest(layout.depot)).number, 1)
    })
  )
  itLive("is reported as missing by a run, but not before", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withApples
      const { file } = yield* findDatabase(layout)
      yield* fs.remove(file)
      const error = yield* Effect.flip(publishRows(layout, { prices: [pears] }))
      assert.match(error.message, /^example\.duckdb of example \(.*\) is missing\./)
      assert.deepStrictEqual(yield* queryWarehouse(layout, "select item from example.price"), [{ item: "apple" }])
    })
  )
  itLive("is read again the next time if it changed while it was read", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      const folder = yield* fs.makeTempDirectoryScoped()
      const file = path.join(folder, "large")
      yield* fs.writeFile(file, new Uint8Array(64 << 20))
      const object = yield* identifyFile(file)
      yield* putObject(layout.depot, object, file)
      yield* fs.chmod(file, 0o644)
      const reading = yield* Effect.forkChild(findFault(layout, object), { startImmediately: true })
      const opened = yield* fs.open(file, { flag: "r+" })
      yield* opened.write(new Uint8Array([1]))
      yield* Fiber.join(reading)
      assert.strictEqual(yield* findFault(layout, object), "was changed after it was published: its SHA-256 differs")
    })
  )
  itLive("is reported with the system's reason, not as missing, if it cannot be read", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withApples
      const { file, part } = yield* findDatabase(layout)
      yield* fs.remove(file)
      yield* fs.symlink(file, file)
      assert.match((yield* findFault(layout, part)) ?? "", /^cannot be read: ELOOP: too many symbolic links/)
    })
  )
})
