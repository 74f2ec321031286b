import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { onceForFile } from "@larder/test/support/once-for-file.ts"
import { copied } from "@larder/test/support/warehouse/copied-home.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { aLayout, aRun, pantry, pantryIn, publishFound } from "@larder/test/support/warehouse/pantry.ts"
import { Deferred, Effect, Exit, Fiber, FileSystem, Option, Schema, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type Layout, NoWarehouse } from "../generation/layout.ts"
import { makeGeneration, manifestName, readManifest } from "../generation/manifest.ts"
import { writeRecordsOfRun } from "../ingestion/records.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { recordRun } from "../publishing/record.ts"
import { rollback } from "../publishing/rollback.ts"
import { type LiveData, watchLive } from "./live.ts"

const Days = Schema.Struct({ days: Schema.Int })
const countDays = (db: DuckDb["Service"]) =>
  Effect.map(db.all(Days, "select count(*)::integer as days from pantry.delivery"), ([row]) => row?.days ?? 0)
const priceOfDay = (db: DuckDb["Service"]) =>
  Effect.map(
    db.all(Days, "select price::integer as days from pantry.price where item = $item", { item: "day" }),
    ([row]) => row?.days
  )
const countRuns = (ingest: DuckDb["Service"]) =>
  Effect.map(ingest.all(Days, "select count(*)::integer as days from ingest.run"), ([row]) => row?.days ?? 0)

interface Model {
  readonly days: number
  readonly runs: number
}

/** The model is the number of days, loaded when the data changes, and that of runs, of which every generation has one more. */
const watch = (
  layout: Layout,
  load: (data: LiveData) => Effect.Effect<number, unknown, Scope.Scope> = ({ db }) => countDays(db),
  isModel: (days: number) => boolean = () => true
) =>
  watchLive(layout, {
    dataSets: { pantry: { of: pantry.dataSet, load } },
    assemble: ({ pantry: days = 0 }: { readonly pantry?: number }, _, ingest) =>
      isModel(days)
        ? Effect.map(countRuns(ingest), (runs): Model => ({ days, runs }))
        : Effect.fail(`${days} days make no model`)
  })
/** Counts how often a data set was opened, and how many are open. */
const counting = () => {
  const count = { opened: 0, open: 0 }
  const load = ({ db }: LiveData) =>
    Effect.acquireRelease(
      Effect.tap(countDays(db), () => Effect.sync(() => [count.opened++, count.open++])),
      () => Effect.sync(() => count.open--)
    )
  return { count, load }
}
type Watched = Effect.Success<ReturnType<typeof watch>>
const inPantry = <A, E>(
  live: Watched,
  read: (db: DuckDb["Service"], days: number, id: string) => Effect.Effect<A, E>
) =>
  live.use(({ dataSet, id, model }) => {
    const db = dataSet("pantry")
    return db === undefined ? Effect.die("not loaded") : read(db, model.days, id)
  })

/** The file of what a generation made. */
const databaseOf = Effect.fnUntraced(function* (layout: Layout, number: number) {
  const manifest = Option.getOrThrow(yield* readManifest(layout.depot, number))
  return layout.objectFile(manifest.data_sets.pantry?.parts[0]?.sha256 ?? "")
})
const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))
const back = (layout: Layout, to?: number) =>
  rollback(layout, { to: Option.fromNullishOr(to), only: Option.none(), note: Option.none() })

/** In a generation of day n there are n deliveries, and the price is n. */
const dayOf = (day: number) => ({
  deliveries: [{ item: `day ${day}` }],
  prices: [{ item: "day", price: `${day}` }]
})
const publishDay = (layout: Layout, day: number) => publishFound(layout, dayOf(day))
const oneDay = copied(Effect.tap(aLayout, (layout) => publishDay(layout, 1)))
/**
 * By another process, as in life. One that closes a file gives up all its locks on it, also those of other instances: after
 * a publication in this process, nobody could tell any more whether the server holds the generation.
 */
const elsewhere = onceForFile(otherProcess({ do: "obey" }))
const publishElsewhere = (layout: Layout, day: number) =>
  Effect.flatMap(elsewhere, ({ order }) => order({ do: "publish", home: layout.home, found: dayOf(day) }))

const until = (holds: () => boolean) =>
  Effect.gen(function* () {
    while (!holds()) yield* Effect.sleep("10 millis")
  })

