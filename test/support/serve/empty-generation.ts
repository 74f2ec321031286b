/** A generation without data, for tests with their own endpoint results. */
import type { ReadModel } from "@larder/serve/api"
import { toProvenances } from "@larder/serve/api/read-model.ts"
import { type DuckDb, emptyCommodities, type Generation, type Live } from "@larder/warehouse"

export const emptyGeneration: Generation<ReadModel> = {
  id: "larder-000001",
  entries: {},
  ingest: {} as DuckDb["Service"], // unused
  dataSet: () => undefined,
  model: {
    loaded: {},
    commodities: emptyCommodities,
    foods: undefined,
    storefronts: undefined,
    dataSets: {},
    provenances: toProvenances({})
  }
}

export const liveAndEmpty: Live<ReadModel> = {
  current: () => emptyGeneration,
  use: (read) => read(emptyGeneration),
  swaps: () => 0,
  fault: () => undefined,
  unserved: () => new Set<string>()
}
