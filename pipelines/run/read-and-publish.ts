/**
 * A run from its source to the warehouse: reads into a staging file and publishes what is new. A failed run leaves a
 * record of the reason and of what it had staged. If another machine publishes the same data set in the meantime, the
 * run reads its payloads a second time, and compares them with what is live by then.
 */
import type { CheckOutcome, FeedLeftOut, RunRecord } from "@larder/schemas"
import {
  ChecksFailed,
  ConcurrentPublication,
  catchUp,
  type Layout,
  type Manifest,
  newestManifest,
  publish,
  readRecordedRun,
  recordFailedRun,
  refreshOpened,
  requireNoRollback,
  requirePublishable,
  type Staged,
  StagingFailed,
  stage,
  stagingFolder
} from "@larder/warehouse"
import { Cause, Clock, Effect, Option } from "effect"
import { Archive } from "./archive/archive.ts"
import { makeScratchFolder, readFetches, repeatRun } from "./archive/archived-runs.ts"
import { rawFolderIn } from "./archive/raw-folder.ts"
import { findMixture, markBundled } from "./bundled.ts"
import { reasonOf } from "./files/causes.ts"
import { type DayRange, NothingRead, type Pipeline, ReadFailed, type RunContext, reasonLines } from "./pipeline.ts"
import { Progress } from "./progress.ts"
import { UsageError } from "./usage-error.ts"

/** A run that failed, or that was interrupted after its data went live. */
export interface FailedRun {
  readonly run: RunRecord
  readonly left_out: ReadonlyArray<FeedLeftOut>
}

export interface RunOptions {
  readonly home: string
  readonly days: DayRange | undefined
  readonly dryRun: boolean
  readonly acceptShrinkage?: boolean | undefined
  /** Repeated from the archive. It succeeded originally, so shrinkage was accepted or follows from a rollback. */
  readonly isRepeated?: true
  readonly stores?: string | undefined
  readonly onFailed?: (run: FailedRun) => void
}

/** A run that is repeated from the archive keeps its identity. */
export type RunIdentity = Pick<RunRecord, "run_id" | "started_at" | "origin"> & Partial<Pick<RunRecord, "finished_at">>

/** The record of a run as it begins. Counts are unknown until everything is read, or compared with what is live. */
export const startRecord = (pipeline: Pipeline, identity: RunIdentity, { days }: RunOptions): RunRecord => ({
  finished_at: identity.started_at,
  ...identity,
  pipeline: pipeline.name,
  outcome: "failed",
  generation: null,
  window_from: days?.from ?? null,
  window_to: days?.to ?? null,
  rows_read: null,
  rows_loaded: null,
  rows_unchanged: null,
  rows_rejected: null,
  message: null
})

interface PipelineRun {
  readonly pipeline: Pipeline
  readonly layout: Layout
  /** The run as it begins. */
  readonly started: RunRecord
  readonly options: RunOptions
}

export const formatTime = (now: number) => new Date(now).toISOString()
export const classifyFailure = (cause: Cause.Cause<unknown>): RunRecord["outcome"] => {
  if (Cause.hasInterruptsOnly(cause)) return "interrupted"
  return Cause.squash(cause) instanceof ChecksFailed ? "checks_failed" : "failed"
}

interface RunState {
  run: RunRecord
  left_out: ReadonlyArray<FeedLeftOut>
  checks: ReadonlyArray<CheckOutcome>
}

/** Makes a failed run visible in SQL immediately. If this fails, the run still fails with its original error. */
const recordFailure = Effect.fnUntraced(function* (
  { layout, options }: PipelineRun,
  { checks, left_out, run: current }: RunState,
  cause: Cause.Cause<unknown>
) {
  const recorded = options.dryRun
    ? undefined
    : yield* readRecordedRun(layout, current.run_id).pipe(Effect.orElseSucceed(() => undefined))
  if (recorded !== undefined) {
    options.onFailed?.({ run: recorded, left_out })
    return yield* Effect.logWarning(
      `the failure came too late: ${recorded.run_id} was already recorded, and its data is live. npx larder-ingest generations shows it.`
    )
  }
  const finished_at = formatTime(yield* Clock.currentTimeMillis)
  const error = Cause.squash(cause)
  const message = Cause.hasInterruptsOnly(cause) ? "interrupted" : reasonOf(error)
  const run = { ...current, outcome: classifyFailure(cause), finished_at, message }
  const leftOut = error instanceof ReadFailed || error instanceof NothingRead ? error.left_out : []
  options.onFailed?.({ run, left_out: leftOut })
  if (options.dryRun) return
  yield* recordFailedRun(layout, { run, checks, leftOut }, stagingFolder(layout, run.run_id)).pipe(
    Effect.catch(({ message }) => Effect.logWarning(`the record of this run is lost: ${message}`))
  )
})

