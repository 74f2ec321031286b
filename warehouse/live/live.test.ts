import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aLayout, aRun, exampleIn, publishRows } from "@larder/test/support/warehouse/example-data-set.ts"
import {
  countDays,
  findDatabase,
  messageOf,
  priceOfDay,
  publishDay,
  publishExamples,
  readExample,
  rollBack,
  waitUntil,
  watchExample
} from "@larder/test/support/warehouse/live-example.ts"
import { Deferred, Effect, Exit, Fiber, FileSystem, Scope } from "effect"
import { NoWarehouse } from "../generation/layout.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { recordFailedRun } from "../publishing/record.ts"

const { oneDay, publishElsewhere, isClosed } = publishExamples()

describe("the live data", () => {
  itLive("changes when a generation with different data is made, and changes back after a rollback", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      assert.deepStrictEqual([live.current().id, live.current().model.days, live.swaps()], ["larder-000001", 1, 0])
      yield* publishDay(layout, 2)
      yield* waitUntil(() => live.swaps() === 1)
      assert.deepStrictEqual([live.current().id, live.current().model.days], ["larder-000002", 2])
      assert.strictEqual(yield* readExample(live, countDays), 2)
      yield* rollBack(layout, 1)
      yield* waitUntil(() => live.swaps() === 2)
      assert.deepStrictEqual([live.current().id, live.current().model.days], ["larder-000003", 1])
      assert.strictEqual(live.current().entries.example?.changed_in, 3)
    })
  )
  itLive("keeps the data and everything loaded from it open when a run found nothing new", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      let loads = 0
      const live = yield* watchExample(layout, ({ db }) => Effect.tap(countDays(db), () => Effect.sync(() => loads++)))
      const db = live.current().dataSet("example")
      yield* publishDay(layout, 1)
      yield* waitUntil(() => live.current().model.runs === 2)
      assert.deepStrictEqual([loads, live.swaps(), live.current().id], [1, 0, "larder-000002"])
      assert.strictEqual(live.current().dataSet("example"), db)
      assert.strictEqual(live.current().entries.example?.changed_in, 1)
    })
  )
  itLive("has the records of a run once another program has written them, if the server cannot write them", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const unwritable = { ...layout, openedLock: "/dev/null/lock" }
      const live = yield* watchExample(unwritable)
      const ingest = live.current().ingest
      yield* recordFailedRun(unwritable, { run: aRun({ outcome: "failed" }), checks: [], leftOut: [] })
      yield* waitUntil(() => live.current().id === "larder-000002")
      assert.deepStrictEqual([live.current().model.runs, live.current().ingest === ingest], [1, true])
      yield* refreshOpened(layout)
      yield* waitUntil(() => live.current().model.runs === 2)
    })
  )
  itLive("keeps the data open when another data set changes", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      const db = live.current().dataSet("example")
      yield* publishRows(layout, { prices: [{ item: "wine", price: "9" }] }, { target: exampleIn("cellar") })
      yield* waitUntil(() => live.current().id === "larder-000002")
      assert.strictEqual(live.current().dataSet("example"), db)
    })
  )
  itLive("stays open until its readers are done, and is then closed", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      const resume = yield* Deferred.make<void>()
      const reader = yield* Effect.forkChild(
        readExample(live, (db, _, id) =>
          Effect.gen(function* () {
            const before = yield* countDays(db)
            yield* Deferred.await(resume)
            return [id, before, yield* countDays(db), yield* priceOfDay(db)]
          })
        ),
        { startImmediately: true }
      )
      yield* publishElsewhere(layout, 2)
      yield* waitUntil(() => live.swaps() === 1)
      const old = yield* findDatabase(layout, 1)
      assert.isFalse(yield* isClosed(old))
      yield* Deferred.succeed(resume, undefined)
      assert.deepStrictEqual(yield* Fiber.join(reader), ["larder-000001", 1, 1, 1])
      assert.isTrue(yield* isClosed(old))
      assert.isFalse(yield* isClosed(yield* findDatabase(layout, 2)))
    })
  )
  itLive("is closed after its last reader, even if a reader failed or was interrupted", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      yield* Effect.flip(live.use(() => Effect.fail("no")))
      yield* Effect.exit(live.use(() => Effect.die("a bug")))
      const endless = yield* Effect.forkChild(
        live.use(() => Effect.never),
        { startImmediately: true }
      )
      yield* publishElsewhere(layout, 2)
      yield* waitUntil(() => live.swaps() === 1)
      const old = yield* findDatabase(layout, 1)
      assert.isFalse(yield* isClosed(old))
      yield* Fiber.interrupt(endless)
      assert.isTrue(yield* isClosed(old))
    })
  )
  itLive("is closed with its scope, but only after its last reader", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const scope = yield* Scope.make()
      const live = yield* Scope.provide(watchExample(layout), scope)
      const resume = yield* Deferred.make<void>()
      const reader = yield* Effect.forkChild(
        readExample(live, (db) => Effect.andThen(Deferred.await(resume), countDays(db))),
        { startImmediately: true }
      )
      yield* Scope.close(scope, Exit.void)
      const file = yield* findDatabase(layout, 1)
      assert.isFalse(yield* isClosed(file))
      yield* Deferred.succeed(resume, undefined)
      assert.strictEqual(yield* Fiber.join(reader), 1)
      assert.isTrue(yield* isClosed(file))
    })
  )
  itLive("must exist at the start", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      assert.instanceOf(yield* Effect.flip(watchExample(layout)), NoWarehouse)
    })
  )
  itLive("is not served at the start if it was changed after it was published, and the message says what to do", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      const file = yield* findDatabase(layout, 1)
      yield* fs.chmod(file, 0o644)
      const bytes = yield* fs.readFile(file)
      yield* fs.writeFile(file, bytes.fill(7, bytes.length - 10))
      const error = yield* Effect.flip(watchExample(layout))
      assert.match(
        messageOf(error),
        /example\.duckdb of example \(.*\) was changed after it was published: its SHA-256 differs\. .*rebuild example/
      )
    })
  )
})

describe("reads during several swaps", () => {
  itLive("never fail or mix generations, and the old data is closed", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      const reads = new Map<number, number>()
      let isPublishing = true
      const read = readExample(live, (db, model) =>
        Effect.gen(function* () {
          const days = yield* countDays(db)
          yield* Effect.sleep("10 millis")
          const price = yield* priceOfDay(db)
          assert.deepStrictEqual([days, price], [model, model])
          reads.set(model, (reads.get(model) ?? 0) + 1)
        })
      )
      const readers = yield* Effect.forEach(Array.from({ length: 4 }), () =>
        Effect.forkChild(Effect.repeat(read, { while: () => isPublishing }))
      )
      for (let day = 2; day <= 4; day++) {
        yield* publishElsewhere(layout, day)
        yield* waitUntil(() => reads.has(day))
      }
      isPublishing = false
      yield* Effect.forEach(readers, (reader) => Fiber.join(reader))
      assert.deepStrictEqual([...reads.keys()].sort(), [1, 2, 3, 4])
      for (let day = 1; day <= 3; day++) assert.isTrue(yield* isClosed(yield* findDatabase(layout, day)))
    })
  )
})
