/** A generation without data, for tests whose endpoints are read as the test says. */
import { ofNone } from "@larder/serve/provenance.ts"
import type { ReadModel } from "@larder/serve/read-model.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import type { Generation, Live } from "@larder/warehouse/generation/live.ts"
import { withoutCommodities } from "@larder/warehouse/read-models/commodity.ts"

export const emptyGeneration: Generation<ReadModel> = {
  id: "larder-000001",
  db: {} as DuckDb["Service"], // nothing reads it
  model: {
    commodities: withoutCommodities,
    foods: undefined,
    storefronts: undefined,
    dataSets: {},
    provenances: ofNone
  }
}

export const liveAndEmpty: Live<ReadModel> = {
  current: () => emptyGeneration,
  use: (read) => read(emptyGeneration),
  swaps: () => 0,
  fault: () => undefined
}
