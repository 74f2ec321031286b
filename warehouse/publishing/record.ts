/**
 * Adds a run to the warehouse: its records as a part of `ingest` and, if it brought new rows, the parts of its data
 * set.
 */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import type { RunRecord } from "@larder/schemas"
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
import { recordedRun } from "../live/runs.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { ingestVersion } from "../tables/ingest-tables.ts"
import { requireKnownIngest } from "../tables/newer-versions.ts"
import { ownFolder, removeAbandoned, stagedFileIn } from "./staging.ts"

/** Number of parts that are merged into one. */
const mergedRuns = 100

/**
 * Another machine published the same data set, or rolled it back, after this run compared its rows with it. The
 * payloads must be read again and compared with what is live now: the staged rows are no longer everything that the run
 * read.
 */
export class PublishedMeanwhile extends Schema.TaggedError<PublishedMeanwhile>()("PublishedMeanwhile", {
  pipeline: Schema.String
}) {
  override get message() {
    return `Another machine has changed the live data of ${this.pipeline} in the meantime. Nothing was published; run again.`
  }
}

/**
 * The data set was rolled back since the run began: data that the run skipped because it was known is no longer known.
 */
export class RolledBackMeanwhile extends Schema.TaggedError<RolledBackMeanwhile>()("RolledBackMeanwhile", {
  pipeline: Schema.String,
  by: Schema.String
}) {
  override get message() {
    return `${this.pipeline} was rolled back (${this.by}) while this run was reading or publishing: data that the run skipped as already known is no longer live. Nothing was published; run again.`
  }
}

/**
 * Fails if runs that counted when this run began were rolled back since. `since` is the generation that was live then.
 */
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

/**
 * Puts a file into the depot, also in place of a damaged object, and notes that the object was verified against its
 * SHA-256.
 */
export const putFile = Effect.fnUntraced(function* (layout: Layout, file: string) {
  const { id: object, stamp } = yield* stampedId(file)
  const { depot, local } = layout
  if ((yield* faultOf(layout, object)) !== undefined) yield* local.remove([objectName(object.sha256)])
  yield* putObject(local, object, file)
  if (depot !== local) yield* putObject(depot, object, file)
  yield* noteSeen(layout, object.sha256, stamp) // the file is a hard link to the object
  return object
})

/** The oldest parts to merge: a hundred of single runs, otherwise a hundred that were merged from such parts. */
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

/** Merges a hundred parts into one. If another run publishes meanwhile, only the list of parts is different. */
const mergeParts = Effect.fnUntraced(function* (layout: Layout, base: Manifest | undefined, folder: string) {
  const path = yield* Path.Path
  const of = mergeable(base?.ingest.parts ?? [])
  const [first] = of
  const last = of.at(-1)
  if (first === undefined || last === undefined) return undefined
  const faults = yield* Effect.forEach(of, (part) => faultOf(layout, part))
  if (faults.some((fault) => fault !== undefined)) return undefined // a damaged part is not merged
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

/** The result of a run for its data set. */
export interface Outcome {
  /** The live generation when the run began to read; undefined if there was none. */
  readonly since?: Manifest | undefined
  /** The entry with which its rows were compared; undefined for a first load. */
  readonly base: DataSetEntry | undefined
  /** The entry with new parts; undefined if no row of the data set changed. */
  readonly entry?: (number: number) => DataSetEntry
}

/** Whether both entries have the same parts, with no rollback in between. */
export const isSame = (a: DataSetEntry | undefined, b: DataSetEntry | undefined) =>
  a?.changed_in === b?.changed_in && a?.published_in === b?.published_in

/**
 * Makes the generation of a run. `records` is the file of its part of `ingest`; `folder` is for files that are removed
 * with the run. A failed run has no outcome: it changes no data set, whatever is live then.
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

/** Writes the part of a failed run, with its staged rows if a file in its folder still has them. */
const writeRecordsOfFailed = Effect.fnUntraced(function* (file: string, records: RecordsOfRun, folder: string) {
  const source = stagedFileIn(folder)
  if (!existsSync(source)) return yield* writeRecordsOfRun(file, records)
  const db = yield* DuckDb.readingAndWritingFiles(source)
  const isThere = (yield* db.rows(hasIngest)).length > 0
  yield* writeRecordsOfRun(file, records, isThere ? stagedByFailed(db) : undefined)
}, Effect.scoped)

/**
 * Records a failed run, so that it is immediately visible in SQL, with the rows that it staged in its folder, if it got
 * that far.
 */
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
          Effect.andThen(
            Effect.logWarning(`rows that this run staged are not in ingest.reject: ${error.message}`),
            without
          )
        )
      )
  yield* recordRun(layout, records.run, file, folder)
  yield* refreshOpened(layout).pipe(
    Effect.catch((error) => Effect.logWarning(`the run is recorded, but: ${error.message}`))
  )
}, Effect.scoped)

/**
 * Makes the generation that `change` describes. It is live as soon as its manifest is put: a later interrupt only logs
 * a warning, with the text of `done`.
 */
export const promoteChange = <E, R>(
  layout: Layout,
  done: string,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) =>
  Effect.suspend(() => {
    let made: Manifest | undefined
    const making = Effect.tap(promote(layout, change), (manifest) => {
      made = manifest
      return refreshOpened(layout).pipe(Effect.catch((error) => Effect.logWarning(`${done}, but: ${error.message}`)))
    })
    return Effect.uninterruptible(making).pipe(
      Effect.onInterrupt(() =>
        made === undefined
          ? Effect.void
          : Effect.logWarning(`the interrupt came too late: ${done}, and ${generationId(made.number)} is live`)
      )
    )
  })

/** Killed runs leave no record: the next run records them. */
const killedMessage = "The program was killed, or its machine stopped, before the run ended. The time is not known."

/**
 * Records killed runs that have no record yet, and removes their files. A run that was killed after it put its manifest
 * has a record.
 */
export const recordKilledRuns = (layout: Layout) =>
  removeAbandoned(
    layout,
    Effect.fn("KilledRuns.record")(function* (run) {
      if ((yield* recordedRun(layout, run.run_id)) !== undefined) return
      yield* recordEnd(layout, {
        run: { ...run, outcome: "interrupted", message: killedMessage },
        checks: [],
        leftOut: []
      })
    })
  )
