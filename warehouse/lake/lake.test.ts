import { existsSync } from "node:fs"
import { cp, mkdir, utimes, writeFile } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { withClockAhead } from "@larder/test/support/clock-ahead.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  countSnapshotRows,
  listLakeFiles,
  listSnapshotNumbers,
  readDeltaRows,
  readDeltaVersions
} from "@larder/test/support/lake/reading.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import { makeEveryDataSet, publishPrices } from "@larder/test/support/warehouse/every-data-set.ts"
import { aLayout, aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { ConfigProvider, Effect, Option } from "effect"
import { DepotUnusable } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"
import { prune } from "../generation/retention.ts"
import { recordFailedRun } from "../publishing/record.ts"
import { rollback } from "../publishing/rollback.ts"
import { updateLake } from "./lake.ts"
import { updateLakeIfEnabled } from "./setting.ts"

const withSettings = (variables: Readonly<Record<string, string>>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ LARDER_LAKE: "yes", ...variables }))
const update = (layout: Layout, variables: Readonly<Record<string, string>> = {}) =>
  updateLake(layout).pipe(withSettings(variables))

const rollBackTo = (layout: Layout, to: number) =>
  rollback(layout, { to: Option.some(to), only: Option.some("commodities"), note: Option.some("a wrong unit") })

const lakeOf = ({ dir }: Layout) => path.join(dir, "lake")

/** Generation 1 has milk. */
const withMilk = copyPerTest(Effect.tap(aLayout, (layout) => publishPrices(layout, "milk")))
/** Generation 1 has milk, 2 also has butter, and 3 has only milk again. The lake has all of them. */
const withHistory = copyPerTest(
  Effect.gen(function* () {
    const layout = yield* aLayout
    yield* publishPrices(layout, "milk")
    yield* publishPrices(layout, "butter")
    yield* update(layout)
    yield* rollBackTo(layout, 1)
    yield* update(layout)
    return layout
  })
)

const readRows = (lake: string, table: string, version?: number) =>
  Effect.promise(() => readDeltaRows(lake, table, version))
const listMetrics = (rows: ReadonlyArray<Readonly<Record<string, unknown>>>) =>
  rows.map((row) => row.metric_name).sort()

describe("the lake", () => {
  itLive("does not exist unless it is configured", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* updateLake(layout)
      yield* update(layout, { LARDER_LAKE: "no" })
      assert.isFalse(existsSync(lakeOf(layout)))
    })
  )
  itLive("has the rows of every table, in the DuckLake and in the Delta logs", () =>
    Effect.gen(function* () {
      const { layout } = yield* makeEveryDataSet
      yield* update(layout)
      const lake = lakeOf(layout)
      const read = yield* countSnapshotRows(lake)
      assert.deepStrictEqual(
        [...read.keys()].filter((table) => !table.startsWith("ingest.")),
        [
          "branded_food.category",
          "branded_food.derivation",
          "branded_food.food",
          "branded_food.nutrient",
          "branded_food.version",
          "commodity.metric",
          "commodity.price_version",
          "commodity.product",
          "commodity.series",
          "storefront.collection",
          "storefront.collection_listing",
          "storefront.listing",
          "storefront.product",
          "storefront.sighting",
          "storefront.store",
          "storefront.variant_change"
        ]
      )
      for (const [table, rows] of read) {
        assert.strictEqual((yield* readRows(lake, table)).length, rows, table)
      }
      const foods = yield* readRows(lake, "branded_food.food")
      assert.deepStrictEqual(
        foods.map(({ fdc_id }) => fdc_id),
        [1, 2, 3, 4, 7]
      )
      assert.deepInclude(foods[0], {
        serving_size: 30,
        trade_channels: null,
        nutrients: [
          { nutrient_id: 1093, amount: 333.5, derivation_id: null },
          { nutrient_id: 1004, amount: 0, derivation_id: 70 }
        ]
      })
    })
  )
  itLive("has a snapshot for each generation, and a log version for each generation that changed the table", () =>
    Effect.gen(function* () {
      const lake = lakeOf(yield* withHistory)
      const price = "commodity.price_version"
      const versions = readDeltaVersions(lake, price)
      assert.deepStrictEqual(versions, ["larder-000001", "larder-000002", "larder-000003"])
      for (const [version, expected] of [["milk"], ["butter", "milk"], ["milk"]].entries()) {
        assert.deepStrictEqual(listMetrics(yield* readRows(lake, price, version)), expected)
        assert.strictEqual((yield* countSnapshotRows(lake, version + 1)).get(price), expected.length)
      }
      assert.deepStrictEqual(readDeltaVersions(lake, "commodity.series"), ["larder-000001"])
      assert.deepStrictEqual(readDeltaVersions(lake, "ingest.run"), [
        "larder-000001",
        "larder-000002",
        "larder-000003" // marks the second run as rolled back
      ])
    })
  )
  itLive("stores no file twice: a rollback names the files of the earlier generation again", () =>
    Effect.gen(function* () {
      const lake = lakeOf(yield* withHistory)
      assert.strictEqual(listLakeFiles(lake, "commodity.price_version").length, 2)
    })
  )
  itLive("has the record of a failed run, but none of its data", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* update(layout)
      const before = listLakeFiles(lakeOf(layout), "commodity.price_version")
      yield* recordFailedRun(layout, {
        run: aRun({ pipeline: "commodities", outcome: "failed", message: "no answer" }),
        checks: [],
        leftOut: []
      })
      yield* update(layout)
      assert.deepStrictEqual(listLakeFiles(lakeOf(layout), "commodity.price_version"), before)
      const runs = yield* readRows(lakeOf(layout), "ingest.run")
      assert.deepStrictEqual(runs.map(({ message }) => message).sort(), ["no answer", null])
    })
  )
})

