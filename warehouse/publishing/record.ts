/** What a run adds to what is live: its records as a part of `ingest`, and, where rows were new, the parts of its data set. */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import type { RunRecord } from "@larder/schemas/ingest.ts"
import { Effect, Path, Schema } from "effect"
import { type ObjectId, objectName, putObject } from "../depot/depot.ts"
import { DuckDb } from "../duckdb.ts"
import { type Layout, writableDirectory } from "../generation/layout.ts"
import {
  type Change,
  type DataSetEntry,
  generationId,
  type IngestPart,
  type Manifest,
  newestManifest
} from "../generation/manifest.ts"
import { faultOf, noteSeen, stampedId } from "../generation/parts.ts"
import { promote } from "../generation/promote.ts"
import { mergeIngestParts } from "../ingestion/part.ts"
import { eventOf, type RecordsOfRun, stagedByFailed, writeRecordsOfRun } from "../ingestion/records.ts"
import { requireKnownIngest } from "../newer-versions.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { ownFolder, stagedFileIn } from "../staging.ts"
import { ingestVersion } from "../tables.ts"

/** Parts of so many runs become one. */
const mergedRuns = 100

/**
 * Another machine published the same data set, or rolled it back, since this run compared its rows with it. What the run read is read
 * again beside what is live now: its staged rows are no longer all that it read.
 */
export class PublishedMeanwhile extends Schema.TaggedError<PublishedMeanwhile>()("PublishedMeanwhile", {
  pipeline: Schema.String
}) {
  override get message() {
    return `What is live of ${this.pipeline} was changed by another machine meanwhile. Nothing was published; run again.`
  }
}

/** The data set was rolled back since the run began: what the run did not read, because it was known, is known no more. */
export class RolledBackMeanwhile extends Schema.TaggedError<RolledBackMeanwhile>()("RolledBackMeanwhile", {
  pipeline: Schema.String,
  by: Schema.String
}) {
  override get message() {
    return `${this.pipeline} was rolled back (${this.by}) while this run was reading or publishing: what it took as read already is not live any more. Nothing was published; run again.`
  }
}

/** Fails where runs that counted when this one began were rolled back since. `since` is what was live then. */
export const requireStillKnown = (
  pipeline: string,
  since: Manifest | undefined,
  entry: DataSetEntry | undefined
): Effect.Effect<void, RolledBackMeanwhile> => {
  if (since === undefined) return Effect.void
  const before = new Set(since.data_sets[pipeline]?.undone.map(({ by }) => by))
  const undone = entry?.undone.find(({ by, first }) => first <= since.number && !before.has(by))
  return undone === undefined
    ? Effect.void
    : Effect.fail(new RolledBackMeanwhile({ pipeline, by: generationId(undone.by) }))
}

/** Puts a file into the depot, also in the place of a damaged one, and notes that what lies there now was held to its SHA-256. */
export const putFile = Effect.fnUntraced(function* (layout: Layout, file: string) {
  const { id: object, stamp } = yield* stampedId(file)
  const { depot, local } = layout
  if ((yield* faultOf(layout, object)) !== undefined) yield* local.remove([objectName(object.sha256)])
  yield* putObject(local, object, file)
  if (depot !== local) yield* putObject(depot, object, file)
  yield* noteSeen(layout, object.sha256, stamp) // the file is another name of the object
  return object
})

/** Oldest parts that become one: a hundred of single runs, or else a hundred that were merged of such. */
const mergeable = (parts: ReadonlyArray<IngestPart>) => {
  const isSingle = ({ first, last }: IngestPart) => first === last
  const single = parts.filter(isSingle)
  const merged = parts.filter((part) => !isSingle(part))
  return [single, merged].find((some) => some.length >= mergedRuns)?.slice(0, mergedRuns) ?? []
}

interface Merged {
  readonly of: ReadonlyArray<IngestPart>
  readonly part: IngestPart
}

/** Makes one part of a hundred. A run that is overtaken meanwhile only changes the list. */
const mergeParts = Effect.fnUntraced(function* (layout: Layout, base: Manifest | undefined, folder: string) {
  const path = yield* Path.Path
  const of = mergeable(base?.ingest.parts ?? [])
  const [first] = of
  const last = of.at(-1)
  if (first === undefined || last === undefined) return undefined
  const faults = yield* Effect.forEach(of, (part) => faultOf(layout, part))
  if (faults.some((fault) => fault !== undefined)) return undefined // what is damaged is not carried on
  const file = path.join(folder, "merged.gz")
  yield* mergeIngestParts(
    of.map((part) => ({ ...part, file: layout.objectFile(part.sha256) })),
    file
  )
  const object = yield* putFile(layout, file)
  return { of, part: { ...object, first: first.first, last: last.last } } satisfies Merged as Merged
})

