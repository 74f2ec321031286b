/**
 * A run's rows on their way into the warehouse: a DuckDB file in a folder of the run's own, with the tables of one data
 * set and of `ingest`. Filling it blocks no other process. The file stays open until it is published, and is removed
 * when the run ends.
 */
import { join } from "node:path"
import { RunRecord } from "@larder/schemas"
import { Effect, Exit, FileSystem, Path, Schema, Scope } from "effect"
import { isDiskFull } from "../disk.ts"
import { DuckDb, type DuckDbError } from "../duckdb.ts"
import { type Layout, writableDirectory } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { createTables } from "../tables/dictionary.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import { cellsOf, type DataSet, type Records, type Table } from "../tables/tables.ts"

export interface Staging {
  readonly file: string
  /** Appends records to a table of the data set or of `ingest`, in one transaction. */
  readonly add: (table: Table, records: Records) => Effect.Effect<void, DuckDbError>
  /** For loads that DuckDB does itself, such as `insert … from read_csv(…)`. */
  readonly db: DuckDb["Service"]
}

/** The staged rows of a run. */
export interface Staged {
  readonly file: string
  readonly db: DuckDb["Service"]
  /** Closes the file, so that another session can open it. If not called, the scope closes it. */
  readonly close: Effect.Effect<void>
}

/** The staging database refused rows, most often because the disk is full. */
export class StagingFailed extends Schema.TaggedError<StagingFailed>()("StagingFailed", { cause: Schema.Defect() }) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    const full = isDiskFull(cause)
    const hint = full ? " The disk is full: rows need space beside the warehouse before they are published." : ""
    return `Staging failed: ${cause}.${hint} Nothing was published; the previous generation stays live.`
  }
}

/**
 * The lock that a run holds until it ends. Its file of rows cannot be the lock: that is closed before it is published.
 */
const lockOf = (folder: string) => `${folder}/.lock`

/** Folders of the runs of this process. A file lock has no effect within the process that holds it. */
const ours = new Set<string>()

const isHeld = Effect.fnUntraced(function* (folder: string) {
  if (ours.has(folder)) return true
  return yield* Effect.scoped(DuckDb.hold(lockOf(folder))).pipe(
    Effect.as(false),
    Effect.catch((error) => Effect.succeed(error._tag === "FileInUse")) // a file that is not a lock is not held
  )
})

/** The folder of a run's files, until it ends. */
export const folderOf = ({ staging }: Layout, run_id: string) => join(staging, run_id)
/** The staged rows in that folder. On a first load this file becomes the database. */
export const stagedFileIn = (folder: string) => join(folder, "rows.duckdb")
/** The copy of the live database in that folder, to which the new rows are added. */
export const builtFileIn = (folder: string) => join(folder, "built.duckdb")

/** The record of the run, beside its rows. */
const runOf = (folder: string) => join(folder, "run.json")
const Killed = Schema.fromJsonString(RunRecord)
const encodeRun = Schema.encodeSync(Killed)

/** The run of a folder; undefined if it was killed before it wrote its record. */
const killedIn = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(runOf(folder)).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(Killed)),
    Effect.orElseSucceed(() => undefined)
  )
})

/**
 * Takes over the folder of a killed run until the scope ends, so that no other process records that run. Removes
 * everything in it except the record of the run.
 */
const takeOver = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const name of yield* fs.readDirectory(folder)) {
    const file = path.join(folder, name)
    if (file !== runOf(folder)) yield* fs.remove(file, { recursive: true })
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => ours.add(folder)),
    () => Effect.sync(() => ours.delete(folder))
  )
  yield* DuckDb.hold(lockOf(folder))
})

/**
 * Removes what killed runs left, after `record` has recorded them. If that fails or is killed, the next run does it. A
 * file that cannot be removed does not stop the run.
 */
