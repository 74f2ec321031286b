/**
 * Replaces the live data set with a rebuilt one. Its parts come from another warehouse, in which its runs were
 * repeated. The records of payloads are those that this version reads; runs without records get all of theirs. So the
 * raw archive alone restores the history of the runs that read their source.
 */
import { randomUUID } from "node:crypto"
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import {
  type Change,
  type DataSetEntry,
  type Event,
  generationId,
  isLoaded,
  type Manifest,
  newestManifest
} from "../generation/manifest.ts"
import { verifiedPart } from "../generation/parts.ts"
import { attachIngestion } from "../ingestion/file.ts"
import { writeRecordsOfRebuild } from "../ingestion/records.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { requireKnown } from "../tables/newer-versions.ts"
import type { DataSet } from "../tables/tables.ts"
import { addPart, isSame, PublishedMeanwhile, promoteChange, putFile } from "./record.ts"
import { ownFolder } from "./staging.ts"

/** None of the repeated runs brought a row, but the live data set has rows. */
class NothingMade extends Schema.TaggedError<NothingMade>()("NothingMade", { pipeline: Schema.String }) {
  override get message() {
    return `The runs in the raw archive produce no row of ${this.pipeline}. The live data stays. Restore the folder raw from a backup, and run again.`
  }
}

/** The entry of the rebuilt data set. Rolled-back runs stay rolled back. */
const entryOf = (made: DataSetEntry, live: DataSetEntry | undefined, number: number): DataSetEntry => ({
  ...made,
  published_in: number,
  changed_in: number,
  built_on: isLoaded(live) ? live.published_in : null,
  undone: live?.undone ?? []
})

/** Writes the records of the rebuild as a part of `ingest`, including all records of runs that have none yet. */
const writeRecords = Effect.fnUntraced(function* (layout: Layout, from: Layout, event: Event, file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* refreshOpened(layout)
  const db = yield* DuckDb.memory
  yield* attachIngestion(from, db, "made")
  const isKnown = yield* fs.exists(layout.ingestion)
  if (isKnown) yield* attachIngestion(layout, db, "known")
  yield* writeRecordsOfRebuild(file, event, { db, made: "made", known: isKnown ? "known" : undefined })
}, Effect.scoped)

export interface Rebuild {
  readonly layout: Layout
  readonly dataSet: DataSet
  /** The warehouse in which the runs were repeated. */
  readonly from: Layout
  /** The live entry of the data set when the runs to repeat were selected. */
  readonly since: DataSetEntry | undefined
}

/**
 * Makes the parts of `from` live, with the records of its runs. Returns the id of the new generation. The caller has
 * held the lock of the data set since before it selected the runs to repeat: otherwise a run that publishes meanwhile
 * would be lost.
 */
export const rebuildFrom = Effect.fn("Generation.rebuild")(function* ({ dataSet, from, layout, since }: Rebuild) {
  const path = yield* Path.Path
  const { pipeline } = dataSet.about
  const made = Option.getOrUndefined(yield* newestManifest(from.depot))?.data_sets[pipeline]
  if (!isLoaded(made) && isLoaded(since)) return yield* new NothingMade({ pipeline })
  const folder = yield* ownFolder(layout, `records-${randomUUID()}`)
  const records = path.join(folder, "records.gz")
  const event: Event = {
    kind: "rebuild",
    pipeline,
    run_id: null,
    outcome: null,
    rows_loaded: null,
    went_back_to: null,
    note: null
  }
  yield* writeRecords(layout, from, event, records)
  const object = yield* putFile(layout, records)
  const change = Effect.fnUntraced(function* (base: Manifest | undefined, number: number) {
    const before = base?.data_sets ?? {}
    yield* requireKnown(dataSet, before[pipeline])
    if (!isSame(before[pipeline], since)) return yield* new PublishedMeanwhile({ pipeline })
    const data_sets = isLoaded(made) ? { ...before, [pipeline]: entryOf(made, before[pipeline], number) } : before
    return { event, data_sets, ingest: yield* addPart(base, object, number) } satisfies Change as Change
  })
  for (const part of made?.parts ?? []) yield* putFile(layout, yield* verifiedPart(from, pipeline, part))
  const { number } = yield* promoteChange(layout, "the data set is rebuilt", change)
  return generationId(number)
}, Effect.scoped)