/** Whether this process has closed a generation: only then another one may open it for writing. */
const isClosed = Effect.fnUntraced(function* (file: string) {
  yield* FileSystem.FileSystem.use((fs) => fs.chmod(file, 0o644))
  const { order } = yield* elsewhere
  return (yield* order({ do: "try", file })) === "free"
})

describe("what is live", () => {
  itWorks("changes when a generation with other data is made, and changes back after a rollback", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch(layout)
      assert.deepStrictEqual([live.current().id, live.current().model.days, live.swaps()], ["larder-000001", 1, 0])
      yield* publishDay(layout, 2)
      yield* until(() => live.swaps() === 1)
      assert.deepStrictEqual([live.current().id, live.current().model.days], ["larder-000002", 2])
      assert.strictEqual(yield* inPantry(live, countDays), 2)
      yield* back(layout, 1)
      yield* until(() => live.swaps() === 2)
      assert.deepStrictEqual([live.current().id, live.current().model.days], ["larder-000003", 1])
      assert.strictEqual(live.current().entries.pantry?.changed_in, 3)
    })
  )
  itWorks("keeps the data open, and all that was loaded of it, when a run found nothing new", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      let loads = 0
      const live = yield* watch(layout, ({ db }) => Effect.tap(countDays(db), () => Effect.sync(() => loads++)))
      const db = live.current().dataSet("pantry")
      yield* publishDay(layout, 1)
      yield* until(() => live.current().model.runs === 2)
      assert.deepStrictEqual([loads, live.swaps(), live.current().id], [1, 0, "larder-000002"])
      assert.strictEqual(live.current().dataSet("pantry"), db)
      assert.strictEqual(live.current().entries.pantry?.changed_in, 1)
    })
  )
  itWorks("has the records of a run as soon as somebody has written them, where the server itself cannot", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch({ ...layout, openedLock: "/dev/null/lock" })
      const ingest = live.current().ingest
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const run = aRun({ outcome: "failed" })
      yield* writeRecordsOfRun(`${folder}/records.gz`, { run, checks: [], leftOut: [], hasChangedData: false })
      yield* recordRun(layout, run, `${folder}/records.gz`, folder)
      yield* until(() => live.current().id === "larder-000002")
      assert.deepStrictEqual([live.current().model.runs, live.current().ingest === ingest], [1, true])
      yield* refreshOpened(layout)
      yield* until(() => live.current().model.runs === 2)
    })
  )
  itWorks("keeps the data open when another data set changes", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch(layout)
      const db = live.current().dataSet("pantry")
      yield* publishFound(layout, { prices: [{ item: "wine", price: "9" }] }, { of: pantryIn("cellar") })
      yield* until(() => live.current().id === "larder-000002")
      assert.strictEqual(live.current().dataSet("pantry"), db)
    })
  )
  itWorks("stays open for its readers until they are done, and is closed then", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch(layout)
      const goOn = yield* Deferred.make<void>()
      const reader = yield* Effect.forkChild(
        inPantry(live, (db, _, id) =>
          Effect.gen(function* () {
            const before = yield* countDays(db)
            yield* Deferred.await(goOn)
            return [id, before, yield* countDays(db), yield* priceOfDay(db)]
          })
        ),
        { startImmediately: true }
      )
      yield* publishElsewhere(layout, 2)
      yield* until(() => live.swaps() === 1)
      const old = yield* databaseOf(layout, 1)
      assert.isFalse(yield* isClosed(old))
      yield* Deferred.succeed(goOn, undefined)
      assert.deepStrictEqual(yield* Fiber.join(reader), ["larder-000001", 1, 1, 1])
      assert.isTrue(yield* isClosed(old))
      assert.isFalse(yield* isClosed(yield* databaseOf(layout, 2)))
    })
  )
  itWorks("is closed after its last reader, even if a reader failed or was interrupted", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch(layout)
      yield* Effect.flip(live.use(() => Effect.fail("no")))
      yield* Effect.exit(live.use(() => Effect.die("a bug")))
      const endless = yield* Effect.forkChild(
        live.use(() => Effect.never),
        { startImmediately: true }
      )
      yield* publishElsewhere(layout, 2)
      yield* until(() => live.swaps() === 1)
      const old = yield* databaseOf(layout, 1)
      assert.isFalse(yield* isClosed(old))
      yield* Fiber.interrupt(endless)
      assert.isTrue(yield* isClosed(old))
    })
  )
  itWorks("is closed with its scope, but only after its last reader", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const scope = yield* Scope.make()
      const live = yield* Scope.provide(watch(layout), scope)
      const goOn = yield* Deferred.make<void>()
      const reader = yield* Effect.forkChild(
        inPantry(live, (db) => Effect.andThen(Deferred.await(goOn), countDays(db))),
        { startImmediately: true }
      )
      yield* Scope.close(scope, Exit.void)
      const file = yield* databaseOf(layout, 1)
      assert.isFalse(yield* isClosed(file))
      yield* Deferred.succeed(goOn, undefined)
      assert.strictEqual(yield* Fiber.join(reader), 1)
      assert.isTrue(yield* isClosed(file))
    })
  )
  itWorks("must be something at the start", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      assert.instanceOf(yield* Effect.flip(watch(layout)), NoWarehouse)
    })
  )
  itWorks("is not started on where it is not what was published, and the message says what to do", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      const file = yield* databaseOf(layout, 1)
      yield* fs.chmod(file, 0o644)
      const bytes = yield* fs.readFile(file)
      yield* fs.writeFile(file, bytes.fill(7, bytes.length - 10))
      const error = yield* Effect.flip(watch(layout))
      assert.match(
        messageOf(error),
        /pantry\.duckdb of pantry \(.*\) was changed after it was published: its SHA-256 is another\. .*rebuild pantry/
      )
    })
  )
})

