/** Tests of programs that are killed at one of their changes to the depot, while they update the lake. */
import { cp } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import type { DepotUnusable, Layout } from "@larder/warehouse"
import type { Depot } from "@larder/warehouse/depot/depot.ts"
import { updateLake } from "@larder/warehouse/lake/lake.ts"
import { ConfigProvider, Effect } from "effect"
import { itLive } from "../support/it-live.ts"
import { countSnapshotRows, readDeltaRows, readDeltaVersions } from "../support/lake/reading.ts"
import { copyPerTest } from "../support/warehouse/copy-per-test.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
import { aLayout } from "../support/warehouse/example-data-set.ts"

export const updateWithLake = (layout: Layout) =>
  Effect.provideService(
    updateLake(layout),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({ LARDER_LAKE: "yes" })
  )
export const lakeOf = ({ dir }: Layout) => path.join(dir, "lake")
export const readRows = (lake: string, table: string) => Effect.promise(() => readDeltaRows(lake, table))
const listMetrics = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  rows.map((row) => row.metric_name).sort()
export const price = "commodity.price_version"

/** Returns a copy of a home whose generation 1 has milk. The original is made once for each test file. */
export const copyMilkHome = () => copyPerTest(Effect.tap(aLayout, (layout) => publishPrices(layout, "milk")))

/** Fails at each change after the first `allowed` ones, as if the program was killed there. */
const killAfter = (depot: Depot, allowed: number): Depot => {
  let changes = 0
  const dieIfKilled = <A>(effect: Effect.Effect<A, DepotUnusable>) =>
    Effect.suspend(() => (++changes > allowed ? Effect.die(new Error("killed")) : effect))
  return {
    ...depot,
    putText: (...args) => dieIfKilled(depot.putText(...args)),
    putFile: (...args) => dieIfKilled(depot.putFile(...args)),
    replaceFile: (...args) => dieIfKilled(depot.replaceFile(...args)),
    remove: (...args) => dieIfKilled(depot.remove(...args))
  }
}

/** Kills the program at the first change, and then at every `step`-th one after it, until the program completes. */
export const testLakeKills = ({ step }: { readonly step: number }) => {
  describe("a program that is killed while it updates the lake", () => {
    const withMilk = copyMilkHome()
    itLive("leaves a readable lake, and the next run completes it", () =>
      Effect.gen(function* () {
        const original = yield* withMilk
        yield* updateWithLake(original)
        yield* publishPrices(original, "butter")
        const states = new Set<string>()
        for (let allowed = 0, isKilled = true; isKilled; allowed += step) {
          const layout = yield* aLayout
          yield* Effect.promise(() => cp(original.home, layout.home, { recursive: true }))
          isKilled =
            (yield* Effect.exit(updateWithLake({ ...layout, depot: killAfter(layout.depot, allowed) })))._tag ===
            "Failure"
          const lake = lakeOf(layout)
          const rows = (yield* countSnapshotRows(lake)).get(price)
          const logRows = yield* readRows(lake, price)
          assert.include([1, 2], rows)
          states.add(`${rows} ${logRows.length}`)
          yield* updateWithLake(layout)
          assert.strictEqual((yield* countSnapshotRows(lake)).get(price), 2)
          assert.deepStrictEqual(listMetrics(yield* readRows(lake, price)), ["butter", "milk"])
          assert.deepStrictEqual(readDeltaVersions(lake, price), ["larder-000001", "larder-000002"])
          for (const [table, count] of yield* countSnapshotRows(lake)) {
            assert.strictEqual((yield* readRows(lake, table)).length, count, table)
          }
        }
        assert.includeMembers([...states], step === 1 ? ["1 1", "1 2", "2 2"] : ["1 1", "2 2"])
      })
    )
  })
}
