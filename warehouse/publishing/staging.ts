/**
 * Stages the rows of a run: in a DuckDB file in a folder of the run, with the tables of one data set and of `ingest`.
 * Filling it blocks no other process. The file stays open until it is published. The folder is removed when the run
 * ends, or by the next run if it was killed.
 */
import { join } from "node:path"
import { RunRecord } from "@larder/schemas"
import { Effect, Exit, FileSystem, Schema, Scope } from "effect"
import { causeText, isDiskFull } from "../disk.ts"
import { DuckDb, type DuckDbError } from "../duckdb.ts"
import { type Layout, requireWritableFolder } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { WarehouseProblem } from "../problem.ts"
import { createUncommentedTables } from "../tables/dictionary.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import { type DataSet, type RowValues, type Table, toCells } from "../tables/tables.ts"

export interface Staging {
  readonly file: string
  /** Appends rows to a table of the data set or of `ingest`, in one transaction. */
  readonly add: (table: Table, rows: ReadonlyArray<RowValues>) => Effect.Effect<void, DuckDbError>
  /** For loads that DuckDB does itself, such as `insert … from read_csv(…)`. */
  readonly db: DuckDb["Service"]
}

export interface Staged {
  readonly file: string
  readonly db: DuckDb["Service"]
  /** Closes the file, so that another session can open it. Otherwise the scope closes it. */
  readonly close: Effect.Effect<void>
}

/** The staging database did not accept rows, most often because the disk is full. */
export class StagingFailed extends Schema.TaggedError<StagingFailed>()("StagingFailed", { cause: Schema.Defect() }) {
  override get message() {
    const cause = causeText(this.cause)
    const hint = isDiskFull(cause)
      ? " The disk is full: rows need space in addition to the warehouse until they are published."
      : ""
    return `Staging failed: ${cause}.${hint} Nothing was published; the previous generation stays live.`
  }
}

/** Locked until the run ends. Its file of rows cannot be the lock, because it is closed before it is published. */
const lockFileOf = (folder: string) => `${folder}/.lock`

/** Folders of the runs of this process. A file lock has no effect within the process that has it. */
const ownFolders = new Set<string>()

const markAsOwn = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => ownFolders.add(folder)),
    () => Effect.sync(() => ownFolders.delete(folder))
  )

const isActive = Effect.fnUntraced(function* (folder: string) {
  if (ownFolders.has(folder)) return true
  return yield* Effect.scoped(DuckDb.lockFile(lockFileOf(folder))).pipe(
    Effect.as(false),
    Effect.catch((error) => Effect.succeed(error._tag === "FileInUse")) // a file that is not a lock is not locked
  )
})

export const stagingFolder = ({ staging }: Layout, run_id: string) => join(staging, run_id)
/** The staged rows of a run. On a first load this file becomes the database. */
export const stagedFileIn = (folder: string) => join(folder, "rows.duckdb")
/** The copy of the live database, to which the new rows are added. */
export const builtFileIn = (folder: string) => join(folder, "built.duckdb")

const runFileIn = (folder: string) => join(folder, "run.json")
const RunFromJson = Schema.fromJsonString(RunRecord)
const encodeRun = Schema.encodeSync(RunFromJson)

/** The run of a folder; undefined if it was killed before it wrote its record. */
const readRun = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(runFileIn(folder)).pipe(
    Effect.flatMap(Schema.decodeUnknownEffect(RunFromJson)),
    Effect.orElseSucceed(() => undefined)
  )
})

/**
 * Locks the folder of a killed run until the scope ends, so that no other process records that run. First removes
 * everything in it except the record of the run.
 */
const claimFolder = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  for (const name of yield* fs.readDirectory(folder)) {
    const file = join(folder, name)
    if (file !== runFileIn(folder)) yield* fs.remove(file, { recursive: true })
  }
  yield* markAsOwn(folder)
  yield* DuckDb.lockFile(lockFileOf(folder))
})

/**
 * Removes the files of killed runs, after `record` has recorded the runs. If that fails, the next run records them. A
 * file that cannot be removed does not stop the run.
 */
