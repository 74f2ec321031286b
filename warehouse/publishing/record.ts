/** Adds a run to the warehouse: its records as a part of `ingest` and, if it has new rows, the parts of its data set. */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import type { RunRecord } from "@larder/schemas"
import { Effect, Path, Schema } from "effect"
import { Hint, hintName, type ObjectId, objectName, putObject } from "../depot/depot.ts"
import { DuckDb } from "../duckdb.ts"
import { type Layout, requireWritableFolder } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import {
  type Change,
  type DataSetEntry,
  generationId,
  type IngestPart,
  type Manifest,
  makeGeneration,
  manifestName,
  newestManifest
} from "../generation/manifest.ts"
import { findFault, identifyWithStamp, markVerified } from "../generation/parts.ts"
import { pullGeneration } from "../generation/pull.ts"
import { mergeIngestParts } from "../ingestion/part.ts"
import { eventOf, type RecordsOfRun, stagedByFailedRun, writeRecordsOfRun } from "../ingestion/records.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { readRecordedRun } from "../opened/runs.ts"
import { ingestVersion } from "../tables/ingest-tables.ts"
import { requireKnownIngest } from "../tables/versions.ts"
import { makeOwnFolder, removeAbandoned, stagedFileIn } from "./staging.ts"

/** This many parts are merged into one. */
const mergedPartCount = 100

/**
 * Another machine published the same data set, or rolled it back, after this run compared its rows with it. The payloads
 * must be read again, because rows that were known then were removed from the staging file.
 */
export class ConcurrentPublication extends Schema.TaggedError<ConcurrentPublication>()("ConcurrentPublication", {
  pipeline: Schema.String
}) {
  override get message() {
    return `Another machine has changed the live data of ${this.pipeline} in the meantime. Nothing was published; run again.`
  }
}

/** The data set was rolled back since the run began: payloads that the run skipped as loaded are no longer live. */
export class ConcurrentRollback extends Schema.TaggedError<ConcurrentRollback>()("ConcurrentRollback", {
  pipeline: Schema.String,
  by: Schema.String
}) {
  override get message() {
    return `${this.pipeline} was rolled back (${this.by}) while this run was reading or publishing: data that the run skipped as already known is no longer live. Nothing was published; run again.`
  }
}

/** Fails if live runs were rolled back since the generation `since`, which was live when this run began. */
export const requireNoRollback = (
  pipeline: string,
  since: Manifest | undefined,
  entry: DataSetEntry | undefined
): Effect.Effect<void, ConcurrentRollback> => {
  if (since === undefined) return Effect.void
  const before = new Set(since.data_sets[pipeline]?.undone.map(({ by }) => by))
  const undone = entry?.undone.find(({ by, first }) => first <= since.number && !before.has(by))
  return undone === undefined
    ? Effect.void
    : Effect.fail(new ConcurrentRollback({ pipeline, by: generationId(undone.by) }))
}

/** Stores a file in the depot, replacing a damaged object, and records that the object was verified. */
export const putFile = Effect.fnUntraced(function* (layout: Layout, file: string) {
  const { id: object, stamp } = yield* identifyWithStamp(file)
  const { depot, local } = layout
  if ((yield* findFault(layout, object)) !== undefined) yield* local.remove([objectName(object.sha256)])
  yield* putObject(local, object, file)
  if (depot !== local) yield* putObject(depot, object, file)
  yield* markVerified(layout, object.sha256, stamp) // the file is a hard link to the object
  return object
})

/** The oldest parts to merge: a hundred parts of single runs, otherwise a hundred merged parts. */
const selectMergeable = (parts: ReadonlyArray<IngestPart>) => {
  const single = parts.filter(({ first, last }) => first === last)
  const merged = parts.filter(({ first, last }) => first !== last)
  const mergeable = [single, merged].find((candidates) => candidates.length >= mergedPartCount)
  return mergeable?.slice(0, mergedPartCount) ?? []
}

