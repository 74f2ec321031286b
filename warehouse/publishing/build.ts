/**
 * Builds the database of a data set: merges the staged rows of a run into a copy of the live database, and checks the
 * result. A first load contains most of the rows that the data set will ever have, so its staging file itself
 * becomes the database.
 */
import type { CheckOutcome, FeedLeftOut, RunRecord } from "@larder/schemas"
import { Effect, FileSystem, Path, Schema } from "effect"
import { copyForWriting } from "../disk.ts"
import { DuckDb, type DuckDbError, literal, type OpenError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import type { Manifest } from "../generation/manifest.ts"
import type { QueriedRecords } from "../ingestion/part.ts"
import { stagedRecords, writeRecordsOfRun } from "../ingestion/records.ts"
import { define } from "../tables/dictionary.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import { markSamples } from "../tables/sample-marks.ts"
import type { DataSet } from "../tables/tables.ts"
import { type Check, ChecksFailed, checksWithLive, checksWithoutLive, runChecks } from "./check.ts"
import { attachLiveData, showLive } from "./live-data-set.ts"
import { deriveStatements, moveStatements, type Reduced } from "./merge.ts"
import { during } from "./publish-failed.ts"
import { builtFileIn, type Staged } from "./staging.ts"

type Db = DuckDb["Service"]

/** What a run publishes: its staged rows, and how they are checked and recorded. */
export interface Publication {
  readonly layout: Layout
  readonly dataSet: DataSet
  /** Version of the mapping that made the staged rows. */
  readonly mappingVersion: number
  readonly staged: Staged
  /** The live generation when the run began to read; undefined if there was none. */
  readonly since?: Manifest | undefined
  /** The run so far. Publishing sets its outcome, its generation, and its loaded and unchanged rows. */
  readonly run: RunRecord
  readonly leftOut: ReadonlyArray<FeedLeftOut>
  /** Payload rows that add nothing to this data set: they have no value, or describe nothing in the catalog. */
  readonly skippedRows: number
  readonly checks: ReadonlyArray<Check>
  /** Whether a data set that is smaller than the live one may be published. */
  readonly acceptShrinkage?: boolean | undefined
  /** Called with the results of all checks, before a failed one ends the run. */
  readonly onChecked?: ((checks: ReadonlyArray<CheckOutcome>) => void) | undefined
  /** Does everything except make the generation. All files are removed with the staging file. */
  readonly dryRun: boolean
}

interface Building extends Publication {
  /** For all files of the build. It is removed with the run. */
  readonly folder: string
  /** The live database of the data set; undefined before the first load. */
  readonly live: string | undefined
  /** Whether any row of the data set will be from the bundled samples. */
  readonly isSample: boolean
}

/** A database with the rows of the run in it. */
interface Merged {
  readonly db: Db
  readonly file: string
  /** The rows that the run staged for `ingest`. */
  readonly records: QueriedRecords
  readonly check: (run: RunRecord) => Effect.Effect<ReadonlyArray<CheckOutcome>, DuckDbError | OpenError>
  /** Statement that leaves only the data set in the database. */
  readonly dropRecords: string
}

const merging = during("merging the staged rows")

/** On a first load: the staging file has all rows, and there is nothing to compare them with. */
const completeStagingFile = Effect.fnUntraced(function* ({ checks, dataSet, staged: { db, file } }: Building) {
  yield* define(db, dataSet).pipe(merging)
  for (const sql of deriveStatements(dataSet)) yield* db.run(sql).pipe(merging)
  return {
    db,
    file,
    records: stagedRecords(db),
    check: (run) => runChecks(db, checksWithoutLive(checks), run),
    dropRecords: stagedIngestTables.map(({ name }) => `drop table ingest.${name}`).join("; ")
  } satisfies Merged
})

const copy = (from: string, to: string) =>
  Effect.tryPromise({ try: () => copyForWriting(from, to), catch: (cause) => cause }).pipe(
    Effect.uninterruptible // the copy would continue after the interrupt, and leave its file behind
  )

/** Lets checks query `ingest.…`: the known records, together with those that this run staged. */
const showRecords = (db: Db) =>
  db.run(
    [
      "attach ':memory:' as records",
      "create schema records.ingest",
      ...stagedIngestTables.map(
        ({ name }) =>
          `create view records.ingest.${name} as from staged.ingest.${name} union all by name from live.ingest.${name}`
      ),
      "set search_path = 'built.main,records.ingest'"
    ].join(";\n")
  )

const checkBesideLive = Effect.fnUntraced(function* (db: Db, live: string, building: Building, run: RunRecord) {
  const { acceptShrinkage = false, checks, dataSet, layout } = building
  yield* attachLiveData(db, live)
  yield* showLive(db, layout, dataSet)
  yield* showRecords(db)
  const outcomes = yield* runChecks(db, checksWithLive(checks, acceptShrinkage), run)
  yield* db.run("set search_path = 'built.main'; detach records")
  return outcomes
}, Effect.scoped)

/** Later: the changed rows are moved into a copy of the live database. */
const changeCopy = Effect.fnUntraced(function* (building: Building, live: string, { changed }: Reduced) {
  const { dataSet, folder, staged } = building
  const file = builtFileIn(folder)
  yield* staged.db.run("checkpoint").pipe(during("writing the staged rows"))
  yield* staged.close // it is attached to the copy
  yield* copy(live, file).pipe(during("copying the live database"))
  const db = yield* DuckDb.readWrite(file).pipe(during("opening the copy"))
  const statements = [
    `attach ${literal(staged.file)} as staged (read_only)`,
    ...changed.flatMap(moveStatements),
    ...deriveStatements(dataSet)
  ]
  for (const sql of statements) yield* db.run(sql).pipe(merging)
  return {
    db,
    file,
    records: stagedRecords(db, "staged"),
    check: (run) => checkBesideLive(db, live, building, run),
    dropRecords: "detach staged"
  } satisfies Merged
})

const check = Effect.fnUntraced(function* (merged: Merged, { onChecked }: Building, run: RunRecord) {
  const outcomes = yield* merged.check(run)
  onChecked?.(outcomes)
  const failed = outcomes.filter(({ bad_rows, severity }) => severity === "error" && bad_rows > 0)
  if (failed.length > 0) return yield* new ChecksFailed({ failed })
  return outcomes
})

const Newest = Schema.Struct({ newest_on: Schema.NullOr(Schema.String) })
/** Null if the newest day comes from reads, which are not in the data. */
const selectNewest = Effect.fnUntraced(function* (db: Db, { about: { newest } }: DataSet) {
  if (newest.table.startsWith("ingest.")) return null
  const [row] = yield* db.all(Newest, `select (${newest.day})::varchar as newest_on from ${newest.table}`)
  return row?.newest_on ?? null
})

const buildSidecars = Effect.fnUntraced(function* (db: Db, { files }: DataSet, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (files === undefined) return []
  const sidecars = path.join(folder, "beside")
  yield* files.build(db, sidecars)
  return (yield* fs.readDirectory(sidecars)).sort().map((name) => ({ name, file: path.join(sidecars, name) }))
})

/**
 * Builds the database, runs the checks, writes the records of the run, and closes the files. In `files`, the database
 * comes first, then its sidecar files.
 */
export const build = Effect.fn("Generation.build")(function* (building: Building, run: RunRecord, reduced: Reduced) {
  const path = yield* Path.Path
  const { dataSet, folder, isSample, leftOut, live, staged } = building
  const merged = yield* live === undefined ? completeStagingFile(building) : changeCopy(building, live, reduced)
  const { db, file } = merged
  const records = path.join(folder, "records.gz")
  const finished = yield* Effect.gen(function* () {
    if (isSample) yield* markSamples(db, dataSet.schema)
    const checks = yield* check(merged, building, run)
    yield* writeRecordsOfRun(records, { run, checks, leftOut, hasChangedData: true }, merged.records)
    yield* db.run(merged.dropRecords)
    const newest_on = yield* selectNewest(db, dataSet)
    yield* db.run("checkpoint").pipe(during("writing the new database")) // after the last write: the write-ahead log is not published
    return { checks, newest_on }
  }).pipe(during("checking the new database and recording the run"))
  const sidecars = yield* buildSidecars(db, dataSet, folder).pipe(during("writing the sidecar files"))
  yield* staged.close
  const database = { name: `${dataSet.about.pipeline}.duckdb`, file }
  return { ...finished, records, files: [database, ...sidecars] }
}, Effect.scoped)

export type Built = Effect.Success<ReturnType<typeof build>>
