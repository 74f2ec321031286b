/** Adds a run to the warehouse: its records as a part of `ingest` and, if it has new rows, the parts of its data set. */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import type { RunRecord } from "@larder/schemas"
import { Effect, Path } from "effect"
import { DuckDb } from "../duckdb.ts"
import { type Layout, requireWritableFolder } from "../generation/layout.ts"
import {
  type Change,
  type DataSetEntry,
  type IngestPart,
  type Manifest,
  newestManifest
} from "../generation/manifest.ts"
import { findFault } from "../generation/parts.ts"
import { mergeIngestParts } from "../ingestion/part.ts"
import { eventOf, type RecordsOfRun, stagedByFailedRun, writeRecordsOfRun } from "../ingestion/records.ts"
import { readRecordedRun } from "../opened/runs.ts"
import { addPart, ConcurrentPublication, isUnchangedEntry, promote, putFile, requireNoRollback } from "./promote.ts"
import { makeOwnFolder, removeAbandoned, stagedFileIn } from "./staging.ts"

/** This many parts are merged into one. */
const mergedPartCount = 100

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

interface DataSetResult {
  /** The live generation when the run began to read; undefined if there was none. */
  readonly since?: Manifest | undefined
  /** The entry with which its rows were compared; undefined for a first load. */
  readonly base: DataSetEntry | undefined
  /** The entry with new parts; undefined if no row of the data set changed. */
  readonly entry?: (number: number) => DataSetEntry
}

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
  return yield* promote(layout, "the run is recorded", change)
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
}, Effect.scoped)

const killedMessage = "The program was killed, or its machine stopped, before the run ended. The time is not known."

/** Removes the files of killed runs. Records those that were killed before their manifest was stored, and returns them. */
export const recordKilledRuns = Effect.fnUntraced(function* (layout: Layout) {
  const recorded: Array<RunRecord> = []
  yield* removeAbandoned(
    layout,
    Effect.fn("KilledRuns.record")(function* (killed) {
      if ((yield* readRecordedRun(layout, killed.run_id)) !== undefined) return
      const run: RunRecord = { ...killed, outcome: "interrupted", message: killedMessage }
      yield* recordFailedRun(layout, { run, checks: [], leftOut: [] })
      recorded.push(run)
    })
  )
  return recorded
})
