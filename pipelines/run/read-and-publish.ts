/**
 * A run from its source to the warehouse: reads into a staging file and publishes what is new. A failed run leaves a
 * record of the reason and of what it had staged. If another machine publishes the same data set in the meantime, the
 * run reads its payloads a second time, and compares them with what is live by then.
 */
import type { CheckOutcome, RunRecord } from "@larder/schemas"
import {
  ConcurrentPublication,
  catchUp,
  type Manifest,
  newestManifest,
  publish,
  refreshOpened,
  requireNoRollback,
  requirePublishable,
  StagingFailed,
  stage
} from "@larder/warehouse"
import { Clock, Effect } from "effect"
import { Archive } from "./archive/archive.ts"
import { makeScratchFolder, readFetches, repeatRun } from "./archive/archived-runs.ts"
import { rawFolderIn } from "./archive/raw-folder.ts"
import { findMixture, markBundled } from "./bundled.ts"
import { recordFailure, recordingFailureOf } from "./failed-run.ts"
import { type Pipeline, type RunContext, reasonLines } from "./pipeline.ts"
import { formatTime, type PipelineRun } from "./pipeline-run.ts"
import { Progress } from "./progress.ts"
import { UsageError } from "./usage-error.ts"

/**
 * Reads the source. Bundled samples stay samples even if another source contains them, and are not mixed with live
 * data.
 */
const readSource = Effect.fnUntraced(function* (
  pipeline: Pipeline,
  started: RunRecord,
  context: RunContext,
  isRepeated: boolean
) {
  const read = yield* pipeline.read(context)
  if (started.origin === "sample" || !(yield* markBundled(pipeline, context.staging))) {
    return { ...read, origin: started.origin }
  }
  const mixture = isRepeated ? undefined : yield* findMixture(context.layout, pipeline, "sample")
  if (mixture !== undefined) return yield* new UsageError({ problem: mixture })
  return { ...read, origin: "sample" as const }
})

/** Reads the source into the staging file, which stays open until the scope ends. */
const stageSource = Effect.fnUntraced(function* ({ layout, options, pipeline, started }: PipelineRun) {
  const { acceptShrinkage = false, days, isRepeated = false, stores } = options
  const { run_id, started_at } = started
  yield* requirePublishable(layout, pipeline.dataSet, pipeline.mappingVersion) // before anything is fetched
  yield* Progress.use((progress) => progress.start(pipeline.name))
  return yield* stage(layout, started, pipeline.dataSet, (staging) =>
    readSource(
      pipeline,
      started,
      { run_id, started_at, layout, staging, days, stores, acceptShrinkage, isRepeated },
      isRepeated
    )
  ).pipe(Effect.catchTag("DuckDbError", (cause) => Effect.fail(new StagingFailed({ cause }))))
})

type Read = Effect.Success<ReturnType<typeof stageSource>>["filled"]

/** The record of a run that has read everything. */
const recordRead = Effect.fnUntraced(function* ({ options, started }: PipelineRun, read: Read) {
  const { left_out, origin, rows_read, rows_rejected } = read
  const run: RunRecord = {
    ...started,
    origin,
    outcome: left_out.length > 0 ? "partial" : "published",
    finished_at: options.isRepeated ? started.finished_at : formatTime(yield* Clock.currentTimeMillis),
    rows_read,
    rows_rejected,
    message: left_out.length > 0 ? reasonLines(left_out).join("\n") : null
  }
  return run
})

const publishRead = Effect.fnUntraced(function* (
  { layout, options, pipeline }: PipelineRun,
  since: Manifest | undefined,
  run: RunRecord,
  { filled: read, staged }: Effect.Success<ReturnType<typeof stageSource>>,
  onChecked: (checks: ReadonlyArray<CheckOutcome>) => void
) {
  const { acceptShrinkage = false, dryRun, isRepeated = false } = options
  const { all_failed = false, feeds, left_out, rows_skipped, stores } = read
  yield* Progress.use((progress) => progress.phase(dryRun ? "merging and checking" : "publishing", read.rows_read))
  if (!dryRun) yield* Archive.use((archive) => archive.flush)
  const published = yield* publish({
    layout,
    dataSet: pipeline.dataSet,
    mappingVersion: pipeline.mappingVersion,
    staged,
    since,
    run,
    leftOut: left_out,
    skippedRows: rows_skipped,
    checks: pipeline.checks,
    acceptShrinkage: acceptShrinkage || isRepeated,
    onChecked,
    dryRun
  })
  return { ...published, feeds, left_out, all_failed, ...(stores === undefined ? {} : { stores }) }
})
export type IngestResult = Effect.Success<ReturnType<typeof publishRead>>

/**
 * Reads and publishes once. A failure is recorded with what the run knew when it failed, while the files of the run still
 * exist. Nothing between the two steps can be interrupted, so every interrupt is recorded, too.
 */
const attempt = (pipelineRun: PipelineRun, since: Manifest | undefined) => {
  const steps = Effect.uninterruptibleMask(
    Effect.fnUntraced(function* (restore) {
      const read = yield* restore(stageSource(pipelineRun)).pipe(recordingFailureOf(pipelineRun))
      const { filled, staged } = read
      const run = yield* recordRead(pipelineRun, filled)
      let checks: ReadonlyArray<CheckOutcome> = []
      const publishing = publishRead(pipelineRun, since, run, read, (outcomes) => {
        checks = outcomes
      })
      return yield* restore(publishing).pipe(
        Effect.ensuring(staged.close), // recording a failure opens the staging file
        Effect.onError((cause) => recordFailure(pipelineRun, { run, left_out: filled.left_out, checks }, cause))
      )
    })
  )
  return Effect.scoped(steps)
}

/** Undefined if another machine published first. */
const attemptOnce = (pipelineRun: PipelineRun, since: Manifest | undefined) =>
  attempt(pipelineRun, since).pipe(
    Effect.catchIf(
      (error): error is ConcurrentPublication => error instanceof ConcurrentPublication,
      () => Effect.succeed(undefined)
    )
  )

/** Replaces the source by what the run already fetched. Fails if a rollback means that more must be read. */
const reuseFetched = Effect.fnUntraced(function* (pipelineRun: PipelineRun, since: Manifest | undefined) {
  const { layout, pipeline, started } = pipelineRun
  yield* catchUp(layout)
  const newest = yield* newestManifest(layout.local)
  yield* requireNoRollback(pipeline.name, since, newest?.data_sets[pipeline.name])
  yield* refreshOpened(layout) // so that what the other machine read is not read again
  yield* Effect.logInfo(`${pipeline.name} was published by another machine; what was read is compared with that`)
  const folder = rawFolderIn(layout.home)
  const archive = { folder, scratch: yield* makeScratchFolder(layout) }
  const { run_id } = started
  return { newest, source: repeatRun(archive, { run_id, fetches: yield* readFetches(folder, run_id) }) }
})

/** Reads and publishes. If another machine publishes first, tries again. */
export const readAndPublish = Effect.fnUntraced(function* (pipelineRun: PipelineRun) {
  let since = yield* newestManifest(pipelineRun.layout.local)
  let published = yield* attemptOnce(pipelineRun, since)
  const withoutList = { ...pipelineRun, options: { ...pipelineRun.options, stores: undefined } } // it is archived
  while (published === undefined) {
    const { newest, source } = yield* reuseFetched(pipelineRun, since).pipe(recordingFailureOf(pipelineRun))
    since = newest
    published = yield* attemptOnce(withoutList, since).pipe(Effect.provide(source))
  }
  return published
}, Effect.scoped)
