import { cp } from "node:fs/promises"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyMilkHome, lakeOf, prices, readMetrics, readRows, rollBack } from "@larder/test/support/lake/homes.ts"
import { listLakeTables, readGenerations } from "@larder/test/support/lake/reading.ts"
import { publishPrices } from "@larder/test/support/warehouse/every-data-set.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import { publishReads } from "@larder/test/support/warehouse/store-reads.ts"
import { Effect, type FileSystem, type Path } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"
import { writeLake } from "./setting.ts"

const withMilk = copyMilkHome()

/** A machine with the same generations, and no later ones. */
const copyMachine = Effect.fnUntraced(function* ({ home }: Layout) {
  const copy = yield* aLayout
  yield* Effect.promise(() => cp(home, copy.home, { recursive: true }))
  return copy
})

/** A machine writes its generation into a lake. `meanwhile` runs once, after it was decided what its first version has. */
const writeSlowly = Effect.fnUntraced(function* <E>(
  machine: Layout,
  { depot }: Layout,
  meanwhile: Effect.Effect<unknown, E, FileSystem.FileSystem | Path.Path>
) {
  const once = yield* Effect.cached(Effect.orDie(meanwhile).pipe(Effect.provide(NodeServices.layer)))
  const putText: Depot["putText"] = (...args) => Effect.andThen(once, depot.putText(...args))
  return yield* writeLake({ ...machine, depot: { ...depot, putText } })
})

describe("two machines that write the lake at the same time", () => {
  itLive("write each version once", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const other = { ...layout, lakeLock: `${layout.lakeLock}.other` }
      yield* Effect.all([writeLake(layout), writeLake(other)], { concurrency: 2 })
      yield* publishPrices(layout, "butter")
      yield* Effect.all([writeLake(layout), writeLake(other)], { concurrency: 2 })
      const lake = lakeOf(layout)
      for (const table of listLakeTables(lake)) {
        const generations = readGenerations(lake, table)
        assert.strictEqual(new Set(generations).size, generations.length, table)
      }
      assert.deepStrictEqual(readGenerations(lake, prices), ["larder-000001", "larder-000002"])
      assert.deepStrictEqual(yield* readMetrics(layout), ["butter", "milk"])
    })
  )
  itLive("keep the versions of the faster one if its generation is newer", () =>
    Effect.gen(function* () {
      const ahead = yield* withMilk
      const behind = yield* copyMachine(ahead)
      yield* publishPrices(ahead, "butter")
      yield* writeSlowly(behind, ahead, writeLake(ahead))
      assert.deepStrictEqual(readGenerations(lakeOf(ahead), prices), ["larder-000002"])
      assert.deepStrictEqual(yield* readMetrics(ahead), ["butter", "milk"])
    })
  )
  itLive("add the next versions to those of the faster one if its generation is older", () =>
    Effect.gen(function* () {
      const ahead = yield* withMilk
      const behind = yield* copyMachine(ahead)
      yield* publishPrices(ahead, "butter")
      yield* writeSlowly(ahead, ahead, writeLake({ ...behind, depot: ahead.depot }))
      for (const table of [prices, "commodity.observation"]) {
        assert.deepStrictEqual(readGenerations(lakeOf(ahead), table), ["larder-000001", "larder-000002"])
        assert.deepStrictEqual(yield* readMetrics(ahead, undefined, table), ["butter", "milk"])
      }
    })
  )
  itLive("do not return it to an older generation", () =>
    Effect.gen(function* () {
      const ahead = yield* withMilk
      yield* writeLake(ahead)
      yield* publishPrices(ahead, "butter")
      const behind = yield* copyMachine(ahead)
      yield* rollBack(ahead, "commodities", 1)
      yield* writeLake(ahead)
      assert.deepStrictEqual(yield* writeLake({ ...behind, depot: ahead.depot }), {
        generation: "larder-000003",
        tables: [],
        bytes: 0
      })
      assert.deepStrictEqual(yield* readMetrics(ahead), ["milk"])
    })
  )
})

describe("a rollback that is written while another machine is writing what it undoes", () => {
  itLive("stays", () =>
    Effect.gen(function* () {
      const ahead = yield* withMilk
      yield* writeLake(ahead)
      yield* publishPrices(ahead, "butter")
      const behind = yield* copyMachine(ahead)
      yield* writeSlowly(behind, ahead, Effect.andThen(rollBack(ahead, "commodities", 1), writeLake(ahead)))
      for (const table of [prices, "commodity.observation"])
        assert.deepStrictEqual(readGenerations(lakeOf(ahead), table), ["larder-000001", "larder-000003"])
      assert.deepStrictEqual(yield* readMetrics(ahead), ["milk"])
      assert.deepStrictEqual((yield* writeLake(ahead))?.tables, [])
    })
  )
  itLive("stays if the lake has no version of the undone data set yet, or none with rows", () =>
    Effect.gen(function* () {
      const ahead = yield* withMilk
      for (const day of [2, 3]) {
        yield* publishReads(ahead, { day, products: [{ id: "oat" }] })
        const behind = yield* copyMachine(ahead)
        yield* writeSlowly(behind, ahead, Effect.andThen(rollBack(ahead, "storefronts", 1), writeLake(ahead)))
        assert.deepStrictEqual(yield* readRows(ahead, "storefront.product"), [], `day ${day}`)
      }
      assert.deepStrictEqual(readGenerations(lakeOf(ahead), "storefront.product"), ["larder-000003", "larder-000005"])
    })
  )
})