export const removeAbandoned = Effect.fn("Staging.removeAbandoned")(function* <E extends Error, R>(
  layout: Layout,
  record: (run: RunRecord) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const scope = yield* Effect.scope
  const killed: Array<{ readonly folder: string; readonly run: RunRecord }> = []
  const remove = Effect.gen(function* () {
    for (const name of yield* fs.readDirectory(layout.staging)) {
      const folder = path.join(layout.staging, name)
      if (yield* isHeld(folder)) continue
      const run = yield* killedIn(folder)
      if (run === undefined) {
        yield* fs.remove(folder, { recursive: true })
        continue
      }
      yield* takeOver(folder).pipe(Scope.provide(scope))
      killed.push({ folder, run })
    }
  }).pipe(Effect.catch((error) => Effect.logWarning(`the files of a killed run cannot be removed: ${error.message}`)))
  yield* writableDirectory(layout.staging)
  // Under a lock. Otherwise a folder could look abandoned before its run holds the folder's lock.
  yield* withLock(layout.stagingLock, remove)
  for (const { folder, run } of killed) {
    yield* Effect.andThen(record(run), fs.remove(folder, { recursive: true })).pipe(
      Effect.catch((error) => Effect.logWarning(`the next run records the killed run ${run.run_id}: ${error.message}`))
    )
  }
}, Effect.scoped)

/** A folder that other runs do not touch. Removed when the scope ends, or by the next run if this one is killed. */
export const ownFolder = Effect.fnUntraced(function* (layout: Layout, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(layout.staging, name)
  const scope = yield* Effect.scope
  const make = Effect.gen(function* () {
    yield* Effect.acquireRelease(
      Effect.andThen(
        fs.makeDirectory(folder),
        Effect.sync(() => ours.add(folder))
      ),
      () =>
        fs.remove(folder, { recursive: true }).pipe(
          Effect.catch((error) => Effect.logWarning(`the next run removes ${folder}: ${error.message}`)),
          Effect.andThen(Effect.sync(() => ours.delete(folder)))
        )
    )
    yield* DuckDb.hold(lockOf(folder))
  }).pipe(Scope.provide(scope))
  yield* writableDirectory(layout.staging)
  yield* withLock(layout.stagingLock, make)
  return folder
})

/** A run is active, in this process or another one. */
class RunAlive extends Schema.TaggedError<RunAlive>()("RunAlive", { folder: Schema.String }) {
  override get message() {
    return `A run is active: it holds ${this.folder}. Nothing was changed; try again when the run has ended.`
  }
}

/** Runs an effect if no run is active. A run that begins meanwhile waits for it. */
export const whileNobodyRuns = Effect.fnUntraced(function* <A, E, R>(layout: Layout, effect: Effect.Effect<A, E, R>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const alone = Effect.gen(function* () {
    for (const name of yield* fs.readDirectory(layout.staging)) {
      const folder = path.join(layout.staging, name)
      if (yield* isHeld(folder)) return yield* new RunAlive({ folder })
    }
    return yield* effect
  })
  yield* writableDirectory(layout.staging)
  return yield* withLock(layout.stagingLock, alone)
})

/**
 * Only an explicit `checkpoint` moves rows from the write-ahead log of the file into its tables. Most staging files are
 * removed with their run, and an earlier checkpoint would write half-full row groups twice.
 */
const settings = "set checkpoint_threshold = '1TB'; pragma disable_checkpoint_on_shutdown"

/**
 * Opens a staging file and passes it to `fill`. The file stays open, and is kept, until the scope ends. Records without
 * an `origin` get that of the run.
 */
export const stage = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  run: RunRecord,
  dataSet: DataSet,
  fill: (staging: Staging) => Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* ownFolder(layout, run.run_id)
  yield* fs.writeFileString(runOf(folder), encodeRun(run))
  const file = stagedFileIn(folder)
  const opened = yield* Scope.fork(yield* Effect.scope)
  const close = Scope.close(opened, Exit.void)
  const filling = Effect.gen(function* () {
    const db = yield* DuckDb.readWrite(file)
    yield* db.run(settings)
    yield* createTables(db, [...stagedIngestTables, ...dataSet.tables])
    const add: Staging["add"] = (table, records) =>
      records.length === 0
        ? Effect.void
        : db.append(table.schema, table.name, cellsOf(table, records, { origin: run.origin }))
    const filled = yield* Effect.scoped(fill({ file, add, db }))
    return { staged: { file, db, close } satisfies Staged as Staged, filled }
  })
  return yield* filling.pipe(
    Scope.provide(opened),
    Effect.onError(() => close)
  )
})
