/** The read model of the live generation, in memory and in open files. */
import { type DataSetTag, dataSets } from "@larder/schemas"
import {
  type CommodityModel,
  type DataSetEntry,
  generationId,
  type LoadedDataSets,
  type Storefronts
} from "@larder/warehouse"

export interface Provenance {
  /** The generation that changed the data set last. Undefined if the data set is not loaded. */
  readonly generation: string | undefined
  /** `sample` if the data set contains rows of the bundled samples, most of which are generated. */
  readonly origin: "live" | "sample"
}
export type Provenances = Readonly<Record<DataSetTag, Provenance>>

/** `entries` is keyed by pipeline. Replayed recordings count as live. */
export const toProvenances = (entries: Readonly<Record<string, DataSetEntry>>) =>
  Object.fromEntries(
    dataSets.map(({ pipeline, tag }): [string, Provenance] => {
      const entry = entries[pipeline]
      const origin = entry?.origins.includes("sample") ? "sample" : "live"
      return [tag, { generation: entry && generationId(entry.changed_in), origin }]
    })
  ) as Provenances // every data set has a tag, and each tag is in the list

/** For responses that belong to no single data set. */
export const combineProvenances = (provenances: Provenances): Provenance => ({
  generation: undefined,
  origin: Object.values(provenances).some(({ origin }) => origin === "sample") ? "sample" : "live"
})

export interface ReadModel {
  /** By pipeline; a data set that is not loaded is absent. */
  readonly loaded: Partial<LoadedDataSets>
  readonly commodities: CommodityModel
  readonly foods: LoadedDataSets["branded-foods"] | undefined
  readonly storefronts: Storefronts | undefined
  readonly dataSets: Readonly<Record<string, boolean>>
  readonly provenances: Provenances
}
