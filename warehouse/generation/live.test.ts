import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { onceForFile } from "@larder/test/support/once-for-file.ts"
import { copied } from "@larder/test/support/warehouse/copied-home.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { aLayout, publishFound } from "@larder/test/support/warehouse/pantry.ts"
import { Deferred, Effect, Exit, Fiber, FileSystem, Option, Schema, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type Layout, NoWarehouse } from "./layout.ts"
import { watchLive } from "./live.ts"
import { rollback } from "./rollback.ts"

const Days = Schema.Struct({ days: Schema.Int })
const countDays = (db: DuckDb["Service"]) =>
  Effect.map(db.all(Days, "select count(*)::integer as days from pantry.delivery"), ([row]) => row?.days)
const priceOfDay = (db: DuckDb["Service"]) =>
  Effect.map(
    db.all(Days, "select price::integer as days from pantry.price where item = $item", { item: "day" }),
    ([row]) => row?.days
  )

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

describe("the live generation", () => {
  itWorks("changes when a new one is published, and changes back after a rollback", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchLive(layout, countDays)
      assert.deepStrictEqual([live.current().id, live.current().model, live.swaps()], ["larder-000001", 1, 0])
      yield* publishDay(layout, 2)
      yield* until(() => live.swaps() === 1)
      assert.deepStrictEqual([live.current().id, live.current().model], ["larder-000002", 2])
      assert.strictEqual(yield* live.use(({ db }) => countDays(db)), 2)
      yield* rollback(layout, Option.none())
      yield* until(() => live.swaps() === 2)
      assert.deepStrictEqual([live.current().id, live.current().model], ["larder-000001", 1])
    })
  )
  itWorks("stays open for its readers until they are done, and is closed then", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchLive(layout, countDays)
      const goOn = yield* Deferred.make<void>()
      const reader = yield* Effect.forkChild(
        live.use(({ db, id }) =>
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
      const old = `${layout.dir}/larder-000001.duckdb`
      assert.isFalse(yield* isClosed(old))
      yield* Deferred.succeed(goOn, undefined)
      assert.deepStrictEqual(yield* Fiber.join(reader), ["larder-000001", 1, 1, 1])
      assert.isTrue(yield* isClosed(old))
      assert.isFalse(yield* isClosed(`${layout.dir}/larder-000002.duckdb`))
    })
  )
  itWorks("is closed after its last reader, even if a reader failed or was interrupted", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchLive(layout, countDays)
      yield* Effect.flip(live.use(() => Effect.fail("no")))
      yield* Effect.exit(live.use(() => Effect.die("a bug")))
      const endless = yield* Effect.forkChild(
        live.use(() => Effect.never),
        { startImmediately: true }
      )
      yield* publishElsewhere(layout, 2)
      yield* until(() => live.swaps() === 1)
      assert.isFalse(yield* isClosed(`${layout.dir}/larder-000001.duckdb`))
      yield* Fiber.interrupt(endless)
      assert.isTrue(yield* isClosed(`${layout.dir}/larder-000001.duckdb`))
    })
  )
  itWorks("is closed with its scope, but only after its last reader", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const scope = yield* Scope.make()
      const live = yield* Scope.provide(watchLive(layout, countDays), scope)
      const goOn = yield* Deferred.make<void>()
      const reader = yield* Effect.forkChild(
        live.use(({ db }) => Effect.andThen(Deferred.await(goOn), countDays(db))),
        { startImmediately: true }
      )
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(yield* isClosed(`${layout.dir}/larder-000001.duckdb`))
      yield* Deferred.succeed(goOn, undefined)
      assert.strictEqual(yield* Fiber.join(reader), 1)
      assert.isTrue(yield* isClosed(`${layout.dir}/larder-000001.duckdb`))
    })
  )
  itWorks("must exist at the start", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      assert.instanceOf(yield* Effect.flip(watchLive(layout, countDays)), NoWarehouse)
    })
  )
})

describe("a new generation that cannot be served", () => {
  itWorks("is left out with one log, and a later good one is taken", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      const live = yield* watchLive(layout, countDays)
      yield* fs.writeFileString(`${layout.dir}/larder-000002.duckdb`, "no database")
      yield* fs.remove(layout.link)
      yield* fs.symlink("larder-000002.duckdb", layout.link)
      const complaints = () =>
        logs.filter((line) => line.includes("larder-000002 cannot be served; larder-000001 stays"))
      yield* until(() => complaints().length > 0)
      assert.strictEqual(live.fault(), "larder-000002 cannot be served")
      assert.strictEqual(yield* live.use(({ db }) => countDays(db)), 1)
      yield* Effect.sleep("600 millis")
      assert.strictEqual(complaints().length, 1)
      yield* rollback(layout, Option.some("larder-000001"))
      yield* publishDay(layout, 3)
      yield* until(() => live.swaps() === 1)
      assert.deepStrictEqual([live.current().id, yield* live.use(({ db }) => countDays(db))], ["larder-000003", 2])
    })
  )
  itWorks("is closed again when it cannot be warmed", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      let asked = 0
      const picky = (db: DuckDb["Service"]) =>
        Effect.flatMap(countDays(db), (days) => {
          asked++
          return days === 2 ? Effect.die("two days are one too many") : Effect.succeed(days)
        })
      const live = yield* watchLive(layout, picky)
      yield* publishElsewhere(layout, 2)
      yield* until(() => asked === 2)
      assert.isTrue(yield* isClosed(`${layout.dir}/larder-000002.duckdb`))
      assert.strictEqual(live.current().id, "larder-000001")
    })
  )
  itWorks("is logged once when the link is gone, and the old one stays", (logs) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* oneDay
      const live = yield* watchLive(layout, countDays)
      yield* fs.remove(layout.link)
      const complaints = () =>
        logs.filter((line) => line.includes("the link leads to no generation; larder-000001 stays"))
      yield* until(() => complaints().length > 0)
      assert.strictEqual(live.fault(), "the link leads to no generation")
      yield* Effect.sleep("600 millis")
      assert.strictEqual(complaints().length, 1)
      assert.strictEqual(yield* live.use(({ db }) => countDays(db)), 1)
      yield* rollback(layout, Option.some("1"))
      yield* until(() => live.fault() === undefined)
    })
  )
})

describe("reads during several swaps", () => {
  itWorks("never fail and never mix generations, and the old generations are closed", () =>
    Effect.gen(function* () {
      const layout = yield* oneDay
      const live = yield* watchLive(layout, countDays)
      const seen = new Map<number, number>()
      let publishing = true
      const read = live.use(({ db, model }) =>
        Effect.gen(function* () {
          const days = yield* countDays(db)
          yield* Effect.sleep("10 millis")
          const price = yield* priceOfDay(db)
          assert.deepStrictEqual([days, price], [model, model])
          seen.set(model ?? 0, (seen.get(model ?? 0) ?? 0) + 1)
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
      for (let day = 1; day <= 3; day++) assert.isTrue(yield* isClosed(`${layout.dir}/larder-00000${day}.duckdb`))
    })
  )
})