const price = "commodity.price_version"

describe("retention in the lake", () => {
  itLive("keeps the generations whose data is kept, and removes a file one day after the last generation with it", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      yield* update(layout)
      const [oldest = ""] = listLakeFiles(lakeOf(layout), price)
      yield* publishPrices(layout, "butter")
      yield* update(layout)
      yield* prune(layout).pipe(withSettings({ LARDER_KEPT_GENERATIONS: "1" }))
      yield* publishPrices(layout, "cheese")
      yield* update(layout)
      const lake = lakeOf(layout)
      assert.deepStrictEqual(yield* listSnapshotNumbers(lake), [2, 3])
      assert.include(listLakeFiles(lake, price), oldest)
      const yesterday = Date.now() / 1000 - 90_000
      yield* Effect.promise(async () => {
        for (const name of listLakeFiles(lake, price))
          await utimes(path.join(lake, "data/commodity/price_version", name), yesterday, yesterday)
      })
      yield* publishPrices(layout, "cream").pipe(withClockAhead("25 hours"))
      yield* update(layout).pipe(withClockAhead("25 hours"))
      assert.notInclude(listLakeFiles(lake, price), oldest)
      assert.strictEqual((yield* countSnapshotRows(lake, 2)).get(price), 2)
      assert.deepStrictEqual(listMetrics(yield* readRows(lake, price)), ["butter", "cheese", "cream", "milk"])
      assert.deepStrictEqual(listMetrics(yield* readRows(lake, price, 1)), ["butter", "milk"])
    })
  )
})

describe("an update of the lake that fails", () => {
  const errorMessage = (layout: Layout, variables?: Readonly<Record<string, string>>) =>
    Effect.map(Effect.flip(update(layout, variables)), ({ message }) => message.replaceAll(layout.dir, "DEPOT"))

  itLive("writes nothing if another program's lake is there", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const log = path.join(lakeOf(layout), "data/mine/table/_delta_log/00000000000000000000.json")
      yield* Effect.promise(async () => {
        await mkdir(path.dirname(log), { recursive: true })
        await writeFile(log, "{}")
      })
      assert.strictEqual(
        yield* errorMessage(layout),
        "DEPOT/lake contains files that Larder did not write, such as lake/data/mine/table/_delta_log/00000000000000000000.json. " +
          "It was not changed. Move that folder aside so that the next run writes a new lake, or set LARDER_DEPOT to another depot."
      )
      assert.isFalse(existsSync(path.join(lakeOf(layout), "larder.ducklake")))
    })
  )
  itLive("changes nothing if the lake belongs to another warehouse", () =>
    Effect.gen(function* () {
      const [mine, other] = [yield* withHistory, yield* aLayout]
      yield* publishPrices(other, "wool")
      yield* Effect.promise(() => cp(lakeOf(mine), lakeOf(other), { recursive: true }))
      for (const metric of ["silk", "flax", "hemp"]) yield* publishPrices(other, metric)
      assert.match(
        yield* errorMessage(other),
        /^DEPOT\/lake belongs to another warehouse: its larder-000003 differs from this warehouse's\. It was not changed/
      )
    })
  )
  itLive("states the valid formats of an address if LARDER_LAKE_URL has none of them", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      for (const address of ["lake", "host/lake", "s3:lake"]) {
        assert.match(
          yield* errorMessage(layout, { LARDER_LAKE_URL: address }),
          /LARDER_LAKE_URL is .*: it must be the full address where readers find the lake, such as https:/
        )
      }
    })
  )
  itLive("does not fail the publication, and is reported in one line", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const unwritable = Effect.fail(
        new DepotUnusable({ attempt: "write", cause: new Error("no room"), advice: "Make some." })
      )
      yield* updateLakeIfEnabled({ ...layout, depot: { ...layout.depot, putFile: () => unwritable } }).pipe(
        withSettings({})
      )
      assert.deepStrictEqual(
        logs.filter((line) => line.startsWith("Warn")),
        ["Warn: the lake is not up to date, and the next run tries again: Cannot write: no room. Make some."]
      )
      yield* update(layout)
      assert.strictEqual((yield* countSnapshotRows(lakeOf(layout))).get(price), 1)
    })
  )
})
