import { randomUUID } from "node:crypto"
import { assert, describe } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, apples, pears, publishRows } from "@larder/test/support/warehouse/example-data-set.ts"
import { Duration, Effect, FileSystem, Path } from "effect"
import { objectName } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"

const sha256 = "ab".repeat(32)
/** Unfinished files that are only written under the lock of the files that users open. */
const nameFilesUnderLock = () => [
  `example.duckdb.${randomUUID()}.part`,
  `ingestion.duckdb.${randomUUID()}.building.${randomUUID()}.part`,
  `ingestion.duckdb.${randomUUID()}.building.${randomUUID()}.part.wal`,
  `larder.duckdb.${randomUUID()}.building`,
  `larder.duckdb.${randomUUID()}.building.wal`,
  `beside/${sha256}.building-${randomUUID()}`
]
/** Files that another process may still be writing. */
const nameFilesInUse = () => [
  `generations/.000000002.json.${randomUUID()}.part`,
  `objects/ab/.${sha256}.${randomUUID()}.part`,
  objectName(sha256),
  `.example.lock.${randomUUID()}.part`
]

const createFiles = Effect.fnUntraced(function* ({ dir }: Layout, names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of names) {
    yield* fs.makeDirectory(path.dirname(path.join(dir, name)), { recursive: true })
    yield* fs.writeFileString(path.join(dir, name), "")
  }
})
/** Runs as if it were later, including by the clock of the depot, which sets the times of stored files. */
const runLater = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  ahead: Duration.Input,
  run: Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const unnamed = objectName("cd".repeat(32))
  yield* createFiles(layout, [unnamed])
  const moment = new Date(Date.now() + Duration.toMillis(ahead))
  yield* fs.utimes(path.join(layout.dir, unnamed), moment, moment)
  return yield* withClockAhead(ahead)(run)
})
const findExisting = Effect.fnUntraced(function* ({ dir }: Layout, names: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* Effect.filter(names, (name) => fs.exists(path.join(dir, name)))
})

describe("files that killed runs left", () => {
  itLive("are removed by the next run: immediately if no active program can use them, otherwise after a day", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      const [unused, inUse] = [nameFilesUnderLock(), nameFilesInUse()]
      yield* createFiles(layout, [...unused, ...inUse])
      yield* publishRows(layout, { prices: [pears] })
      assert.deepStrictEqual(yield* findExisting(layout, unused), [])
      assert.deepStrictEqual(yield* findExisting(layout, inUse), inUse)
      yield* runLater(layout, "23 hours", publishRows(layout, { prices: [pears] }))
      assert.deepStrictEqual(yield* findExisting(layout, inUse), inUse)
      yield* runLater(layout, "25 hours", publishRows(layout, { prices: [pears] }))
      assert.deepStrictEqual(yield* findExisting(layout, inUse), [])
    })
  )
  itLive("are kept if another program may be writing them, even if the clock of a run is a year ahead", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishRows(layout, { prices: [apples] })
      const inUse = nameFilesInUse()
      yield* createFiles(layout, inUse)
      yield* publishRows(layout, { prices: [pears] }).pipe(withClockAhead("365 days"))
      assert.deepStrictEqual(yield* findExisting(layout, inUse), inUse)
    })
  )
  itLive("are only files that Larder wrote: files of users are kept", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const usersFiles = ["notes.duckdb", "half.duckdb.part", "building", "generations/readme.txt"]
      yield* createFiles(layout, usersFiles)
      yield* runLater(layout, "25 hours", publishRows(layout, { prices: [apples] }))
      assert.deepStrictEqual(yield* findExisting(layout, usersFiles), usersFiles)
    })
  )
})