/** Makes a generation of day 2 that cannot be served: its parts are not there. */
const publishBroken = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const elsewhere = yield* oneDay
  yield* publishDay(elsewhere, 2)
  const text = yield* fs.readFileString(`${elsewhere.dir}/${manifestName(2)}`)
  yield* fs.writeFileString(`${layout.dir}/${manifestName(2)}`, text)
})

describe("a new generation that cannot be served", () => {
  itWorks("is left out with one log, and a later good one is taken", (logs) =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch(layout)
      yield* publishBroken(layout)
      const complaints = () =>
        logs.filter((line) => line.includes("pantry of larder-000002 cannot be served; larder-000001 stays"))
      yield* until(() => complaints().length > 0)
      assert.strictEqual(live.fault(), "pantry of larder-000002 cannot be served")
      assert.strictEqual(yield* inPantry(live, countDays), 1)
      yield* Effect.sleep("600 millis")
      assert.strictEqual(complaints().length, 1)
      yield* Effect.exit(back(layout, 1)) // what runs told in that generation is lost, and told so
      yield* until(() => live.fault() === undefined)
      assert.strictEqual(yield* inPantry(live, countDays), 1)
    })
  )
  itWorks("is closed again when it cannot be loaded", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      let asked = 0
      const live = yield* watch(layout, ({ db }) =>
        Effect.flatMap(countDays(db), (days) => {
          asked++
          return days === 2 ? Effect.die("two days are one too many") : Effect.succeed(days)
        })
      )
      yield* publishElsewhere(layout, 2)
      yield* until(() => asked === 2)
      assert.isTrue(yield* isClosed(yield* databaseOf(layout, 2)))
      assert.strictEqual(live.current().model.days, 1)
    })
  )
  itWorks("is left out where a newer version published its tables, until the server is updated", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch(layout)
      const newer = { ...pantry, dataSet: { ...pantry.dataSet, version: pantry.dataSet.version + 1 } }
      yield* publishFound(layout, dayOf(2), { of: newer })
      yield* until(() => live.fault() !== undefined)
      assert.strictEqual(live.fault(), "pantry of larder-000002 cannot be served")
      assert.strictEqual(yield* inPantry(live, countDays), 1)
      assert.match(
        messageOf(yield* Effect.flip(watch(layout))),
        /pantry was published with tables of version 2, and this version of Larder knows up to 1\. Update Larder on this machine, servers first\.$/
      )
    })
  )
  itWorks("is tried once a minute where no model can be made of it, and nothing of it stays open", (logs) =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const { count, load } = counting()
      const live = yield* watch(layout, load, (days) => days !== 2)
      yield* publishElsewhere(layout, 2)
      yield* until(() => live.fault() !== undefined)
      yield* Effect.sleep("600 millis")
      assert.deepStrictEqual(count, { opened: 2, open: 1 })
      assert.strictEqual(logs.filter((line) => line.includes("larder-000001 stays")).length, 1)
      assert.strictEqual(yield* inPantry(live, countDays), 1)
      yield* publishElsewhere(layout, 3)
      yield* until(() => live.swaps() === 1)
      assert.deepStrictEqual([live.current().model.days, live.fault(), count.open], [3, undefined, 1])
    })
  )
  itWorks("is served with the records that are open where its own cannot be opened, with one warning", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      yield* publishDay(layout, 2)
      const { count, load } = counting()
      const live = yield* watch(layout, load)
      yield* fs.remove(layout.ingestion)
      yield* fs.makeDirectory(`${layout.ingestion}/not a database`, { recursive: true })
      yield* back(layout, 1)
      yield* until(() => live.swaps() === 1)
      yield* Effect.sleep("600 millis")
      assert.deepStrictEqual([live.current().id, live.current().model], ["larder-000003", { days: 1, runs: 2 }])
      assert.deepStrictEqual(count, { opened: 2, open: 1 })
      const warnings = logs.filter((line) => line.includes("the records of larder-000003 cannot be opened"))
      assert.strictEqual(warnings.length, 1)
    })
  )
  itWorks("is served with the records that are open where a newer version wrote its own, with one warning", (logs) =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      let models = 0
      const live = yield* watch(layout, undefined, () => ++models > 0)
      yield* makeGeneration(layout.depot, (base) => {
        const { data_sets, event, ingest } = base ?? assert.fail()
        return Effect.succeed({ event, data_sets, ingest: { ...ingest, schema: ingest.schema + 1 } })
      })
      yield* until(() => live.current().id === "larder-000002")
      yield* Effect.sleep("600 millis")
      assert.strictEqual(models, 2)
      const warnings = logs.filter((line) => line.includes("schema ingest was published with tables of version 2"))
      assert.strictEqual(warnings.length, 1)
    })
  )
  itWorks("is served, and the server can be ended, while a stuck program holds the lock of what people open", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const scope = yield* Scope.make()
      const live = yield* Scope.provide(watch(layout), scope)
      const stuck = yield* otherProcess({ do: "hold", file: layout.openedLock })
      yield* stuck.nextLine
      const publisher = yield* otherProcess({ do: "publish", home: layout.home, found: dayOf(2) }) // waits for the stuck one
      yield* until(() => live.swaps() === 1)
      assert.deepStrictEqual([live.current().id, live.current().model], ["larder-000002", { days: 2, runs: 1 }])
      yield* Scope.close(scope, Exit.void)
      yield* stuck.kill("SIGKILL")
      assert.strictEqual(yield* publisher.nextLine, "larder-000002")
    })
  )
  itWorks("is logged once when its manifest cannot be read, and the old one stays", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      const live = yield* watch(layout)
      yield* fs.writeFileString(`${layout.dir}/${manifestName(2)}`, "half a")
      const complaints = () =>
        logs.filter((line) => line.includes("the newest generation cannot be read; larder-000001 stays"))
      yield* until(() => complaints().length > 0)
      assert.strictEqual(live.fault(), "the newest generation cannot be read")
      yield* Effect.sleep("600 millis")
      assert.strictEqual(complaints().length, 1)
      assert.strictEqual(yield* inPantry(live, countDays), 1)
      yield* fs.remove(`${layout.dir}/${manifestName(2)}`)
      yield* publishDay(layout, 2)
      yield* until(() => live.swaps() === 1)
      assert.strictEqual(live.fault(), undefined)
    })
  )
})

describe("reads during several swaps", () => {
  itWorks("never fail and never mix generations, and the old data is closed", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watch(layout)
      const seen = new Map<number, number>()
      let publishing = true
      const read = inPantry(live, (db, model) =>
        Effect.gen(function* () {
          const days = yield* countDays(db)
          yield* Effect.sleep("10 millis")
          const price = yield* priceOfDay(db)
          assert.deepStrictEqual([days, price], [model, model])
          seen.set(model, (seen.get(model) ?? 0) + 1)
        })
      )
      const readers = yield* Effect.forEach(Array.from({ length: 4 }), () =>
        Effect.forkChild(Effect.repeat(read, { while: () => publishing }))
      )
      for (let day = 2; day <= 4; day++) {
        yield* publishElsewhere(layout, day)
        yield* until(() => seen.has(day))
      }
      publishing = false
      yield* Effect.forEach(readers, (reader) => Fiber.join(reader))
      assert.deepStrictEqual([...seen.keys()].sort(), [1, 2, 3, 4])
      for (let day = 1; day <= 3; day++) assert.isTrue(yield* isClosed(yield* databaseOf(layout, day)))
    })
  )
})
