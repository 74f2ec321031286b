/**
 * Publishes what a run staged. New rows go into a new database of the data set, which is built beside the staging file,
 * checked, closed and put into the depot. Then a manifest names it, and it is live. A failure before that leaves the
 * live data unchanged. A run without new rows only adds its records.
 */
import type { CheckOutcome, RunRecord } from "@larder/schemas"
import { Effect, Path } from "effect"
import { type Layout, writableDirectory } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { type DataSetEntry, type DataSetPart, generationId, isLoaded } from "../generation/manifest.ts"
import { prune } from "../generation/retention.ts"
import { stagedRecords, writeRecordsOfRun } from "../ingestion/records.ts"
import { type LiveDataSet, readLiveDataSet } from "../live/live-data-set.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { definitionHash } from "../tables/dictionary.ts"
import { type Built, build, type Publication } from "./build.ts"
import { type Reduced, reduceToNew } from "./merge.ts"
import { during } from "./publish-failed.ts"
import { putFile, recordRun, requireStillKnown } from "./record.ts"

export interface Published {
  readonly run: RunRecord
  readonly checks: ReadonlyArray<CheckOutcome>
  /** Whether any row of the data set changes. */
  readonly changes: boolean
}

/**
 * Reduces the staging file to what is new compared with the live data set, and counts the rows of the run. If nothing is
 * new, `records` is the file of its records.
 */
const compare = Effect.fnUntraced(function* (publication: Publication, live: LiveDataSet) {
  const path = yield* Path.Path
  const { dataSet, layout, leftOut, silentRows, staged } = publication
  const reduced = yield* reduceToNew(staged.db, layout, dataSet, live)
  const { newRows, sourceRows } = reduced
  const counted: RunRecord = {
    ...publication.run,
    rows_loaded: newRows,
    rows_unchanged: silentRows + sourceRows - newRows
  }
  const hasOldTables = isLoaded(live.entry) && live.entry.schema < dataSet.version
  if (reduced.changed.length > 0 || hasOldTables) return { reduced, run: counted, records: undefined }
  const run: RunRecord = { ...counted, outcome: counted.outcome === "partial" ? "partial" : "unchanged" }
  const records = path.join(path.dirname(staged.file), "records.gz")
  yield* writeRecordsOfRun(records, { run, checks: [], leftOut, hasChangedData: false }, stagedRecords(staged.db))
  return { reduced, run, records }
})

const putParts = (layout: Layout, { files }: Built) =>
  Effect.forEach(files, ({ file, name }) => Effect.map(putFile(layout, file), (object) => ({ name, ...object })), {
    concurrency: 4
  })

const entryOf = (
  { dataSet, run }: Publication,
  { entry }: LiveDataSet,
  { newest_on }: Built,
  parts: ReadonlyArray<DataSetPart>,
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

/** After the manifest is put, nothing fails the run: errors here are logged, and the next run does this work. */
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
  const { dryRun, layout, staged } = publication
  const folder = path.dirname(staged.file)
  const hasNewRows = reduced.newRows > 0
  const wasSample = live.entry?.origins.includes("sample") ?? false
  const isSample = wasSample || counted.origin === "sample"
  const built = yield* build({ ...publication, folder, live: live.file, isSample }, counted, reduced)
  if (dryRun) return { run: counted, checks: built.checks, changes: true } satisfies Published
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
  return { run, checks: built.checks, changes: true } satisfies Published
})

const publishWith = Effect.fnUntraced(function* (publication: Publication) {
  const path = yield* Path.Path
  const { dataSet, dryRun, layout, since, staged } = publication
  const live = yield* readLiveDataSet(layout, dataSet).pipe(during("finding what is live"))
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
  return { run, checks: [], changes: false } satisfies Published
})

/**
 * Publishes a run's staged rows as a new generation, or records that no row is new. Fails with `PublishedMeanwhile` if
 * another machine, which has its own locks, was faster: then the caller stages the rows again.
 */
export const publish = Effect.fn("Generation.publish")(function* (publication: Publication) {
  const { dataSet, dryRun, layout } = publication
  if (dryRun) return yield* publishWith(publication)
  yield* writableDirectory(layout.dir)
  return yield* withLock(layout.lockOf(dataSet.about.pipeline), publishWith(publication))
})
