/** Tests of programs that are killed while they write the lake, or that write it concurrently. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { writeLake } from "@larder/warehouse"
import type { Depot } from "@larder/warehouse/depot/depot.ts"
import { Effect } from "effect"
import { itLive } from "../support/it-live.ts"
import { listLakeTables, readGenerations } from "../support/lake/reading.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
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
  itLive("keep the version of the faster one, and the slower one decides again", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const lake = lakeOf(layout)
      const other = { ...layout, lakeLock: `${layout.lakeLock}.other` }
      const publishAndWriteFirst = (metric: string) =>
        Effect.andThen(publishPrices(other, metric), writeLake(other)).pipe(
          Effect.scoped,
          Effect.orDie,
          Effect.provide(NodeServices.layer)
        )
      let metric: string | undefined = "butter"
      const slow: Depot = {
        ...layout.depot,
        putText: (name, text) => {
          const faster = metric
          if (faster === undefined || !name.includes("/price_version/")) return layout.depot.putText(name, text)
          metric = undefined
          return Effect.andThen(publishAndWriteFirst(faster), layout.depot.putText(name, text))
        }
      }
      yield* writeLake({ ...layout, depot: slow }) // opened generation 1; the other one writes 2 first
      assert.deepStrictEqual(readGenerations(lake, price), ["larder-000002"])
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["butter", "milk"])
      assert.deepStrictEqual(yield* readMetrics(layout, "commodity.price"), ["butter", "milk"])
    })
  )
})
