import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  copyHistoryHome,
  copyMilkHome,
  failRun,
  lakeOf,
  prices,
  readMetrics,
  readRows
} from "@larder/test/support/lake/homes.ts"
import { readCommits, readGenerations } from "@larder/test/support/lake/reading.ts"
import { publishPrices } from "@larder/test/support/warehouse/every-data-set.ts"
import { aLayout } from "@larder/test/support/warehouse/example-data-set.ts"
import { Effect } from "effect"
import { commodity } from "../data-sets.ts"
import { makeGeneration, newestManifest } from "../generation/manifest.ts"
import { rebuildFrom } from "../publishing/rebuild.ts"
import { writeLake } from "./setting.ts"

const withMilk = copyMilkHome()
const withHistory = copyHistoryHome()

describe("the lake", () => {
  itLive("has a version for each generation that changed the data set", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      const lake = lakeOf(layout)
      const all = ["larder-000001", "larder-000002", "larder-000003"]
      for (const table of [prices, "commodity.observation"]) assert.deepStrictEqual(readGenerations(lake, table), all)
      for (const [version, expected] of [["milk"], ["butter", "milk"], ["milk"]].entries())
        assert.deepStrictEqual(yield* readMetrics(layout, version), expected)
      assert.deepStrictEqual(readGenerations(lake, "commodity.series"), all)
      const changes = readCommits(lake, "commodity.series", 1)[1]?.filter(({ add, remove }) => add ?? remove)
      assert.deepStrictEqual(changes, [], "its rows stayed the same")
      assert.deepStrictEqual(readGenerations(lake, "ingest.run"), all) // the last marks the second run as rolled back
    })
  )
  itLive("gets no version if nothing was published since it was written", () =>
    Effect.gen(function* () {
      const layout = yield* withHistory
      assert.deepStrictEqual(yield* writeLake(layout), { generation: "larder-000003", tables: [], bytes: 0 })
    })
  )
  itLive("has the newest generation only, if earlier ones were not written", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* publishPrices(layout, "butter")
      yield* writeLake(layout)
      assert.deepStrictEqual(readGenerations(lakeOf(layout), prices), ["larder-000002"])
    })
  )
  itLive("has the record of a failed run, but none of its data", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* writeLake(layout)
      yield* failRun(layout, "no answer")
      yield* writeLake(layout)
      assert.deepStrictEqual(readGenerations(lakeOf(layout), prices), ["larder-000001"])
      const runs = yield* readRows(layout, "ingest.run")
      assert.deepStrictEqual(runs.map(({ message }) => message).sort(), ["no answer", null])
    })
  )
  itLive("has the rows of a rebuilt data set", () =>
    Effect.gen(function* () {
      const [layout, from] = [yield* withHistory, yield* aLayout]
      yield* publishPrices(from, "cheese")
      const since = (yield* newestManifest(layout.depot))?.data_sets.commodities
      yield* rebuildFrom({ layout, dataSet: commodity, from, since })
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["cheese"])
      assert.strictEqual(readGenerations(lakeOf(layout), prices).at(-1), "larder-000004")
    })
  )
  itLive("keeps the rows of a data set that another version has published with other tables", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* writeLake(layout)
      yield* makeGeneration(layout.depot, (base) => {
        const { data_sets, event, ingest } = base ?? assert.fail()
        const commodities = { ...(data_sets.commodities ?? assert.fail()), definition: "of other tables" }
        return Effect.succeed({ event, ingest, data_sets: { ...data_sets, commodities } })
      })
      yield* failRun(layout, "no answer")
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
      assert.deepStrictEqual(readGenerations(lakeOf(layout), prices), ["larder-000001"])
      assert.strictEqual(readGenerations(lakeOf(layout), "ingest.run").at(-1), "larder-000003")
      assert.match(
        logs.join("\n"),
        /Warn: the lake keeps an earlier state of a data set: commodities was published by another/
      )
    })
  )
})