interface MergedParts {
  readonly sources: ReadonlyArray<IngestPart>
  readonly part: IngestPart
}

/** Merges a hundred parts into one. If another run publishes at the same time, the merged part remains valid. */
const mergeParts = Effect.fnUntraced(function* (layout: Layout, base: Manifest | undefined, folder: string) {
  const path = yield* Path.Path
  const sources = selectMergeable(base?.ingest.parts ?? [])
  const [first] = sources
  const last = sources.at(-1)
  if (first === undefined || last === undefined) return undefined
  const faults = yield* Effect.forEach(sources, (part) => findFault(layout, part))
  if (faults.some((fault) => fault !== undefined)) return undefined // a damaged part is not merged
  const file = path.join(folder, "merged.gz")
  yield* mergeIngestParts(
    sources.map((part) => ({ ...part, file: layout.objectFile(part.sha256) })),
    file
  )
  const object = yield* putFile(layout, file)
  return { sources, part: { ...object, first: first.first, last: last.last } } satisfies MergedParts
})

const replaceMerged = (parts: ReadonlyArray<IngestPart>, merged: MergedParts | undefined) => {
  if (merged === undefined) return parts
  const replaced = new Set(merged.sources.map(({ sha256 }) => sha256))
  const rest = parts.filter(({ sha256 }) => !replaced.has(sha256))
  return rest.length + replaced.size === parts.length ? [merged.part, ...rest].sort((a, b) => a.first - b.first) : parts
}

export const addPart = (base: Manifest | undefined, object: ObjectId, number: number) =>
  Effect.as(requireKnownIngest(base), {
    schema: ingestVersion,
    parts: [...(base?.ingest.parts ?? []), { ...object, first: number, last: number }]
  } satisfies Manifest["ingest"])

const encodeHint = Schema.encodeSync(Schema.fromJsonString(Hint))

/** Pulls a generation that this machine published to a shared depot. */
const pullOwn = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  const { depot, pullLock } = layout
  // if this fails, the next generation writes a newer hint
  yield* Effect.ignore(depot.putHint(hintName, encodeHint({ newest: manifestName(manifest.number) })))
  yield* withLock(pullLock, pullGeneration(layout, manifest)).pipe(
    Effect.catch((error) =>
      Effect.logWarning(
        `${generationId(manifest.number)} is live in ${depot.location}, and this machine gets it with its next run: ${error.message}`
      )
    )
  )
})

/** Makes the next generation, as `change` describes it. After its manifest is stored, the promotion cannot fail. */
const promote = Effect.fn("Generation.promote")(function* <E, R>(
  layout: Layout,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) {
  const manifest = yield* makeGeneration(layout.depot, change)
  if (layout.depot !== layout.local) yield* pullOwn(layout, manifest)
  return manifest
})

interface DataSetResult {
  /** The live generation when the run began to read; undefined if there was none. */
  readonly since?: Manifest | undefined
  /** The entry with which its rows were compared; undefined for a first load. */
  readonly base: DataSetEntry | undefined
  /** The entry with new parts; undefined if no row of the data set changed. */
  readonly entry?: (number: number) => DataSetEntry
}

/** Whether both entries have the same parts, with no rollback in between. */
export const isUnchangedEntry = (a: DataSetEntry | undefined, b: DataSetEntry | undefined) =>
  a?.changed_in === b?.changed_in && a?.published_in === b?.published_in

/**
 * Makes the generation of a run. `records` is the file of its part of `ingest`; `folder` is for files that are removed
 * with the run. Without a `result`, as for a failed run, no data set changes.
 */
