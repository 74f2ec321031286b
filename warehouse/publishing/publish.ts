/**
 * Publishes what a run staged. New rows go into a new database of the data set, which is built beside the staging file,
 * checked, closed and put into the depot. Then a manifest names it, and it is live. A failure before that leaves the
 * live data unchanged. A run without new rows leaves only its records.
 */
import type { CheckOutcome, FeedLeftOut, RunRecord } from "@larder/schemas"
import { Effect, Path } from "effect"
import { type Layout, writableDirectory } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { type DataSetEntry, generationId, isLoaded, type Manifest, type Part } from "../generation/manifest.ts"
import { prune } from "../generation/retention.ts"
import { stagedIn, writeRecordsOfRun } from "../ingestion/records.ts"
import { type LiveDataSet, liveDataSetOf } from "../live/previous.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { definitionHash } from "../tables/dictionary.ts"
import type { DataSet } from "../tables/tables.ts"
import { type Built, build } from "./build.ts"
import type { Check } from "./check.ts"
import { type Reduced, reduceToNew } from "./merge.ts"
import { during } from "./publish-failed.ts"
import { putFile, recordRun, requireStillKnown } from "./record.ts"
import type { Staged } from "./staging.ts"

interface Publication {
  readonly layout: Layout
  readonly dataSet: DataSet
  readonly staged: Staged
  /** The live generation when the run began to read; undefined if there was none. */
  readonly since?: Manifest | undefined
  /** The run so far. Publishing sets its outcome, its generation, and its loaded and unchanged rows. */
  readonly run: RunRecord
  /** Feeds that the run left out. */
  readonly leftOut: ReadonlyArray<FeedLeftOut>
  /** Payload rows that state nothing for this data set: they have no value, or are about nothing in the catalog. */
  readonly silentRows: number
  readonly checks: ReadonlyArray<Check>
  /** Whether a data set that is smaller than the live one may be published. */
  readonly acceptShrinkage?: boolean | undefined
  /** Called with the results of all checks, before a failed one ends the run. */
  readonly onChecked?: ((checks: ReadonlyArray<CheckOutcome>) => void) | undefined
  /**
   * Does everything except make the generation. All files are removed with the staging file, and the warehouse is
   * unchanged.
   */
  readonly dryRun: boolean
}

export interface Published {
  readonly run: RunRecord
  readonly checks: ReadonlyArray<CheckOutcome>
  /** Whether any row of the data set changes. */
  readonly changes: boolean
}

const withRows = (publication: Publication, { loaded_rows, stated_rows }: Reduced): RunRecord => ({
  ...publication.run,
  rows_loaded: loaded_rows,
  rows_unchanged: publication.silentRows + stated_rows - loaded_rows
})

/** Writes the records of a run without new rows. It leaves nothing else. */
const recordUnchanged = Effect.fnUntraced(function* ({ leftOut, staged }: Publication, counted: RunRecord) {
  const path = yield* Path.Path
  const outcome = counted.outcome === "partial" ? ("partial" as const) : ("unchanged" as const)
  const run: RunRecord = { ...counted, outcome }
  const records = path.join(path.dirname(staged.file), "records.gz")
  yield* writeRecordsOfRun(records, { run, checks: [], leftOut, hasChangedData: false }, stagedIn(staged.db))
  return { run, records }
})

interface Compared {
  readonly reduced: Reduced
  /** The run with its rows counted. */
  readonly run: RunRecord
  /** The file of its records, if no row was new. */
  readonly records: string | undefined
}

/** Reduces the staging file to what is new compared with the live data set. */
const compare = Effect.fnUntraced(function* (publication: Publication, live: LiveDataSet) {
  const { dataSet, layout, staged } = publication
  const reduced = yield* reduceToNew(staged.db, layout, dataSet, live)
  const counted = withRows(publication, reduced)
  const hasOldTables = isLoaded(live.entry) && live.entry.schema < dataSet.version
  if (reduced.changed.length > 0 || hasOldTables) {
    return { reduced, run: counted, records: undefined } satisfies Compared as Compared
  }
  return { reduced, ...(yield* recordUnchanged(publication, counted)) } satisfies Compared as Compared
})

