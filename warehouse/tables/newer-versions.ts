/**
 * Detects data that a newer version of Larder published. A program that does not know its tables neither reads nor
 * replaces it: replacing it would lose what the program does not know.
 */
import { Effect, Schema } from "effect"
import { dataSets } from "../data-sets.ts"
import { type DataSetEntry, isLoaded, type Manifest } from "../generation/manifest.ts"
import { ingestVersion } from "./ingest-tables.ts"
import type { DataSet } from "./tables.ts"

/** Tables were published by a newer version than this one. */
export class NewerDataSet extends Schema.TaggedError<NewerDataSet>()("NewerDataSet", {
  /** A pipeline, or the schema `ingest`, which all pipelines share. */
  what: Schema.String,
  found: Schema.Int,
  known: Schema.Int
}) {
  override get message() {
    return `${this.what} was published with tables of version ${this.found}, and this version of Larder knows up to ${this.known}. Update Larder on this machine, servers first.`
  }
}

const findNewerDataSet = ({ about, version }: Pick<DataSet, "about" | "version">, entry: DataSetEntry | undefined) =>
  isLoaded(entry) && entry.schema > version
    ? new NewerDataSet({ what: about.pipeline, found: entry.schema, known: version })
    : undefined

const findNewerIngest = (manifest: Manifest | undefined) =>
  manifest !== undefined && manifest.ingest.schema > ingestVersion
    ? new NewerDataSet({ what: "schema ingest", found: manifest.ingest.schema, known: ingestVersion })
    : undefined

/** The parts of a generation that this version does not know: data sets, and the schema `ingest`. */
export const findNewer = (manifest: Manifest): ReadonlyArray<NewerDataSet> =>
  [
    ...dataSets.map((dataSet) => findNewerDataSet(dataSet, manifest.data_sets[dataSet.about.pipeline])),
    findNewerIngest(manifest)
  ].filter((newer) => newer !== undefined)

const failWith = (newer: NewerDataSet | undefined) => (newer === undefined ? Effect.void : Effect.fail(newer))

/** Fails if a newer version published this data set. */
export const requireKnown = (dataSet: DataSet, entry: DataSetEntry | undefined) =>
  failWith(findNewerDataSet(dataSet, entry))

/** Fails if a newer version wrote records: those of this version must not replace them. */
export const requireKnownIngest = (manifest: Manifest | undefined) => failWith(findNewerIngest(manifest))
