/**
 * Publishing: a new generation is built beside the live one, merged, checked, closed, and only then the link swings.
 * Whatever fails before the swing leaves the old generation live; what a killed run left behind is removed by the next.
 */
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { definitions } from "../dictionary.ts"
import { type Cell, DuckDb, type DuckDbError, literal, type OpenError } from "../duckdb.ts"
import { checkResultTable, type DataSet, runTable, type Table } from "../tables.ts"
import { type Check, type CheckOutcome, ChecksFailed, runChecks } from "./check.ts"
import { type RunRecord, readJournal } from "./journal.ts"
import { currentFile, generationId, generations, type Layout, writableDirectory } from "./layout.ts"
import { withPublishLock } from "./lock.ts"
import { moveTable, reduceToNew } from "./merge.ts"

/** Generations that stay on disk, the live one included. */
export const keptGenerations = 5

/** Publishing stopped at a step. The live generation is what it was. */
export class PublishFailed extends Schema.TaggedError<PublishFailed>()("PublishFailed", {
  step: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    const full = /No space left|ENOSPC|File too large|EFBIG|quota/i.test(`${cause} ${String(this.cause)}`)
    const hint = full ? " The disk is full: a publication needs room for a second copy of the warehouse." : ""
    return `Publishing failed while ${this.step}: ${cause}.${hint} Nothing was published; the previous generation stays live.`
  }
}

const during =
  (step: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (cause) => new PublishFailed({ step, cause }))

export interface Publication {
  readonly layout: Layout
  readonly dataSet: DataSet
  readonly stagedFile: string
  /** The run so far. Outcome, generation and the loaded and unchanged rows are decided here. */
  readonly run: RunRecord
  /** Payload rows that stated nothing for this data set: without a value, or of nothing in the catalog. */
  readonly silentRows: number
  readonly checks: ReadonlyArray<Check>
  /** Everything but the swing: the built file is thrown away. */
  readonly dryRun: boolean
}

export interface Published {
  readonly run: RunRecord
  readonly checks: ReadonlyArray<CheckOutcome>
}

const add = (db: DuckDb["Service"], table: Table, records: ReadonlyArray<Readonly<Record<string, Cell>>>) =>
  db.append(
    table.schema,
    table.name,
    records.map((record) => Object.keys(table.record.fields).map((column) => record[column] ?? null))
  )
const checkRows = (run: RunRecord, checks: ReadonlyArray<CheckOutcome>) =>
  checks.map((check) => ({ run_id: run.run_id, pipeline: run.pipeline, ...check }))

/** Copies the live generation, merges the staged rows, runs the checks and closes the file. */
const build = Effect.fnUntraced(function* (
  publication: Publication,
  run: RunRecord,
  changed: ReadonlyArray<Table>,
  file: string
) {
  const journal = yield* readJournal(publication.layout)
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(file)
      yield* Effect.forEach(definitions(publication.dataSet), (sql) => db.run(sql), { discard: true })
      yield* db.run(`attach ${literal(publication.stagedFile)} as staged (read_only)`)
      yield* Effect.forEach(changed.flatMap(moveTable), (sql) => db.run(sql), { discard: true })
      yield* db.run("detach staged")
      yield* add(db, runTable, [...journal.map((entry) => entry.run), run])
      const checks = yield* runChecks(db, publication.checks)
      const failed = checks.filter((check) => check.severity === "error" && check.bad_rows > 0)
      if (failed.length > 0) return yield* new ChecksFailed({ failed })
      const journaled = journal.flatMap((entry) => checkRows(entry.run, entry.checks))
      yield* add(db, checkResultTable, [...journaled, ...checkRows(run, checks)])
      yield* db.run("checkpoint") // no .wal is left after this and the close
      return { checks, journalFiles: journal.map((entry) => entry.file) }
    })
  )
})

const removeBuildings = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const left = (yield* fs.readDirectory(layout.dir)).filter((name) => name.includes(".building"))
  yield* Effect.forEach(left, (name) => fs.remove(path.join(layout.dir, name), { force: true, recursive: true }), {
    discard: true
  })
})

