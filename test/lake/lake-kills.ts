/** What programs leave of the lake that are killed while they bring it up: at which of their changes of the depot is said by the test. */
import { cp } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { type Depot, type DepotUnusable, type Layout, updateLake } from "@larder/warehouse"
import { ConfigProvider, Effect } from "effect"
import { itLive } from "../support/it-live.ts"
import { deltaRows, deltaVersions, snapshotRows } from "../support/lake/reading.ts"
import { copyPerTest } from "../support/warehouse/copy-per-test.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
import { aLayout } from "../support/warehouse/example-data-set.ts"

export const up = (layout: Layout) =>
  Effect.provideService(
    updateLake(layout),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({ LARDER_LAKE: "yes" })
  )
export const lakeOf = ({ dir }: Layout) => path.join(dir, "lake")
export const rowsIn = (lake: string, table: string) => Effect.promise(() => deltaRows(lake, table))
const metrics = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) => rows.map((row) => row.metric_name).sort()
export const price = "commodity.price_version"

/** For one file of tests: a copy of a home whose generation 1 has milk. */
export const milkOfFile = () => copyPerTest(Effect.tap(aLayout, (layout) => publishPrices(layout, "milk")))

/** Fails from its `allowed`-th change on, as if the program was killed there. */
const cutAfter = (depot: Depot, allowed: number): Depot => {
  let changes = 0
  const orKilled = <A>(effect: Effect.Effect<A, DepotUnusable>) =>
    Effect.suspend(() => (++changes > allowed ? Effect.die(new Error("killed")) : effect))
  return {
    ...depot,
    putText: (...args) => orKilled(depot.putText(...args)),
    putFile: (...args) => orKilled(depot.putFile(...args)),
    replaceFile: (...args) => orKilled(depot.replaceFile(...args)),
    remove: (...args) => orKilled(depot.remove(...args))
  }
}

/** Kills at the first change, and then at each `step`-th behind it, until none is left. */
export const lakeKills = (step: number) => {
  describe("a program that is killed while it brings the lake up", () => {
    const withMilk = milkOfFile()
    itLive("leaves a readable lake, and the next run completes it", () =>
      Effect.gen(function* () {
        const original = yield* withMilk
        yield* up(original)
        yield* publishPrices(original, "butter")
        const states = new Set<string>()
        for (let allowed = 0, isCut = true; isCut; allowed += step) {
          const layout = yield* aLayout
          yield* Effect.promise(() => cp(original.home, layout.home, { recursive: true }))
          isCut = (yield* Effect.exit(up({ ...layout, depot: cutAfter(layout.depot, allowed) })))._tag === "Failure"
          const lake = lakeOf(layout)
          const rows = (yield* snapshotRows(lake)).get(price)
          const byLog = yield* rowsIn(lake, price)
          assert.include([1, 2], rows)
          states.add(`${rows} ${byLog.length}`)
          yield* up(layout)
          assert.strictEqual((yield* snapshotRows(lake)).get(price), 2)
          assert.deepStrictEqual(metrics(yield* rowsIn(lake, price)), ["butter", "milk"])
          assert.deepStrictEqual(deltaVersions(lake, price), ["larder-000001", "larder-000002"])
          for (const [table, count] of yield* snapshotRows(lake)) {
            assert.strictEqual((yield* rowsIn(lake, table)).length, count, table)
          }
        }
        assert.includeMembers([...states], step === 1 ? ["1 1", "1 2", "2 2"] : ["1 1", "2 2"])
      })
    )
  })
}
