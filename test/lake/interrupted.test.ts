/** Tests of programs that are killed while they update the lake, or that update it concurrently. */
import { readdirSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe } from "@effect/vitest"
import { recordFailedRun } from "@larder/warehouse"
import type { Depot } from "@larder/warehouse/depot/depot.ts"
import { identifyFile } from "@larder/warehouse/generation/parts.ts"
import { Effect } from "effect"
import { itLive } from "../support/it-live.ts"
import { countSnapshotRows, listSnapshotNumbers, readDeltaVersions } from "../support/lake/reading.ts"
import { publishPrices } from "../support/warehouse/every-data-set.ts"
import { aRun } from "../support/warehouse/example-data-set.ts"
import { copyMilkHome, lakeOf, price, readRows, testLakeKills, updateWithLake } from "./lake-kills.ts"

const withMilk = copyMilkHome()

testLakeKills({ step: 40 })

describe("two machines that update the lake at the same time", () => {
  itLive("leave one consistent lake", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* updateWithLake(layout)
      yield* publishPrices(layout, "butter")
      yield* publishPrices(layout, "cheese")
      const other = { ...layout, lakeLock: `${layout.lakeLock}.other`, markers: `${layout.markers}-other` }
      yield* Effect.all([updateWithLake(layout), updateWithLake(other)], { concurrency: 2 })
      const lake = lakeOf(layout)
      assert.deepStrictEqual(yield* listSnapshotNumbers(lake), [1, 2, 3])
      assert.deepStrictEqual(readDeltaVersions(lake, price), ["larder-000001", "larder-000002", "larder-000003"])
      for (const [table, count] of yield* countSnapshotRows(lake)) {
        assert.strictEqual((yield* readRows(lake, table)).length, count, table)
      }
    })
  )
  itLive("continue from the state of the faster one, whose files do not change", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const other = { ...layout, lakeLock: `${layout.lakeLock}.other`, markers: `${layout.markers}-other` }
      const updateOther = Effect.orDie(updateWithLake(other)).pipe(Effect.provide(NodeServices.layer))
      for (const metric of ["butter", "cheese"]) {
        let isFaster = true
        const slow: Depot = {
          ...layout.depot,
          putText: (name, text) => {
            if (!isFaster || !name.startsWith("lake/states/")) return layout.depot.putText(name, text)
            isFaster = false
            return Effect.andThen(updateOther, layout.depot.putText(name, text))
          }
        }
        yield* updateWithLake({ ...layout, depot: slow })
        yield* publishPrices(layout, metric)
        // even if only the rows of the run differ in the catalogue
        yield* recordFailedRun(layout, {
          run: aRun({ pipeline: "commodities", outcome: "failed" }),
          checks: [],
          leftOut: []
        })
      }
      yield* updateWithLake(layout)
      const lake = lakeOf(layout)
      for (const name of readdirSync(path.join(lake, "catalogues"))) {
        const { sha256 } = yield* identifyFile(path.join(lake, "catalogues", name))
        assert.strictEqual(name, `${sha256}.ducklake`)
      }
      assert.deepStrictEqual(yield* listSnapshotNumbers(lake), [1, 2, 3, 4, 5])
      for (const [table, count] of yield* countSnapshotRows(lake)) {
        assert.strictEqual((yield* readRows(lake, table)).length, count, table)
      }
    })
  )
})
