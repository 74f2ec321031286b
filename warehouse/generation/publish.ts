/**
 * Publishing: a new generation is built beside the live one, merged, checked, closed, and only then the link swings.
 * Whatever fails before the swing leaves the old generation live; what a killed run left behind is removed by the next.
 */
import { constants, copyFile } from "node:fs/promises"
import { Effect, FileSystem, Option, Path, PlatformError, Result, Schema } from "effect"
import { changeColumns, columnChanges } from "../added-columns.ts"
import { describeDataSets } from "../data-sets.ts"
import { define } from "../dictionary.ts"
import { DuckDb, literal } from "../duckdb.ts"
import { cellsOf, checkResultTable, type DataSet, leftOutTable, type Records, runTable, type Table } from "../tables.ts"
import { canAdopt, takeOver } from "./adopt.ts"
import { carry, finishCarried } from "./carried.ts"
import { type Check, type CheckOutcome, ChecksFailed, runChecks } from "./check.ts"
import { TablesDiffer } from "./definitions.ts"
import { type FeedLeftOut, type RunRecord, readJournal } from "./journal.ts"
import {
  currentFile,
  generationId,
  generations,
  idOf,
  type Layout,
  NoLiveGeneration,
  numberOf,
  writableDirectory
} from "./layout.ts"
import { withPublishLock } from "./lock.ts"
import { derive, moveTable, type Reduced, reduceToNew } from "./merge.ts"
import { promote, prune, removeLeftovers } from "./swing.ts"

/** Publishing stopped at a step. The live generation is what it was. */
export class PublishFailed extends Schema.TaggedError<PublishFailed>()("PublishFailed", {
  step: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const cause = this.cause instanceof Error ? this.cause.message : String(this.cause)
    const full = /No space left|ENOSPC|File too large|EFBIG|quota/i.test(cause)
    const hint = full ? " The disk is full: a publication needs room for a second copy of the warehouse." : ""
    return `Publishing failed while ${this.step}: ${cause}.${hint} Nothing was published; the previous generation stays live.`
  }
}

/** Errors that say themselves what happened. */
const isTold = (error: unknown): error is PublishFailed | ChecksFailed | TablesDiffer | NoLiveGeneration =>
  [PublishFailed, ChecksFailed, TablesDiffer, NoLiveGeneration].some((kind) => error instanceof kind)

const during =
  (step: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (error) => {
      if (isTold(error)) return error
      const cause = PlatformError.isPlatformError(error) ? (error.reason.cause ?? error) : error // it names the errno
      return new PublishFailed({ step, cause })
    })

export interface Publication {
  readonly layout: Layout
  readonly dataSet: DataSet
  readonly stagedFile: string
  /** The run so far. Outcome, generation and the loaded and unchanged rows are decided here. */
  readonly run: RunRecord
  /** Feeds that the run left out. */
  readonly leftOut: ReadonlyArray<FeedLeftOut>
  /** Payload rows that stated nothing for this data set: without a value, or of nothing in the catalog. */
  readonly silentRows: number
  readonly checks: ReadonlyArray<Check>
  /** Whether a generation that holds less than the live one may be published. */
  readonly acceptShrinkage?: boolean | undefined
  /** Everything but the swing: the file is built beside the staged one, and goes with it. Nothing of the warehouse is touched. */
  readonly dryRun: boolean
}

export interface Published {
  readonly run: RunRecord
  readonly checks: ReadonlyArray<CheckOutcome>
  /** Whether there was anything to publish. */
  readonly changes: boolean
}

const add = (db: DuckDb["Service"], table: Table, records: Records) =>
  db.append(table.schema, table.name, cellsOf(table, records))
const checkRows = (run: RunRecord, checks: ReadonlyArray<CheckOutcome>) =>
  checks.map((check) => ({ run_id: run.run_id, pipeline: run.pipeline, ...check }))
const leftOutRows = ({ pipeline, run_id }: RunRecord, leftOut: ReadonlyArray<FeedLeftOut>) =>
  leftOut.map((feed) => ({ run_id, pipeline, ...feed }))

/** On file systems that can, the copy shares its blocks with the original until they change. */
const copy = (from: string, to: string) =>
  Effect.tryPromise({ try: () => copyFile(from, to, constants.COPYFILE_FICLONE), catch: (cause) => cause }).pipe(
    Effect.andThen(FileSystem.FileSystem.use((fs) => fs.chmod(to, 0o644))),
    Effect.uninterruptible // it would go on after the interrupt, and leave its file behind
  )