/** Records the failure of an effect. A run that another machine overtakes has not failed: it tries again. */
const recordingFailure =
  (pipelineRun: PipelineRun, state: RunState) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.onError(effect, (cause) =>
      Cause.squash(cause) instanceof ConcurrentPublication ? Effect.void : recordFailure(pipelineRun, state, cause)
    )

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

/** Publishes what was read, and updates `state` along the way. */
const publishRead = Effect.fnUntraced(function* (
  { layout, options, pipeline, started }: PipelineRun,
  since: Manifest | undefined,
  state: RunState,
  read: Effect.Success<ReturnType<typeof readSource>>,
  staged: Staged
) {
  const { acceptShrinkage = false, dryRun, isRepeated = false } = options
  const { all_failed = false, feeds, left_out, origin, rows_read, rows_rejected, rows_skipped, stores } = read
  const run: RunRecord = {
    ...started,
    origin,
    outcome: left_out.length > 0 ? "partial" : "published",
    finished_at: isRepeated ? started.finished_at : formatTime(yield* Clock.currentTimeMillis),
    rows_read,
    rows_rejected,
    message: left_out.length > 0 ? reasonLines(left_out).join("\n") : null
  }
  state.run = run
  state.left_out = left_out
  yield* Progress.use((progress) => progress.phase(dryRun ? "merging and checking" : "publishing", rows_read))
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
    onChecked: (checks) => {
      state.checks = checks
    },
    dryRun
  })
  return { ...published, feeds, left_out, all_failed, ...(stores === undefined ? {} : { stores }) }
})

const attempt = Effect.fnUntraced(function* (pipelineRun: PipelineRun, since: Manifest | undefined, state: RunState) {
  const { layout, options, pipeline, started } = pipelineRun
  const { acceptShrinkage = false, days, isRepeated = false, stores } = options
  const { run_id, started_at } = started
  yield* requirePublishable(layout, pipeline.dataSet, pipeline.mappingVersion) // before anything is fetched
  yield* Progress.use((progress) => progress.start(pipeline.name))
  const { filled, staged } = yield* stage(layout, started, pipeline.dataSet, (staging) =>
    readSource(pipeline, started, { run_id, started_at, layout, staging, days, stores, acceptShrinkage }, isRepeated)
  ).pipe(Effect.catchTag("DuckDbError", (cause) => Effect.fail(new StagingFailed({ cause }))))
  const published = publishRead(pipelineRun, since, state, filled, staged)
  return yield* Effect.ensuring(published, staged.close) // recording a failure opens the staging file
})
export type IngestResult = Effect.Success<ReturnType<typeof attempt>>

const initialState = ({ started }: PipelineRun): RunState => ({ run: started, left_out: [], checks: [] })

/** Records the failure of what a run does before it reads. */
export const recordingFailureOf = (pipelineRun: PipelineRun) => recordingFailure(pipelineRun, initialState(pipelineRun))

/** Undefined if another machine published first. The files of an attempt exist until its failure has been recorded. */
const attemptOnce = (pipelineRun: PipelineRun, since: Manifest | undefined) =>
  Effect.suspend(() => {
    const state = initialState(pipelineRun)
    return Effect.scoped(attempt(pipelineRun, since, state).pipe(recordingFailure(pipelineRun, state)))
  }).pipe(
    Effect.catchIf(
      (error): error is ConcurrentPublication => error instanceof ConcurrentPublication,
      () => Effect.succeed(undefined)
    )
  )

const readNewest = ({ layout }: PipelineRun) => Effect.map(newestManifest(layout.local), Option.getOrUndefined)

/** Replaces the source by what the run already fetched. Fails if a rollback means that more must be read. */
const reuseFetched = Effect.fnUntraced(function* (pipelineRun: PipelineRun, since: Manifest | undefined) {
  const { layout, pipeline, started } = pipelineRun
  yield* catchUp(layout)
  const newest = yield* readNewest(pipelineRun)
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
  let since = yield* readNewest(pipelineRun)
  let published = yield* attemptOnce(pipelineRun, since)
  const withoutList = { ...pipelineRun, options: { ...pipelineRun.options, stores: undefined } } // it is archived
  while (published === undefined) {
    const { newest, source } = yield* reuseFetched(pipelineRun, since).pipe(recordingFailureOf(pipelineRun))
    since = newest
    published = yield* attemptOnce(withoutList, since).pipe(Effect.provide(source))
  }
  return published
}, Effect.scoped)