const sync = (path: string) =>
  Effect.scoped(FileSystem.FileSystem.use((fs) => Effect.flatMap(fs.open(path, { flag: "r" }), (file) => file.sync)))

/** Points the link at a generation file of the same folder: one rename, seen whole or not at all. */
export const swing = Effect.fnUntraced(function* (layout: Layout, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const next = path.join(layout.dir, ".larder.duckdb.next")
  yield* fs.remove(next, { force: true })
  yield* fs.symlink(name, next) // relative: the folder can be moved
  yield* fs.rename(next, layout.link)
  yield* sync(layout.dir)
})

/** Removes all but the newest generations, never the live one. A reader that has one open keeps it. */
const prune = Effect.fnUntraced(function* (layout: Layout, live: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const old = (yield* generations(layout)).slice(0, -keptGenerations).filter(({ name }) => name !== live)
  yield* Effect.forEach(old, ({ name }) => fs.remove(path.join(layout.dir, name)), { discard: true })
})

const withRows = (publication: Publication, stated: number, loaded: number): RunRecord => ({
  ...publication.run,
  rows_loaded: loaded,
  rows_unchanged: publication.silentRows + stated - loaded
})

type PublishError = PublishFailed | ChecksFailed

const publishLocked = Effect.fnUntraced(function* (publication: Publication) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { dataSet, layout, stagedFile } = publication
  yield* removeBuildings(layout).pipe(during("removing what a killed run left"))
  const live = Option.getOrUndefined(yield* currentFile(layout))
  const reduced = yield* Effect.scoped(
    Effect.flatMap(DuckDb.readWrite(stagedFile), (db) => reduceToNew(db, dataSet, live))
  ).pipe(during(`comparing with the live generation ${live ?? ""}`.trim()))
  const counted = withRows(publication, reduced.stated_rows, reduced.loaded_rows)
  if (reduced.changed.length === 0) {
    const outcome = counted.outcome === "partial" ? ("partial" as const) : ("unchanged" as const)
    return { run: { ...counted, outcome }, checks: [] }
  }

  const number = (yield* generations(layout).pipe(during("listing the generations"))).at(-1)?.number ?? 0
  const id = generationId(number + 1)
  const building = path.join(layout.dir, `${id}.duckdb.building`)
  return yield* Effect.gen(function* () {
    if (live !== undefined) {
      yield* fs
        .copyFile(live, building)
        .pipe(Effect.andThen(fs.chmod(building, 0o644)), during("copying the live generation"))
    }
    const run: RunRecord = { ...counted, generation: publication.dryRun ? null : id }
    const { checks, journalFiles } = yield* build(publication, run, reduced.changed, building).pipe(
      Effect.mapError((cause) =>
        cause instanceof ChecksFailed ? cause : new PublishFailed({ step: "merging and checking", cause })
      )
    )
    if (publication.dryRun) return { run, checks }
    yield* Effect.gen(function* () {
      yield* fs.chmod(building, 0o444) // an analyst who forgets to open it read-only cannot change it
      yield* sync(building)
      yield* fs.rename(building, path.join(layout.dir, `${id}.duckdb`))
      yield* swing(layout, `${id}.duckdb`)
      yield* Effect.forEach(journalFiles, (file) => fs.remove(file, { force: true }), { discard: true })
      yield* prune(layout, `${id}.duckdb`)
    }).pipe(during("swinging the link"), Effect.uninterruptible)
    return { run, checks }
  }).pipe(Effect.ensuring(Effect.ignore(removeBuildings(layout))))
})

/** Publishes a run's staged rows as a new generation, or finds that nothing is new and publishes nothing. */
export const publish: (
  publication: Publication
) => Effect.Effect<Published, PublishError | OpenError | DuckDbError, FileSystem.FileSystem | Path.Path> = Effect.fn(
  "Generation.publish"
)(function* (publication) {
  yield* writableDirectory(publication.layout.dir).pipe(during("opening the warehouse folder"))
  return yield* withPublishLock(publication.layout, publishLocked(publication))
})
