/**
 * What an answer states about its data set, besides the rows: the generation that changed it last, and whether its rows
 * come from a source or from the bundled samples.
 */
import { dataSets } from "@larder/schemas/data-sets.ts"
import type { Endpoint } from "@larder/schemas/endpoint.ts"
import { type DataSetEntry, generationId } from "@larder/warehouse/generation/manifest.ts"

export interface Provenance {
  /** Undefined if the data set is not loaded. */
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