/** What a generation that is being built begins with. */
type Base = { readonly copyOf: string } | { readonly adopting: string | undefined }

const merge = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  publication: Publication,
  { changed, redefined }: Reduced,
  base: Base
) {
  if ("adopting" in base) {
    if (base.adopting !== undefined) yield* takeOver(db, base.adopting)
  } else {
    if (redefined) yield* define(db, publication.dataSet) // binding the views takes longer than moving a few rows
    yield* db.run(`attach ${literal(publication.stagedFile)} as staged (read_only)`)
    yield* Effect.forEach(changed.flatMap(moveTable), (sql) => db.run(sql), { discard: true })
    yield* db.run("detach staged")
  }
  yield* Effect.forEach(derive(publication.dataSet), (sql) => db.run(sql), { discard: true })
})

const KnownRun = Schema.Struct({ run_id: Schema.String })

/** Merges the staged rows into a copy of the live generation, runs the checks and closes the file. */
const build = Effect.fnUntraced(function* (
  publication: Publication,
  run: RunRecord,
  reduced: Reduced,
  base: Base,
  live: string | undefined,
  file: string
) {
  const db = yield* DuckDb.readWrite(file).pipe(during("opening it"))
  yield* merge(db, publication, reduced, base).pipe(during("merging the staged rows"))
  const built = yield* Effect.gen(function* () {
    // A run that was killed after its swing left entries behind that had been taken up.
    const known = new Set((yield* db.all(KnownRun, "select run_id from ingest.run")).map(({ run_id }) => run_id))
    const journal = yield* readJournal(publication.layout)
    const untold = journal.filter((entry) => !known.has(entry.run.run_id))
    yield* add(db, runTable, [...untold.map((entry) => entry.run), run])
    yield* describeDataSets(db, publication.dataSet)
    const checks = yield* runChecks(db, publication.checks, {
      live: reduced.hasLive ? live : undefined,
      run_id: run.run_id,
      acceptShrinkage: publication.acceptShrinkage ?? false
    })
    const failed = checks.filter((check) => check.severity === "error" && check.bad_rows > 0)
    if (failed.length > 0) return yield* new ChecksFailed({ failed })
    const journaled = untold.flatMap((entry) => checkRows(entry.run, entry.checks))
    yield* add(db, checkResultTable, [...journaled, ...checkRows(run, checks)])
    const leftOutBefore = untold.flatMap((entry) => leftOutRows(entry.run, entry.left_out))
    yield* add(db, leftOutTable, [...leftOutBefore, ...leftOutRows(run, publication.leftOut)])
    yield* db.run("checkpoint").pipe(during("writing it")) // no .wal is left after this and the close
    return { checks, journalFiles: journal.map((entry) => entry.file) }
  }).pipe(during("checking it and recording the run"))
  yield* carry(db, publication.dataSet, live, file).pipe(during("writing the files beside it"))
  return built
}, Effect.scoped)

const withRows = (publication: Publication, stated: number, loaded: number): RunRecord => ({
  ...publication.run,
  rows_loaded: loaded,
  rows_unchanged: publication.silentRows + stated - loaded
})

interface Compared extends Reduced {
  /** The building file is a copy of the live generation already. */
  readonly isCopied: boolean
}

/** Where the live generation lacks columns, a copy that has them stands in for it; the new generation begins with that copy. */
const reduce = Effect.fnUntraced(function* (
  { dataSet, stagedFile }: Publication,
  live: string | undefined,
  building: string
) {
  const db = yield* DuckDb.readWrite(stagedFile)
  const compared = yield* Effect.result(reduceToNew(db, dataSet, live))
  if (Result.isSuccess(compared)) return { ...compared.success, isCopied: false } satisfies Compared as Compared
  const changes = live !== undefined && compared.failure._tag === "TablesDiffer" ? yield* columnChanges(db) : []
  if (live === undefined || changes.length === 0) return yield* Effect.fail(compared.failure)
  yield* db.run("detach live")
  yield* copy(live, building)
  yield* changeColumns(building, changes)
  const reduced = yield* reduceToNew(db, dataSet, building).pipe(
    Effect.catchTag("TablesDiffer", ({ differences }) => Effect.fail(new TablesDiffer({ file: live, differences })))
  )
  return { ...reduced, redefined: true, isCopied: true } satisfies Compared as Compared
}, Effect.scoped)

