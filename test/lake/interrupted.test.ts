/** Tests of programs that are killed while they write the lake, or that write it concurrently. */
import { cp } from "node:fs/promises"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { type Layout, writeLake } from "@larder/warehouse"
import type { Depot } from "@larder/warehouse/depot/depot.ts"
import { Effect } from "effect"
import { itLive } from "../support/it-live.ts"
import { listLakeTables, readGenerations } from "../support/lake/reading.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
import { aLayout } from "../support/warehouse/example-data-set.ts"
import { copyMilkHome, lakeOf, price, readMetrics, testLakeKills } from "./lake-kills.ts"

const withMilk = copyMilkHome()

testLakeKills({ step: 11 })

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
      assert.deepStrictEqual(readGenerations(lake, price), ["larder-000001", "larder-000002"])
      assert.deepStrictEqual(yield* readMetrics(layout), ["butter", "milk"])
    })
  )
  /** Lets `meanwhile` run between the decision about the first version and its storage. */
  const beforeFirstVersion = (depot: Depot, meanwhile: Effect.Effect<unknown>): Depot => {
    let isFirst = true
    return {
      ...depot,
      putText: (name, text) => {
        const [before, put] = [isFirst ? meanwhile : Effect.void, depot.putText(name, text)]
        isFirst = false
        return Effect.andThen(before, put)
      }
    }
  }
  const write = (layout: Layout) => Effect.orDie(writeLake(layout)).pipe(Effect.provide(NodeServices.layer))

  itLive("keep the versions of the faster one if its generation is newer", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const behind = yield* aLayout
      yield* Effect.promise(() => cp(layout.home, behind.home, { recursive: true }))
      yield* publishPrices(layout, "butter")
      yield* writeLake({ ...behind, depot: beforeFirstVersion(layout.depot, write(layout)) })
      assert.deepStrictEqual(readGenerations(lakeOf(layout), price), ["larder-000002"])
      assert.deepStrictEqual(yield* readMetrics(layout), ["butter", "milk"])
    })
  )
  itLive("add the next versions to those of the faster one if its generation is older", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const behind = yield* aLayout
      yield* Effect.promise(() => cp(layout.home, behind.home, { recursive: true }))
      yield* publishPrices(layout, "butter")
      const writeBehind = write({ ...behind, depot: layout.depot })
      yield* writeLake({ ...layout, depot: beforeFirstVersion(layout.depot, writeBehind) })
      for (const table of [price, "commodity.observation"]) {
        assert.deepStrictEqual(readGenerations(lakeOf(layout), table), ["larder-000001", "larder-000002"])
        assert.deepStrictEqual(yield* readMetrics(layout, table), ["butter", "milk"])
      }
    })
  )
})
