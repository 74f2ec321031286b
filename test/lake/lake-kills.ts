/** Tests of programs that are killed at one of their changes to the depot, while they write the lake. */
import { cp } from "node:fs/promises"
import { assert, describe } from "@effect/vitest"
import { type DepotUnusable, type Layout, writeLake } from "@larder/warehouse"
import type { Depot } from "@larder/warehouse/depot/depot.ts"
import { Effect } from "effect"
import { itLive } from "../support/it-live.ts"
import { copyMilkHome, lakeOf, prices } from "../support/lake/homes.ts"
import { listLakeFiles, listLakeTables, readDeltaRows, readGenerations } from "../support/lake/reading.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
import { aLayout } from "../support/warehouse/example-data-set.ts"

/** Fails at each change after the first `allowed` ones, as if the program was killed there. */
const killAfter = (depot: Depot, allowed: number): Depot => {
  let changes = 0
  const dieIfKilled = <A>(effect: Effect.Effect<A, DepotUnusable>) =>
    Effect.suspend(() => (++changes > allowed ? Effect.die(new Error("killed")) : effect))
  return {
    ...depot,
    putText: (...args) => dieIfKilled(depot.putText(...args)),
    putHint: (...args) => dieIfKilled(depot.putHint(...args)),
    putFile: (...args) => dieIfKilled(depot.putFile(...args)),
    remove: (...args) => dieIfKilled(depot.remove(...args))
  }
}

/** The rows of every table that its newest version names. Fails if one of its files is missing or differs. */
const readAll = (layout: Layout) =>
  Effect.promise(async () => {
    const lake = lakeOf(layout)
    const tables = listLakeTables(lake).map(async (table) => [table, await readDeltaRows(lake, table)] as const)
    return Object.fromEntries(await Promise.all(tables))
  })

/** Kills the program at the first change, and then at every `step`-th one after it, until the program completes. */
export const testLakeKills = ({ step }: { readonly step: number }) => {
  describe("a program that is killed while it writes the lake", () => {
    const withMilk = copyMilkHome()
    itLive("leaves a readable lake, and the next run completes it", () =>
      Effect.gen(function* () {
        const original = yield* withMilk
        yield* writeLake(original)
        yield* publishPrices(original, "butter")
        const undisturbed = yield* aLayout
        yield* Effect.promise(() => cp(original.home, undisturbed.home, { recursive: true }))
        yield* writeLake(undisturbed)
        const expected = yield* readAll(undisturbed)
        const states = new Set<string>()
        for (let allowed = 0, isKilled = true; isKilled; allowed += step) {
          const layout = yield* aLayout
          yield* Effect.promise(() => cp(original.home, layout.home, { recursive: true }))
          const exit = yield* Effect.exit(writeLake({ ...layout, depot: killAfter(layout.depot, allowed) }))
          isKilled = exit._tag === "Failure"
          const left = yield* readAll(layout)
          states.add(
            `${left[prices]?.length} of ${prices}, ${left["commodity.observation"]?.length} of commodity.observation`
          )
          yield* writeLake(layout)
          assert.deepStrictEqual(yield* readAll(layout), expected)
          const lake = lakeOf(layout)
          assert.deepStrictEqual(readGenerations(lake, prices), ["larder-000001", "larder-000002"])
          assert.deepStrictEqual(listLakeFiles(lake, prices), listLakeFiles(lakeOf(undisturbed), prices)) // no file is left over
        }
        if (step > 1) return
        assert.sameMembers(
          [...states],
          [
            [1, 1],
            [2, 1],
            [2, 2]
          ].map(([versions, current]) => `${versions} of ${prices}, ${current} of commodity.observation`)
        )
      })
    )
  })
}
