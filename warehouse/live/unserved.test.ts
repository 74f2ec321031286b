/** Generations that a server cannot serve completely: the previous data is still served, and one log entry reports it. */
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { example, publishRows } from "@larder/test/support/warehouse/example-data-set.ts"
import {
  countDays,
  findDatabase,
  messageOf,
  publishDay,
  publishExamples,
  readExample,
  rollBack,
  rowsOfDay,
  waitUntil,
  watchExample
} from "@larder/test/support/warehouse/live-example.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { Effect, Exit, FileSystem, Scope } from "effect"
import type { Layout } from "../generation/layout.ts"
import { makeGeneration, manifestName } from "../generation/manifest.ts"
import { ingestVersion } from "../tables/ingest-tables.ts"
import type { LiveData } from "./open-data-sets.ts"

const { oneDay, publishElsewhere, isClosed } = publishExamples()

/** Counts how often a data set was opened, and how many are open. */
const makeCounter = () => {
  const count = { opened: 0, open: 0 }
  const load = ({ db }: LiveData) =>
    Effect.acquireRelease(
      Effect.tap(countDays(db), () => Effect.sync(() => [count.opened++, count.open++])),
      () => Effect.sync(() => count.open--)
    )
  return { count, load }
}
/** Makes a generation of day 2 that cannot be served, because its parts are missing. */
const publishBroken = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const other = yield* oneDay
  yield* publishDay(other, 2)
  const text = yield* fs.readFileString(`${other.dir}/${manifestName(2)}`)
  yield* fs.writeFileString(`${layout.dir}/${manifestName(2)}`, text)
})