const putParts = (layout: Layout, { files }: Built) =>
  Effect.forEach(files, ({ file, name }) => Effect.map(putFile(layout, file), (object) => ({ name, ...object })), {
    concurrency: 4
  })

/** The entry of the data set with new parts, built on the live one. */
const entryOf = (
  { dataSet, run }: Publication,
  { entry }: LiveDataSet,
  { newest_on }: Built,
  parts: ReadonlyArray<Part>,
  number: number,
  hasNewRows: boolean
): DataSetEntry => {
  const before = isLoaded(entry) ? entry : undefined
  return {
    schema: dataSet.version,
    definition: definitionHash(dataSet),
    published_in: number,
    changed_in: number,
    built_on: before?.published_in ?? null,
    origins:
      hasNewRows || before === undefined ? [...new Set([...(before?.origins ?? []), run.origin])] : before.origins,
    newest_on,
    undone: entry?.undone ?? [],
    parts
  }
}

/**
 * After the manifest is put, nothing fails the run: an error in refreshing or pruning is logged, and the next run does
 * that work.
 */
const finish = (layout: Layout) =>
  refreshOpened(layout).pipe(
    Effect.andThen(prune(layout)),
    Effect.catch((error) => Effect.logWarning(`the run is recorded, but: ${error.message}`))
  )

const publishNew = Effect.fnUntraced(function* (
  publication: Publication,
  counted: RunRecord,
  reduced: Reduced,
  live: LiveDataSet
) {
  const path = yield* Path.Path
  const { acceptShrinkage = false, dryRun, layout, staged } = publication
  const folder = path.dirname(staged.file)
  const hasNewRows = reduced.loaded_rows > 0
  const wasSample = live.entry?.origins.includes("sample") ?? false
  const isSample = wasSample || counted.origin === "sample"
  const building = { ...publication, folder, live: live.file, acceptShrinkage, isSample }
  const built = yield* build(building, counted, reduced)
  if (dryRun) return { run: counted, checks: built.checks, changes: true } satisfies Published as Published
  const parts = yield* putParts(layout, built).pipe(during("promoting it"))
  const promoting = Effect.gen(function* () {
    const { number } = yield* recordRun(layout, counted, built.records, folder, {
      since: publication.since,
      base: live.entry,
      entry: (number) => entryOf(publication, live, built, parts, number, hasNewRows)
    })
    return { ...counted, generation: generationId(number) }
  })
  const run: RunRecord = yield* promoting.pipe(
    during("promoting it"),
    Effect.tap(() => finish(layout)),
    Effect.uninterruptible // a run that is live is never reported as interrupted
  )
  return { run, checks: built.checks, changes: true } satisfies Published as Published
})

const publishWith = Effect.fnUntraced(function* (publication: Publication) {
  const path = yield* Path.Path
  const { dataSet, dryRun, layout, since, staged } = publication
  const live = yield* liveDataSetOf(layout, dataSet).pipe(during("finding what is live"))
  yield* requireStillKnown(dataSet.about.pipeline, since, live.entry)
  const comparing = during(`comparing with ${live.file ?? "an empty warehouse"}`)
  const { records, reduced, run } = yield* compare(publication, live).pipe(comparing)
  if (records === undefined) return yield* publishNew(publication, run, reduced, live)
  yield* staged.close
  const recording = recordRun(layout, run, records, path.dirname(staged.file), { since, base: live.entry }).pipe(
    during("recording the run"),
    Effect.tap(() => finish(layout)),
    Effect.uninterruptible
  )
  if (!dryRun) yield* recording
  return { run, checks: [], changes: false } satisfies Published as Published
})

/**
 * Publishes a run's staged rows as a new generation, or records that no row is new. Fails with `PublishedMeanwhile` if
 * another machine, which has its own locks, was faster: then the caller stages the rows again, compared with what is
 * live now.
 */
export const publish = Effect.fn("Generation.publish")(function* (publication: Publication) {
  const { dataSet, dryRun, layout } = publication
  if (dryRun) return yield* publishWith(publication)
  yield* writableDirectory(layout.dir)
  return yield* withLock(layout.lockOf(dataSet.about.pipeline), publishWith(publication))
})
