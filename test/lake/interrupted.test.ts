/** What programs leave of the lake that are killed, or that bring it up at once with others. */
import { readdirSync } from "node:fs"
import { cp } from "node:fs/promises"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import type { Depot, DepotUnusable } from "@larder/warehouse/depot/depot.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import { objectIdOf } from "@larder/warehouse/generation/parts.ts"
import { bringLakeUp } from "@larder/warehouse/lake/lake.ts"
import { recordEnd } from "@larder/warehouse/publishing/record.ts"
import { ConfigProvider, Effect } from "effect"
import { itWorks } from "../support/it-works.ts"
import { deltaRows, deltaVersions, snapshotRows, snapshotsOf } from "../support/lake/reading.ts"
import { copied } from "../support/warehouse/copied-home.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
import { aLayout, aRun } from "../support/warehouse/pantry.ts"

const up = (layout: Layout) =>
  Effect.provideService(
    bringLakeUp(layout),
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({ LARDER_LAKE: "yes" })
  )
const lakeOf = ({ dir }: Layout) => path.join(dir, "lake")
const rowsIn = (lake: string, table: string) => Effect.promise(() => deltaRows(lake, table))
const metrics = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) => rows.map((row) => row.metric_name).sort()
const price = "commodity.price_version"

/** Generation 1 has milk. */
const withMilk = copied(Effect.tap(aLayout, (layout) => publishPrices(layout, "milk")))

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

describe("a program that is killed while it brings the lake up", () => {
  itWorks("leaves a readable lake, and the next run completes it", () =>
    Effect.gen(function* () {
      const original = yield* withMilk
      yield* up(original)
      yield* publishPrices(original, "butter")
      const states = new Set<string>()
      for (let allowed = 0, isCut = true; isCut; allowed += 3) {
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
      assert.deepStrictEqual([...states].sort(), ["1 1", "1 2", "2 2"])
    })
  )
})

describe("two machines that bring the lake up at once", () => {
  itWorks("leave one consistent lake", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* up(layout)
      yield* publishPrices(layout, "butter")
      yield* publishPrices(layout, "cheese")
      const other = { ...layout, lakeLock: `${layout.lakeLock}.other`, seen: `${layout.seen}-other` }
      yield* Effect.all([up(layout), up(other)], { concurrency: 2 })
      const lake = lakeOf(layout)
      assert.deepStrictEqual(yield* snapshotsOf(lake), [1, 2, 3])
      assert.deepStrictEqual(deltaVersions(lake, price), ["larder-000001", "larder-000002", "larder-000003"])
      for (const [table, count] of yield* snapshotRows(lake)) {
        assert.strictEqual((yield* rowsIn(lake, table)).length, count, table)
      }
    })
  )
  itWorks("continue from the state of the faster one, whose files do not change", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const other = { ...layout, lakeLock: `${layout.lakeLock}.other`, seen: `${layout.seen}-other` }
      const upOfOther = Effect.orDie(up(other)).pipe(Effect.provide(NodeServices.layer))
      for (const metric of ["butter", "cheese"]) {
        let isFaster = true
        const slow: Depot = {
          ...layout.depot,
          putText: (name, text) => {
            if (!isFaster || !name.startsWith("lake/states/")) return layout.depot.putText(name, text)
            isFaster = false
            return Effect.andThen(upOfOther, layout.depot.putText(name, text))
          }
        }
        yield* up({ ...layout, depot: slow })
        yield* publishPrices(layout, metric)
        // also where no row of the catalogue differs but those of the run
        yield* recordEnd(layout, { run: aRun({ pipeline: "commodities", outcome: "failed" }), checks: [], leftOut: [] })
      }
      yield* up(layout)
      const lake = lakeOf(layout)
      for (const name of readdirSync(path.join(lake, "catalogues"))) {
        const { sha256 } = yield* objectIdOf(path.join(lake, "catalogues", name))
        assert.strictEqual(name, `${sha256}.ducklake`)
      }
      assert.deepStrictEqual(yield* snapshotsOf(lake), [1, 2, 3, 4, 5])
      for (const [table, count] of yield* snapshotRows(lake)) {
        assert.strictEqual((yield* rowsIn(lake, table)).length, count, table)
      }
    })
  )
})
