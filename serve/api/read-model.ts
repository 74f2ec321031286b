/** The server's read model of the live generation, in memory and in open files. */
import type { Licence } from "@larder/schemas/commodity/records.ts"
import type { Endpoint } from "@larder/schemas/endpoint.ts"
import type { Layout } from "@larder/warehouse/generation/layout.ts"
import { type DataSetEntry, generationId } from "@larder/warehouse/generation/manifest.ts"
import type { Loading } from "@larder/warehouse/live/live.ts"
import { openServedFoods } from "@larder/warehouse/live/sidecar-files.ts"
import { type CommodityModel, loadCommodities, withoutCommodities } from "@larder/warehouse/read-models/commodity.ts"
import {
  loadStorefronts,
  type StorefrontData,
  type Storefronts,
  withLastReads
} from "@larder/warehouse/read-models/storefront.ts"
import type { Foods } from "@larder/warehouse/search/open.ts"
import { brandedFood, commodity, storefront } from "@larder/warehouse/tables/tables.ts"
import { Effect, type FileSystem, type Path } from "effect"

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
export const provenancesOf = (entries: Readonly<Record<string, DataSetEntry>>): Provenances => ({
  Commodities: provenanceOf(entries.commodities),
  "Branded foods": provenanceOf(entries["branded-foods"]),
  Storefronts: provenanceOf(entries.storefronts)
})

/** For answers that belong to no single data set. */
export const ofAll = (provenances: Provenances): Provenance => ({
  generation: undefined,
  origin: Object.values(provenances).some(({ origin }) => origin === "sample") ? "sample" : "live"
})

export interface ReadModel {
  readonly commodities: CommodityModel
  readonly foods: Foods | undefined
  readonly storefronts: Storefronts | undefined
  /** Which data sets are loaded. */
  readonly dataSets: Readonly<Record<string, boolean>>
  readonly provenances: Provenances
}

/** The loaded data of each data set, by pipeline. */
interface Loaded {
  readonly commodities: CommodityModel
  readonly "branded-foods": Foods
  readonly storefronts: StorefrontData
}

const modelOf = (
  loaded: Omit<Partial<Loaded>, "storefronts">,
  storefronts: Storefronts | undefined,
  entries: Readonly<Record<string, DataSetEntry>>
): ReadModel => ({
  commodities: loaded.commodities ?? withoutCommodities,
  foods: loaded["branded-foods"],
  storefronts,
  dataSets: {
    commodities: loaded.commodities !== undefined,
    branded_foods: loaded["branded-foods"] !== undefined,
    storefronts: storefronts !== undefined
  },
  provenances: provenancesOf(entries)
})

/** Loads a data set only when its parts change, and assembles the read model for every generation. */
export const readModelOf = (
  layout: Layout,
  withheldLicences: ReadonlyArray<Licence> = []
): Loading<Loaded, ReadModel, FileSystem.FileSystem | Path.Path> => ({
  dataSets: {
    commodities: { of: commodity, load: ({ db }) => loadCommodities(db, withheldLicences) },
    "branded-foods": { of: brandedFood, load: ({ db, entry }) => openServedFoods(layout, entry, db) },
    storefronts: { of: storefront, load: ({ db }) => loadStorefronts(db) }
  },
  assemble: ({ storefronts, ...loaded }, entries, ingest) =>
    Effect.map(storefronts === undefined ? Effect.undefined : withLastReads(storefronts, ingest), (read) =>
      modelOf(loaded, read, entries)
    )
})
