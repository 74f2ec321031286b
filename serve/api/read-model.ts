/** The server's read model of the live generation, in memory and in open files. */
import { dataSets, type Endpoint, type Licence } from "@larder/schemas"
import {
  type CommodityModel,
  type DataSetEntry,
  generationId,
  type Layout,
  type Loading,
  type Storefronts,
  withLastReads,
  withoutCommodities
} from "@larder/warehouse"
import { Effect, type FileSystem, type Path } from "effect"
import { type Loaded, loaders } from "./data-sets.ts"

/** Where the rows of a data set come from. */
export interface Provenance {
  /** The generation that changed the data set last. Undefined if the data set is not loaded. */
  readonly generation: string | undefined
  /** `sample` if the data set holds rows of the bundled samples, most of which are generated. */
  readonly origin: "live" | "sample"
}
export type Provenances = Readonly<Record<Endpoint["tag"], Provenance>>

const notLoaded: Provenance = { generation: undefined, origin: "live" }

/** Replayed recordings count as live. */
const provenanceOf = (entry: DataSetEntry | undefined): Provenance =>
  entry === undefined
    ? notLoaded
    : { generation: generationId(entry.changed_in), origin: entry.origins.includes("sample") ? "sample" : "live" }

/** Provenance of the served data sets; `entries` is keyed by pipeline. */
export const provenancesOf = (entries: Readonly<Record<string, DataSetEntry>>): Provenances =>
  Object.fromEntries(dataSets.map(({ pipeline, tag }) => [tag, provenanceOf(entries[pipeline])])) as Provenances // each tag is that of a data set of the list

/** For answers that belong to no single data set. */
export const ofAll = (provenances: Provenances): Provenance => ({
  generation: undefined,
  origin: Object.values(provenances).some(({ origin }) => origin === "sample") ? "sample" : "live"
})

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
  const byPipeline = loaders(layout, withheldLicences)
  return {
    dataSets: byPipeline,
    assemble: (loaded, entries, ingest) =>
      Effect.map(
        loaded.storefronts === undefined ? Effect.undefined : withLastReads(loaded.storefronts, ingest),
        (storefronts) => modelOf(loaded, storefronts, entries, Object.keys(byPipeline))
      )
  }
}
