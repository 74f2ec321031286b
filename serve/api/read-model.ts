/** The server's read model of the live generation, in memory and in open files. */
import type { Licence } from "@larder/schemas/commodity/records.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import type { DataSetEntry } from "@larder/warehouse/generation/manifest.ts"
import type { Loading } from "@larder/warehouse/live/live.ts"
import { type CommodityModel, withoutCommodities } from "@larder/warehouse/read-models/commodity.ts"
import { type Storefronts, withLastReads } from "@larder/warehouse/read-models/storefront.ts"
import { Effect, type FileSystem, type Path } from "effect"
import { type Loaded, loaders } from "./data-sets.ts"
import { type Provenances, provenancesOf } from "./provenance.ts"

export interface ReadModel {
  /** By pipeline, as loaded; a data set that is not loaded is absent. */
  readonly loaded: Partial<Loaded>
  readonly commodities: CommodityModel
  readonly foods: Loaded["branded-foods"] | undefined
  readonly storefronts: Storefronts | undefined
  /** Which data sets are loaded. */
  readonly dataSets: Readonly<Record<string, boolean>>
  readonly provenances: Provenances
}

const modelOf = (
  loaded: Partial<Loaded>,
  storefronts: Storefronts | undefined,
  entries: Readonly<Record<string, DataSetEntry>>,
  pipelines: ReadonlyArray<string>
): ReadModel => ({
  loaded,
  commodities: loaded.commodities ?? withoutCommodities,
  foods: loaded["branded-foods"],
  storefronts,
  dataSets: Object.fromEntries(pipelines.map((name) => [name.replaceAll("-", "_"), name in loaded])),
  provenances: provenancesOf(entries)
})

/** Loads a data set only when its parts change, and assembles the read model for every generation. */
export const readModelOf = (
  layout: Layout,
  withheldLicences: ReadonlyArray<Licence> = []
): Loading<Loaded, ReadModel, FileSystem.FileSystem | Path.Path> => {
  const dataSets = loaders(layout, withheldLicences)
  return {
    dataSets,
    assemble: (loaded, entries, ingest) =>
      Effect.map(
        loaded.storefronts === undefined ? Effect.undefined : withLastReads(loaded.storefronts, ingest),
        (storefronts) => modelOf(loaded, storefronts, entries, Object.keys(dataSets))
      )
  }
}
