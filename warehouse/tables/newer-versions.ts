/**
 * Data that a newer version of Larder published. A program that does not know its tables neither reads nor replaces it,
 * because replacing it would lose what the program does not know.
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

type Versioned = Pick<DataSet, "about" | "version">

const newer = ({ about, version }: Versioned, entry: DataSetEntry | undefined) =>
  isLoaded(entry) && entry.schema > version
    ? [new NewerDataSet({ what: about.pipeline, found: entry.schema, known: version })]
    : []

const newerIngest = ({ ingest }: Manifest) =>
  ingest.schema > ingestVersion
    ? [new NewerDataSet({ what: "schema ingest", found: ingest.schema, known: ingestVersion })]
    : []

/** The parts of a generation that this version does not know: data sets, and the schema `ingest`. */
export const newerIn = (manifest: Manifest): ReadonlyArray<NewerDataSet> => [
  ...dataSets.flatMap((dataSet) => newer(dataSet, manifest.data_sets[dataSet.about.pipeline])),
  ...newerIngest(manifest)
]

const failWith = ([first]: ReadonlyArray<NewerDataSet>) => (first === undefined ? Effect.void : Effect.fail(first))

/** Fails if a newer version published this data set. */
export const requireKnown = (dataSet: Versioned, entry: DataSetEntry | undefined) => failWith(newer(dataSet, entry))

/** Fails if a newer version wrote records: those of this version must not replace them. */
export const requireKnownIngest = (manifest: Manifest | undefined) =>
  manifest === undefined ? Effect.void : failWith(newerIngest(manifest))
