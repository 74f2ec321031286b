/** What the server holds in memory of a generation, and which data sets it found there. */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { loadCommodities } from "@larder/warehouse/read-models/commodity.ts"
import { Effect } from "effect"

export const loadReadModel = Effect.fn("ReadModel.load")(function* (db: DuckDb["Service"]) {
  const commodities = yield* loadCommodities(db)
  const dataSets: Readonly<Record<string, boolean>> = {
    commodities: commodities.loaded,
    branded_foods: false,
    storefronts: false
  }
  return { commodities, dataSets }
})

export type ReadModel = Effect.Success<ReturnType<typeof loadReadModel>>