export const recordRun = Effect.fn("Generation.recordRun")(function* (
  layout: Layout,
  run: RunRecord,
  records: string,
  folder: string,
  result?: DataSetResult
) {
  const { pipeline } = run
  const object = yield* putFile(layout, records)
  const newest = yield* newestManifest(layout.local)
  const merged = yield* mergeParts(layout, newest, folder)
  const change = Effect.fnUntraced(function* (base: Manifest | undefined, number: number) {
    const before = base?.data_sets ?? {}
    if (result !== undefined) {
      yield* requireNoRollback(pipeline, result.since, before[pipeline])
      if (!isUnchangedEntry(before[pipeline], result.base)) return yield* new ConcurrentPublication({ pipeline })
    }
    const ingest = yield* addPart(base, object, number)
    return {
      event: eventOf(run),
      data_sets: result?.entry === undefined ? before : { ...before, [pipeline]: result.entry(number) },
      ingest: { ...ingest, parts: replaceMerged(ingest.parts, merged) }
    } satisfies Change
  })
  return yield* promote(layout, change)
})

const selectIngestTables =
  "select 1 from duckdb_tables() where schema_name = 'ingest' and database_name = current_database()"

/** Writes the part of a failed run, with its staged rows if a file in its folder still has them. */
const writeRecordsOfFailedRun = Effect.fnUntraced(function* (file: string, records: RecordsOfRun, folder: string) {
  const source = stagedFileIn(folder)
  if (!existsSync(source)) return yield* writeRecordsOfRun(file, records)
  const db = yield* DuckDb.readOnlyWithFiles(source)
  const hasTables = (yield* db.rows(selectIngestTables)).length > 0
  yield* writeRecordsOfRun(file, records, hasTables ? stagedByFailedRun(db) : undefined)
}, Effect.scoped)

/** Records a failed run, so that it is immediately visible in SQL, with the rows that it staged in its folder. */
export const recordFailedRun = Effect.fnUntraced(function* (
  layout: Layout,
  failedRun: Omit<RecordsOfRun, "hasChangedData">,
  staging?: string
) {
  const records = { ...failedRun, hasChangedData: false }
  const path = yield* Path.Path
  yield* requireWritableFolder(layout.dir)
  const folder = yield* makeOwnFolder(layout, `records-${randomUUID()}`)
  const file = path.join(folder, "records.gz")
  const writeWithoutStaged = writeRecordsOfRun(file, records)
  yield* staging === undefined
    ? writeWithoutStaged
    : writeRecordsOfFailedRun(file, records, staging).pipe(
        Effect.catch((error) =>
          Effect.andThen(
            Effect.logWarning(`rows that this run staged are not in ingest.reject: ${error.message}`),
            writeWithoutStaged
          )
        )
      )
  yield* recordRun(layout, records.run, file, folder)
  yield* refreshOpened(layout).pipe(
    Effect.catch((error) => Effect.logWarning(`the run is recorded, but: ${error.message}`))
  )
}, Effect.scoped)

/** Makes a generation. It is live once its manifest is stored: a later interrupt only logs a warning with `outcome`. */
export const promoteChange = <E, R>(
  layout: Layout,
  outcome: string,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) =>
  Effect.suspend(() => {
    let promoted: Manifest | undefined
    const promoting = Effect.tap(promote(layout, change), (manifest) => {
      promoted = manifest
      return refreshOpened(layout).pipe(Effect.catch((error) => Effect.logWarning(`${outcome}, but: ${error.message}`)))
    })
    return Effect.uninterruptible(promoting).pipe(
      Effect.onInterrupt(() =>
        promoted === undefined
          ? Effect.void
          : Effect.logWarning(`the interrupt came too late: ${outcome}, and ${generationId(promoted.number)} is live`)
      )
    )
  })

const killedMessage = "The program was killed, or its machine stopped, before the run ended. The time is not known."

/** Removes the files of killed runs, and records those that were killed before their manifest was stored. */
export const recordKilledRuns = (layout: Layout) =>
  removeAbandoned(
    layout,
    Effect.fn("KilledRuns.record")(function* (run) {
      if ((yield* readRecordedRun(layout, run.run_id)) !== undefined) return
      yield* recordFailedRun(layout, {
        run: { ...run, outcome: "interrupted", message: killedMessage },
        checks: [],
        leftOut: []
      })
    })
  )