export const removeAbandoned = Effect.fn("Staging.removeAbandoned")(function* <E extends Error, R>(
  layout: Layout,
  record: (run: RunRecord) => Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const scope = yield* Effect.scope
  const killed: Array<{ readonly folder: string; readonly run: RunRecord }> = []
  const remove = Effect.gen(function* () {
    for (const name of yield* fs.readDirectory(layout.staging)) {
      const folder = join(layout.staging, name)
      if (yield* isActive(folder)) continue
      const run = yield* readRun(folder)
      if (run === undefined) {
        yield* fs.remove(folder, { recursive: true })
        continue
      }
      yield* claimFolder(folder).pipe(Scope.provide(scope))
      killed.push({ folder, run })
    }
  }).pipe(Effect.catch((error) => Effect.logWarning(`the files of a killed run cannot be removed: ${error.message}`)))
  yield* requireWritableFolder(layout.staging)
  // Under a lock. Otherwise a folder could appear abandoned before its run has locked it.
  yield* withLock(layout.stagingLock, remove)
  for (const { folder, run } of killed) {
    yield* Effect.andThen(record(run), fs.remove(folder, { recursive: true })).pipe(
      Effect.catch((error) => Effect.logWarning(`the next run records the killed run ${run.run_id}: ${error.message}`))
    )
  }
}, Effect.scoped)

/** Makes a folder that other runs do not touch, until the scope ends. */
export const makeOwnFolder = Effect.fnUntraced(function* (layout: Layout, name: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = join(layout.staging, name)
  const scope = yield* Effect.scope
  const make = Effect.gen(function* () {
    yield* markAsOwn(folder)
    yield* Effect.acquireRelease(fs.makeDirectory(folder), () =>
      fs
        .remove(folder, { recursive: true })
        .pipe(Effect.catch((error) => Effect.logWarning(`the next run removes ${folder}: ${error.message}`)))
    )
    yield* DuckDb.lockFile(lockFileOf(folder))
  }).pipe(Scope.provide(scope))
  yield* requireWritableFolder(layout.staging)
  yield* withLock(layout.stagingLock, make)
  return folder
})

/** Runs an effect if no run is active. A run that begins in that time waits for it. */
export const whileNoRunIsActive = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  effect: Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const checkAndRun = Effect.gen(function* () {
    for (const name of yield* fs.readDirectory(layout.staging)) {
      const folder = join(layout.staging, name)
      if (!(yield* isActive(folder))) continue
      return yield* new WarehouseProblem({
        problem: `A run is active: it uses ${folder}. Nothing was changed; try again when the run has ended.`
      })
    }
    return yield* effect
  })
  yield* requireWritableFolder(layout.staging)
  return yield* withLock(layout.stagingLock, checkAndRun)
})

/**
 * Only an explicit `checkpoint` moves rows from the write-ahead log of the file into its tables. Most staging files are
 * removed with their run, and an earlier checkpoint would write half-full row groups twice.
 */
const settings = "set checkpoint_threshold = '1TB'; pragma disable_checkpoint_on_shutdown"

/** Opens a staging file until the scope ends, and passes it to `fill`. Rows without an `origin` get the run's. */
export const stage = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  run: RunRecord,
  dataSet: DataSet,
  fill: (staging: Staging) => Effect.Effect<A, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* makeOwnFolder(layout, run.run_id)
  yield* fs.writeFileString(runFileIn(folder), encodeRun(run))
  const file = stagedFileIn(folder)
  const fileScope = yield* Scope.fork(yield* Effect.scope)
  const close = Scope.close(fileScope, Exit.void)
  const filling = Effect.gen(function* () {
    const db = yield* DuckDb.readWrite(file)
    yield* db.run(settings)
    yield* createUncommentedTables(db, [...stagedIngestTables, ...dataSet.tables])
    const add: Staging["add"] = (table, rows) =>
      rows.length === 0
        ? Effect.void
        : db.append(table.schema, table.name, toCells(table, rows, { origin: run.origin }))
    const filled = yield* Effect.scoped(fill({ file, add, db }))
    return { staged: { file, db, close } satisfies Staged, filled }
  })
  return yield* filling.pipe(
    Scope.provide(fileScope),
    Effect.onError(() => close)
  )
})