describe("a new generation that cannot be served", () => {
  itLive("is skipped with one log entry, and a later usable one is served", (logs) =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      yield* publishBroken(layout)
      const findWarnings = () =>
        logs.filter((line) => line.includes("example of larder-000002 cannot be served; larder-000001 is still served"))
      yield* waitUntil(() => findWarnings().length > 0)
      assert.strictEqual(live.fault(), "example of larder-000002 cannot be served")
      assert.strictEqual(yield* readExample(live, countDays), 1)
      yield* Effect.sleep("600 millis")
      assert.strictEqual(findWarnings().length, 1)
      yield* Effect.exit(rollBack(layout, 1)) // warns that the records of that generation are lost
      yield* waitUntil(() => live.fault() === undefined)
      assert.strictEqual(yield* readExample(live, countDays), 1)
    })
  )
  itLive("is closed again when it cannot be loaded", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      let loads = 0
      const live = yield* watchExample(layout, ({ db }) =>
        Effect.flatMap(countDays(db), (days) => {
          loads++
          return days === 2 ? Effect.die("two days are one too many") : Effect.succeed(days)
        })
      )
      yield* publishElsewhere(layout, 2)
      yield* waitUntil(() => loads === 2)
      assert.isTrue(yield* isClosed(yield* findDatabase(layout, 2)))
      assert.strictEqual(live.current().model.days, 1)
    })
  )
  itLive("is skipped if a newer version published its tables, until the server is updated", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      const newer = { ...example, dataSet: { ...example.dataSet, version: example.dataSet.version + 1 } }
      yield* publishRows(layout, rowsOfDay(2), { target: newer })
      yield* waitUntil(() => live.fault() !== undefined)
      const reason = messageOf(yield* Effect.flip(watchExample(layout)))
      assert.match(
        reason,
        /tables of version 2, and this version .* up to 1\. Update Larder on this machine, servers first\.$/
      )
      assert.strictEqual(live.fault(), `example of larder-000002 cannot be served (${reason})`)
      assert.strictEqual(yield* readExample(live, countDays), 1)
    })
  )
  itLive("is retried once a minute if no model can be built from it, and stays closed between attempts", (logs) =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const { count, load } = makeCounter()
      const live = yield* watchExample(layout, load, (days) => days !== 2)
      yield* publishElsewhere(layout, 2)
      yield* waitUntil(() => live.fault() !== undefined)
      yield* Effect.sleep("600 millis")
      assert.deepStrictEqual(count, { opened: 2, open: 1 })
      assert.strictEqual(logs.filter((line) => line.includes("larder-000001 is still served")).length, 1)
      assert.strictEqual(yield* readExample(live, countDays), 1)
      yield* publishElsewhere(layout, 3)
      yield* waitUntil(() => live.swaps() === 1)
      assert.deepStrictEqual([live.current().model.days, live.fault(), count.open], [3, undefined, 1])
    })
  )
  itLive("is served with the open records if its own cannot be opened, with one warning", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      yield* publishDay(layout, 2)
      const { count, load } = makeCounter()
      const live = yield* watchExample(layout, load)
      yield* fs.remove(layout.ingestion)
      yield* fs.makeDirectory(`${layout.ingestion}/not a database`, { recursive: true })
      yield* rollBack(layout, 1)
      yield* waitUntil(() => live.swaps() === 1)
      yield* Effect.sleep("600 millis")
      assert.deepStrictEqual([live.current().id, live.current().model], ["larder-000003", { days: 1, runs: 2 }])
      assert.deepStrictEqual(count, { opened: 2, open: 1 })
      const warnings = logs.filter((line) => line.includes("the records of larder-000003 cannot be opened"))
      assert.strictEqual(warnings.length, 1)
    })
  )
  itLive("is served with the open records if a newer version wrote its own, with one warning", (logs) =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      let models = 0
      const live = yield* watchExample(layout, undefined, () => ++models > 0)
      yield* makeGeneration(layout.depot, (base) => {
        const { data_sets, event, ingest } = base ?? assert.fail()
        return Effect.succeed({ event, data_sets, ingest: { ...ingest, schema: ingest.schema + 1 } })
      })
      yield* waitUntil(() => live.current().id === "larder-000002")
      yield* Effect.sleep("600 millis")
      assert.strictEqual(models, 2)
      const warnings = logs.filter((line) =>
        line.includes(`schema ingest was published with tables of version ${ingestVersion + 1}`)
      )
      assert.strictEqual(warnings.length, 1)
    })
  )
  itLive(
    "is served, and the server can be stopped, while a stuck program holds the lock of the files that people open",
    () =>
      Effect.gen(function* () {
        const layout = yield* oneDay
        const scope = yield* Scope.make()
        const live = yield* Scope.provide(watchExample(layout), scope)
        const stuck = yield* otherProcess({ do: "hold", file: layout.openedLock })
        yield* stuck.nextLine
        const publisher = yield* otherProcess({ do: "publish", home: layout.home, found: rowsOfDay(2) }) // waits for the stuck one
        yield* waitUntil(() => live.swaps() === 1)
        assert.deepStrictEqual([live.current().id, live.current().model], ["larder-000002", { days: 2, runs: 1 }])
        yield* Scope.close(scope, Exit.void)
        yield* stuck.kill("SIGKILL")
        assert.strictEqual(yield* publisher.nextLine, "larder-000002")
      })
  )
  itLive("is logged once when its manifest cannot be read, and the old one is still served", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      const live = yield* watchExample(layout)
      yield* fs.writeFileString(`${layout.dir}/${manifestName(2)}`, "half a")
      const findWarnings = () =>
        logs.filter((line) => line.includes("the newest generation cannot be read; larder-000001 is still served"))
      yield* waitUntil(() => findWarnings().length > 0)
      assert.strictEqual(live.fault(), "the newest generation cannot be read")
      yield* Effect.sleep("600 millis")
      assert.strictEqual(findWarnings().length, 1)
      assert.strictEqual(yield* readExample(live, countDays), 1)
      yield* fs.remove(`${layout.dir}/${manifestName(2)}`)
      yield* publishDay(layout, 2)
      yield* waitUntil(() => live.swaps() === 1)
      assert.strictEqual(live.fault(), undefined)
    })
  )
})
