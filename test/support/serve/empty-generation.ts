/** A generation without data, for tests whose endpoints are read as the test says. */
import { provenancesOf, type ReadModel } from "@larder/serve/api/read-model.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import type { Generation, Live } from "@larder/warehouse/live/live.ts"
import { withoutCommodities } from "@larder/warehouse/read-models/commodity.ts"

export const emptyGeneration: Generation<ReadModel> = {
  id: "larder-000001",
  entries: {},
  ingest: {} as DuckDb["Service"], // nothing reads it
  dataSet: () => undefined,
  model: {
    loaded: {},
    commodities: withoutCommodities,
    foods: undefined,
    storefronts: undefined,
    dataSets: {},
    provenances: provenancesOf({})
  }
}

export const liveAndEmpty: Live<ReadModel> = {
  current: () => emptyGeneration,
  use: (read) => read(emptyGeneration),
  swaps: () => 0,
  fault: () => undefined,
  unserved: () => new Set<string>()
}
