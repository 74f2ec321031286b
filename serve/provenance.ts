/**
 * What answers say about the data set that was asked, beside its rows: which generation changed it last, and whether its rows
 * are those of a source or of the bundled samples.
 */
import type { Endpoint } from "@larder/schemas/endpoint.ts"
import { type DataSetEntry, generationId } from "@larder/warehouse/generation/manifest.ts"

export interface Provenance {
  /** Undefined where the data set is not loaded. */
  readonly generation: string | undefined
  /** `sample` where the data set holds rows of the bundled samples, most of which are generated. */
  readonly origin: "live" | "sample"
}
export type Provenances = Readonly<Record<Endpoint["tag"], Provenance>>

const notLoaded: Provenance = { generation: undefined, origin: "live" }

/** Replayed recordings count as live. */
const provenanceOf = (entry: DataSetEntry | undefined): Provenance =>
  entry === undefined
    ? notLoaded
    : { generation: generationId(entry.changed_in), origin: entry.origins.includes("sample") ? "sample" : "live" }

/** Of the data sets that are served, by pipeline. */
export const provenancesOf = (entries: Readonly<Record<string, DataSetEntry>>): Provenances => ({
  Commodities: provenanceOf(entries.commodities),
  "Branded foods": provenanceOf(entries["branded-foods"]),
  Storefronts: provenanceOf(entries.storefronts)
})

/** `current` is the generation that answers. */
export const dataHeaders = ({ generation, origin }: Provenance, current: string): Readonly<Record<string, string>> => ({
  "x-data-version": generation ?? current,
  "x-data-origin": origin
})

/** For answers that belong to no single data set. */
export const ofAll = (provenances: Provenances): Provenance => ({
  generation: undefined,
  origin: Object.values(provenances).some(({ origin }) => origin === "sample") ? "sample" : "live"
})