/** After the swing nothing fails any more: what cannot be tidied is told, and done by the next run. */
const tidy = Effect.fnUntraced(
  function* (
    layout: Layout,
    { generation, outcome, rows_loaded }: RunRecord,
    { lineage, repetitions }: Reduced,
    spared: ReadonlyArray<string>,
    journal: ReadonlyArray<string>
  ) {
    const fs = yield* FileSystem.FileSystem
    yield* Effect.forEach(journal, (file) => fs.remove(file, { force: true }), { discard: true })
    const id = generation ?? ""
    const repeating = outcome === "partial" && rows_loaded === 0 ? [...repetitions, id] : repetitions
    yield* prune(layout, { id, lineage, repetitions: repeating, spared })
  },
  Effect.catch((error) => Effect.logWarning(`published, but what is old cannot be removed: ${error.message}`))
)

/** The staging file is on the same disk, and of no more use once it is reduced. */
const begin = Effect.fnUntraced(function* (
  { dataSet, stagedFile }: Publication,
  { hasLive, isCopied }: Compared,
  live: string | undefined,
  building: string
) {
  const fs = yield* FileSystem.FileSystem
  if (live !== undefined && isCopied) return { copyOf: live } satisfies Base as Base
  if (live !== undefined && (hasLive || !(yield* canAdopt(dataSet, stagedFile, live)))) {
    yield* copy(live, building)
    return { copyOf: live } satisfies Base as Base
  }
  yield* fs.rename(stagedFile, building)
  return { adopting: live } satisfies Base as Base
})

const publishWith = Effect.fnUntraced(function* (publication: Publication) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { dryRun, layout } = publication
  const live = Option.getOrUndefined(yield* currentFile(layout).pipe(during("finding the live generation")))
  const removeLeft = dryRun ? Effect.void : removeLeftovers(layout)
  yield* removeLeft.pipe(during("removing what a killed run left"))
  const folder = dryRun ? path.dirname(publication.stagedFile) : layout.dir
  const building = path.join(folder, "larder.duckdb.building") // its number is known once it is compared
  return yield* Effect.gen(function* () {
    const comparing = `comparing with ${live ?? "an empty warehouse"}`
    const reduced = yield* reduce(publication, live, building).pipe(during(comparing))
    const counted = withRows(publication, reduced.stated_rows, reduced.loaded_rows)
    if (reduced.changed.length === 0 && !reduced.redefined) {
      const outcome = counted.outcome === "partial" ? ("partial" as const) : ("unchanged" as const)
      return { run: { ...counted, outcome }, checks: [], changes: false }
    }

    const kept = yield* generations(layout).pipe(during("listing the generations"))
    // A warehouse that was copied has ancestors whose files stayed behind.
    const id = generationId(1 + Math.max(0, ...kept.map(({ number }) => number), ...reduced.lineage.map(numberOf)))
    const name = `${id}.duckdb`
    const run: RunRecord = { ...counted, generation: dryRun ? null : id }
    const base = yield* begin(publication, reduced, live, building).pipe(during("copying the live generation"))
    const { checks, journalFiles } = yield* build(publication, run, reduced, base, live, building)
    if (dryRun) return { run, checks, changes: true }
    yield* Effect.gen(function* () {
      yield* finishCarried(building, path.join(layout.dir, name)).pipe(
        Effect.andThen(promote(layout, building, name)),
        Effect.onError(() => Effect.ignore(fs.remove(path.join(layout.dir, name), { force: true }))),
        during("promoting it")
      )
      yield* tidy(layout, run, reduced, live === undefined ? [] : [idOf(path.basename(live))], journalFiles)
    }).pipe(Effect.uninterruptible)
    return { run, checks, changes: true }
  }).pipe(
    Effect.ensuring(Effect.catch(removeLeft, (error) => Effect.logWarning(`the next run tidies up: ${error.message}`)))
  )
})

/** Publishes a run's staged rows as a new generation, or finds that nothing is new and publishes nothing. */
export const publish = Effect.fn("Generation.publish")(function* (publication: Publication) {
  const { dryRun, layout } = publication
  if (!dryRun) yield* writableDirectory(layout.dir)
  const publishing = publishWith(publication)
  const published: Published = yield* dryRun ? publishing : withPublishLock(layout, publishing)
  return published
})