const withMerged = (parts: ReadonlyArray<IngestPart>, merged: Merged | undefined) => {
  if (merged === undefined) return parts
  const replaced = new Set(merged.of.map(({ sha256 }) => sha256))
  const rest = parts.filter(({ sha256 }) => !replaced.has(sha256))
  return rest.length + replaced.size === parts.length ? [merged.part, ...rest].sort((a, b) => a.first - b.first) : parts
}

/** The list of parts with one more. */
export const addPart = (base: Manifest | undefined, object: ObjectId, number: number) =>
  Effect.as(requireKnownIngest(base), {
    schema: ingestVersion,
    parts: [...(base?.ingest.parts ?? []), { ...object, first: number, last: number }]
  } satisfies Manifest["ingest"])

/** What a run makes of its data set. */
export interface Outcome {
  /** What was live when the run began to read; undefined where nothing was. */
  readonly since?: Manifest | undefined
  /** What its rows were compared with; undefined for a first load. */
  readonly base: DataSetEntry | undefined
  /** The data set with new parts; undefined where no row of it changed. */
  readonly entry?: (number: number) => DataSetEntry
}

/** The same parts, and no rollback since. */
export const isSame = (a: DataSetEntry | undefined, b: DataSetEntry | undefined) =>
  a?.changed_in === b?.changed_in && a?.published_in === b?.published_in

/**
 * Makes the generation of a run. `records` is the part of `ingest`, `folder` a place for files that go with the run. One that failed has no
 * outcome: whatever is live then, it changes nothing.
 */
export const recordRun = Effect.fn("Generation.recordRun")(function* (
  layout: Layout,
  run: RunRecord,
  records: string,
  folder: string,
  outcome?: Outcome
) {
  const { pipeline } = run
  const object = yield* putFile(layout, records)
  const newest = yield* newestManifest(layout.local)
  const merged = yield* mergeParts(layout, newest._tag === "Some" ? newest.value : undefined, folder)
  const change = Effect.fnUntraced(function* (base: Manifest | undefined, number: number) {
    const before = base?.data_sets ?? {}
    if (outcome !== undefined) {
      yield* requireStillKnown(pipeline, outcome.since, before[pipeline])
      if (!isSame(before[pipeline], outcome.base)) return yield* new PublishedMeanwhile({ pipeline })
    }
    const ingest = yield* addPart(base, object, number)
    return {
      event: eventOf(run),
      data_sets: outcome?.entry === undefined ? before : { ...before, [pipeline]: outcome.entry(number) },
      ingest: { ...ingest, parts: withMerged(ingest.parts, merged) }
    } satisfies Change as Change
  })
  return yield* promote(layout, change)
})

const hasIngest = "select 1 from duckdb_tables() where schema_name = 'ingest' and database_name = current_database()"

/** Writes the part of a run that failed, with what it staged, where a file in its folder still has that. */
const writeRecordsOfFailed = Effect.fnUntraced(function* (file: string, records: RecordsOfRun, folder: string) {
  const source = stagedFileIn(folder)
  if (!existsSync(source)) return yield* writeRecordsOfRun(file, records)
  const db = yield* DuckDb.readingAndWritingFiles(source)
  const isThere = (yield* db.rows(hasIngest)).length > 0
  yield* writeRecordsOfRun(file, records, isThere ? stagedByFailed(db) : undefined)
}, Effect.scoped)

/** Records a run that failed, so that it is in SQL at once: also what it staged in its folder, where it came that far. */
export const recordEnd = Effect.fnUntraced(function* (
  layout: Layout,
  ended: Omit<RecordsOfRun, "hasChangedData">,
  staging?: string
) {
  const records = { ...ended, hasChangedData: false }
  const path = yield* Path.Path
  yield* writableDirectory(layout.dir)
  const folder = yield* ownFolder(layout, `records-${randomUUID()}`)
  const file = path.join(folder, "records.gz")
  const without = writeRecordsOfRun(file, records)
  yield* staging === undefined
    ? without
    : writeRecordsOfFailed(file, records, staging).pipe(
        Effect.catch((error) =>
          Effect.andThen(Effect.logWarning(`what this run staged is not in ingest.reject: ${error.message}`), without)
        )
      )
  yield* recordRun(layout, records.run, file, folder)
  yield* refreshOpened(layout).pipe(
    Effect.catch((error) => Effect.logWarning(`the run is recorded, but: ${error.message}`))
  )
}, Effect.scoped)
