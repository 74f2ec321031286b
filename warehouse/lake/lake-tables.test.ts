import { rm } from "node:fs/promises"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { failRun, lakeOf, readMetrics, readRows, rollBack } from "@larder/test/support/lake/homes.ts"
import { listLakeTables, readColumns, readGenerations } from "@larder/test/support/lake/reading.ts"
import { queryDatabase } from "@larder/test/support/warehouse/analyst.ts"
import { copyPerTest } from "@larder/test/support/warehouse/copy-per-test.ts"
import { makeEveryDataSet, publishPrices } from "@larder/test/support/warehouse/every-data-set.ts"
import { Effect, Option } from "effect"
import { dataSets } from "../data-sets.ts"
import { newestManifest } from "../generation/manifest.ts"
import { ingestTables } from "../tables/ingest-tables.ts"
import { writeLake } from "./setting.ts"

const withEveryDataSet = copyPerTest(
  Effect.gen(function* () {
    const { layout } = yield* makeEveryDataSet
    yield* writeLake(layout)
    return layout
  })
)

describe("the lake", () => {
  itLive("has the defined tables, and the views that are defined for it, with their columns", () =>
    Effect.gen(function* () {
      const lake = lakeOf(yield* withEveryDataSet)
      const views = dataSets.flatMap((dataSet) => dataSet.views.filter(({ isInLake }) => isInLake))
      assert.deepStrictEqual(
        views.map(({ name }) => name),
        ["observation", "vintage", "current_food", "nutrition", "variant"]
      )
      const defined = [...ingestTables, ...dataSets.flatMap(({ tables }) => tables), ...views]
      assert.deepStrictEqual(listLakeTables(lake), defined.map(({ name, schema }) => `${schema}.${name}`).sort())
      for (const { name, record, schema } of defined)
        assert.deepStrictEqual(readColumns(lake, `${schema}.${name}`), Object.keys(record?.fields ?? {}), name)
    })
  )
  itLive("has as many rows as the warehouse, in every table", () =>
    Effect.gen(function* () {
      const layout = yield* withEveryDataSet
      const tables = listLakeTables(lakeOf(layout))
      const counts = yield* queryDatabase(
        layout.catalogue,
        ...tables.map((table) => `select count(*)::integer as rows from ${table}`)
      )
      for (const [index, table] of tables.entries())
        assert.strictEqual((yield* readRows(layout, table)).length, counts[index]?.[0]?.rows, table)
      const foods = yield* readRows(layout, "branded_food.current_food")
      assert.deepStrictEqual(
        foods.map(({ fdc_id }) => fdc_id),
        [2, 3, 4, 7]
      )
      assert.deepInclude((yield* readRows(layout, "branded_food.food"))[0], {
        serving_size: 30,
        trade_channels: null,
        nutrients: [
          { nutrient_id: 1093, amount: 333.5, derivation_id: null },
          { nutrient_id: 1004, amount: 0, derivation_id: 70 }
        ]
      })
    })
  )
  itLive("keeps the tables of a data set that was rolled back to before its first run, without rows", () =>
    Effect.gen(function* () {
      const layout = yield* withEveryDataSet
      yield* rollBack(layout, "storefronts")
      yield* writeLake(layout)
      const lake = lakeOf(layout)
      for (const name of ["product", "variant"]) {
        assert.deepStrictEqual(yield* readRows(layout, `storefront.${name}`), [])
        assert.deepStrictEqual(readGenerations(lake, `storefront.${name}`), ["larder-000003", "larder-000004"])
        assert.include(readColumns(lake, `storefront.${name}`), "product_id")
      }
      yield* failRun(layout, "no answer")
      yield* writeLake(layout)
      assert.lengthOf(readGenerations(lake, "storefront.product"), 2)
    })
  )
  itLive("keeps the rows of a data set whose database is damaged, and has the new rows of the others", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withEveryDataSet
      yield* publishPrices(layout, "butter")
      const before = readGenerations(lakeOf(layout), "storefront.product")
      const [part] = Option.getOrUndefined(yield* newestManifest(layout.local))?.data_sets.storefronts?.parts ?? []
      yield* Effect.promise(() => rm(layout.objectFile(part?.sha256 ?? "")))
      yield* writeLake(layout)
      assert.include(yield* readMetrics(layout), "butter")
      assert.deepStrictEqual(readGenerations(lakeOf(layout), "storefront.product"), before)
      assert.strictEqual(readGenerations(lakeOf(layout), "ingest.run").at(-1), "larder-000004")
      assert.match(
        logs.join("\n"),
        /Warn: the lake keeps an earlier state of a data set: \S+ of storefronts .* is missing\. .*larder-ingest rebuild storefronts/
      )
    })
  )
})
