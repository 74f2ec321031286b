/**
 * Publishes what a run staged. New rows go into a new database of the data set, which is built next to the staging file,
 * checked, closed and stored in the depot. Then a manifest names it, and it is live. A failure before that leaves the
 * live data unchanged. A run without new rows only adds its records.
 */
import type { CheckOutcome, RunRecord } from "@larder/schemas"
import { Effect, Path } from "effect"
import { type Layout, requireWritableFolder } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { type DataSetEntry, type DataSetPart, generationId, isLoaded } from "../generation/manifest.ts"
import { prune } from "../generation/retention.ts"
import { stagedRecords, writeRecordsOfRun } from "../ingestion/records.ts"
import { tablesHash } from "../tables/dictionary.ts"
import { requireMapping } from "../tables/versions.ts"
import { type Built, build, type Publication } from "./build.ts"
import { type LiveDataSet, readLiveDataSet } from "./live-data-set.ts"
import { type Reduced, reduceToNew } from "./merge.ts"
import { putFile, requireNoRollback } from "./promote.ts"
import { during } from "./publish-failed.ts"
import { recordRun } from "./record.ts"

export interface Published {
  readonly run: RunRecord
  readonly checks: ReadonlyArray<CheckOutcome>
  /** Whether any row of the data set changes. */
  readonly changes: boolean
}

const putParts = (layout: Layout, { files }: Built) =>
  Effect.forEach(files, ({ file, name }) => Effect.map(putFile(layout, file), (object) => ({ name, ...object })), {
    concurrency: 4
  })

const entryOf = (
  { dataSet, mappingVersion, run }: Publication,
  { entry }: LiveDataSet,
  { newest_on }: Built,
  parts: ReadonlyArray<DataSetPart>,
  number: number,
  hasNewRows: boolean
): DataSetEntry => {
  const before = isLoaded(entry) ? entry : undefined
  return {
    schema: dataSet.version,
    definition: tablesHash(dataSet),
    mapping: mappingVersion,
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

/** The run is live, so an error here does not fail it: the next run removes what this one does not. */
const removeOutdated = (layout: Layout) =>
  prune(layout).pipe(Effect.catch((error) => Effect.logWarning(`the run is recorded, but: ${error.message}`)))

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
  const parts = yield* putParts(layout, built).pipe(during("promoting the new database"))
  const promoting = Effect.gen(function* () {
    const { number } = yield* recordRun(layout, counted, built.records, folder, {
      since: publication.since,
      base: live.entry,
      entry: (number) => entryOf(publication, live, built, parts, number, hasNewRows)
    })
    return { ...counted, generation: generationId(number) }
  })
  const run: RunRecord = yield* promoting.pipe(
    during("promoting the new database"),
    Effect.tap(() => removeOutdated(layout)),
    Effect.uninterruptible // a run that is live is never reported as interrupted
  )
  return { run, checks: built.checks, changes: true } satisfies Published
})

/** Adds the records of a run without new rows. */
const publishUnchanged = Effect.fnUntraced(function* (
  { dryRun, layout, leftOut, since, staged }: Publication,
  counted: RunRecord,
  live: LiveDataSet
) {
  const path = yield* Path.Path
  const folder = path.dirname(staged.file)
  const records = path.join(folder, "records.gz")
  const run: RunRecord = { ...counted, outcome: counted.outcome === "partial" ? "partial" : "unchanged" }
  const recording = during("recording the run")
  yield* writeRecordsOfRun(records, { run, checks: [], leftOut, hasChangedData: false }, stagedRecords(staged.db)).pipe(
    recording
  )
  yield* staged.close
  if (!dryRun) {
    yield* recordRun(layout, run, records, folder, { since, base: live.entry }).pipe(
      recording,
      Effect.tap(() => removeOutdated(layout)),
      Effect.uninterruptible
    )
  }
  return { run, checks: [], changes: false } satisfies Published
})

const publishWith = Effect.fnUntraced(function* (publication: Publication) {
  const { dataSet, layout, mappingVersion, skippedRows, since, staged } = publication
  const live = yield* readLiveDataSet(layout, dataSet).pipe(during("finding the live data"))
  yield* requireMapping(dataSet, mappingVersion, live.entry)
  yield* requireNoRollback(dataSet.about.pipeline, since, live.entry)
  const comparing = during(`comparing with ${live.file ?? "an empty warehouse"}`)
  const reduced = yield* reduceToNew(staged.db, layout, dataSet, live).pipe(comparing)
  const { newRows, sourceRows } = reduced
  const counted: RunRecord = {
    ...publication.run,
    rows_loaded: newRows,
    rows_unchanged: skippedRows + sourceRows - newRows
  }
  return yield* reduced.changed.length > 0
    ? publishNew(publication, counted, reduced, live)
    : publishUnchanged(publication, counted, live)
})

/**
 * Publishes a run's staged rows as a new generation, or records that no row is new. Fails with `ConcurrentPublication`
 * if another machine, which has its own locks, was faster: then the caller stages the rows again.
 */
export const publish = Effect.fn("Generation.publish")(function* (publication: Publication) {
  const { dataSet, dryRun, layout } = publication
  if (dryRun) return yield* publishWith(publication)
  yield* requireWritableFolder(layout.dir)
  return yield* withLock(layout.lockOf(dataSet.about.pipeline), publishWith(publication))
})
