/**
 * Refuses data that another version of Larder published. Data with other tables or views is neither read nor added to:
 * the meaning of its rows is unknown, and the data set must be rebuilt from the raw archive. Data of a newer version is
 * not rebuilt either: this version would lose the columns and tables that it does not define. Rows that another version
 * of a mapping made are read, but never published together with rows of this one.
 */
import { Effect, Schema } from "effect"
import { dataSets } from "../data-sets.ts"
import { type DataSetEntry, isLoaded, type Manifest } from "../generation/manifest.ts"
import { tablesHash } from "./dictionary.ts"
import { ingestVersion } from "./ingest-tables.ts"
import type { DataSet } from "./tables.ts"

const rebuildAdvice = (pipeline: string) =>
  `Rebuild it from the raw archive with: npx larder-ingest rebuild ${pipeline}`

/** Another version published the data set, with other tables or views. */
export class TablesDiffer extends Schema.TaggedError<TablesDiffer>()("TablesDiffer", { pipeline: Schema.String }) {
  override get message() {
    return `${this.pipeline} was published by another version of Larder, with other tables or views, and no version converts them. ${rebuildAdvice(this.pipeline)}`
  }
}

/** Tables were published by a newer version than this one. */
export class NewerDataSet extends Schema.TaggedError<NewerDataSet>()("NewerDataSet", {
  /** A pipeline, or the schema `ingest`, which all pipelines share. */
  subject: Schema.String,
  found: Schema.Int,
  supported: Schema.Int
}) {
  override get message() {
    return `${this.subject} was published with tables of version ${this.found}, and this version of Larder supports versions up to ${this.supported}. Update Larder on this machine, servers first.`
  }
}

const findNewerDataSet = ({ about, version }: Pick<DataSet, "about" | "version">, entry: DataSetEntry | undefined) =>
  isLoaded(entry) && entry.schema > version
    ? new NewerDataSet({ subject: about.pipeline, found: entry.schema, supported: version })
    : undefined

const findNewerIngest = (manifest: Manifest | undefined) =>
  manifest !== undefined && manifest.ingest.schema > ingestVersion
    ? new NewerDataSet({ subject: "schema ingest", found: manifest.ingest.schema, supported: ingestVersion })
    : undefined

/** Errors for the data sets of a generation, and for its schema `ingest`, that a newer version published. */
export const findNewer = (manifest: Manifest): ReadonlyArray<NewerDataSet> =>
  [
    ...dataSets.map((dataSet) => findNewerDataSet(dataSet, manifest.data_sets[dataSet.about.pipeline])),
    findNewerIngest(manifest)
  ].filter((newer) => newer !== undefined)

const failWith = <E>(error: E | undefined) => (error === undefined ? Effect.void : Effect.fail(error))

/** Fails if a newer version published this data set. */
export const requireNotNewer = (dataSet: DataSet, entry: DataSetEntry | undefined) =>
  failWith(findNewerDataSet(dataSet, entry))

/** The error if another version published this data set, with other tables or views. */
export const findUnknown = (dataSet: DataSet, entry: DataSetEntry | undefined) => {
  const { pipeline } = dataSet.about
  const isOther = isLoaded(entry) && entry.definition !== tablesHash(dataSet)
  return findNewerDataSet(dataSet, entry) ?? (isOther ? new TablesDiffer({ pipeline }) : undefined)
}
export const requireKnown = (dataSet: DataSet, entry: DataSetEntry | undefined) => failWith(findUnknown(dataSet, entry))

/** Errors for what this version cannot read of a generation, by pipeline; of its schema `ingest` for all of them. */
export const findUnreadable = (manifest: Manifest): ReadonlyMap<string, NewerDataSet | TablesDiffer> =>
  new Map(
    dataSets.flatMap((dataSet) => {
      const { pipeline } = dataSet.about
      const error = findUnknown(dataSet, manifest.data_sets[pipeline]) ?? findNewerIngest(manifest)
      return error === undefined ? [] : [[pipeline, error] as const]
    })
  )

/** Fails if a newer version wrote records: those of this version must not replace them. */
export const requireKnownIngest = (manifest: Manifest | undefined) => failWith(findNewerIngest(manifest))

/** Another version of the mapping made the live rows of a data set. */
export class OtherMapping extends Schema.TaggedError<OtherMapping>()("OtherMapping", {
  pipeline: Schema.String,
  found: Schema.Int,
  supported: Schema.Int,
  /** Why a run cannot rebuild the data set itself, in sentences. */
  obstacle: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    const versions = `The live data of ${this.pipeline} was made with version ${this.found} of its mapping. This version of Larder has version ${this.supported}, and never mixes values of two versions. Nothing was published.`
    if (this.found > this.supported) return `${versions} Update Larder on this machine.`
    return [versions, this.obstacle, rebuildAdvice(this.pipeline)].filter(Boolean).join(" ")
  }
}

const otherMapping = ({ about: { pipeline } }: Pick<DataSet, "about">, supported: number, entry: DataSetEntry) =>
  new OtherMapping({ pipeline, found: entry.mapping, supported })

/** Whether an earlier version of the mapping than this one made the live rows. */
export const hasOlderMapping = (entry: DataSetEntry | undefined, supported: number): entry is DataSetEntry =>
  isLoaded(entry) && entry.mapping < supported

/** Fails if a later version of the mapping made the live rows: this one must not replace them. */
export const requireNoNewerMapping = (
  dataSet: Pick<DataSet, "about">,
  supported: number,
  entry: DataSetEntry | undefined
) => (isLoaded(entry) && entry.mapping > supported ? Effect.fail(otherMapping(dataSet, supported, entry)) : Effect.void)

/** Fails if rows of this version of the mapping would be mixed with live rows of another one. */
export const requireMapping = (dataSet: Pick<DataSet, "about">, supported: number, entry: DataSetEntry | undefined) =>
  isLoaded(entry) && entry.mapping !== supported ? Effect.fail(otherMapping(dataSet, supported, entry)) : Effect.void
