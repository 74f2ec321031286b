/**
 * A run from its source to the warehouse: it reads into a staging file and publishes what is new. A failed run leaves a
 * record of the reason and of what it had staged. If another machine publishes the same data set meanwhile, the run
 * reads its payloads a second time and compares them with what is live then.
 */
import type { CheckOutcome, FeedLeftOut, RunRecord } from "@larder/schemas"
import {
  ChecksFailed,
  catchUp,
  type Layout,
  type Manifest,
  newestManifest,
  PublishedMeanwhile,
  publish,
  recordEnd,
  recordedRun,
  refreshOpened,
  requirePublishable,
  requireStillKnown,
  type Staged,
  StagingFailed,
  stage,
  stagingFolder
} from "@larder/warehouse"
import { Cause, Clock, Effect, Exit, Option, Path } from "effect"
import { Archive } from "./archive/archive.ts"
import { archiveToRepeat, fetchesOf, repeated, unpackingFolder } from "./archive/archived-runs.ts"
import { markBundled, mixtureIn } from "./bundled.ts"
import { type DayRange, NothingRead, type Pipeline, ReadFailed, type RunContext, reasonLines } from "./pipeline.ts"
import { BadUse } from "./preflight.ts"
import { Progress } from "./progress.ts"

/** A run that failed, or a run that is live and was interrupted afterwards. */
export interface Ended {
  readonly run: RunRecord
  readonly left_out: ReadonlyArray<FeedLeftOut>
}

export interface RunOptions {
  /** `LARDER_HOME` of the run. */
  readonly home: string
  readonly days: DayRange | undefined
  /** Reads, merges and checks, and discards the result. */
  readonly dryRun: boolean
  /** Also publishes less than the live generation holds. */
  readonly acceptShrinkage?: boolean | undefined
  /**
   * A run that is repeated from the archive. It succeeded originally, so having less than the live generation was
   * accepted, or follows from a rollback.
   */
  readonly isRepeated?: true
  /** The file that was given with `--stores`. */
  readonly stores?: string | undefined
  /** Called with what is known about a run that did not succeed. */
  readonly onFailed?: (ended: Ended) => void
}

interface Reading {
  readonly pipeline: Pipeline
  readonly layout: Layout
  /** The run as it begins. */
  readonly started: RunRecord
  readonly options: RunOptions
}

export const timeOf = (now: number) => new Date(now).toISOString()
export const outcomeOfFailure = (cause: Cause.Cause<unknown>): RunRecord["outcome"] => {
  if (Cause.hasInterruptsOnly(cause)) return "interrupted"
  return Cause.squash(cause) instanceof ChecksFailed ? "checks_failed" : "failed"
}
const messageOf = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Cause.hasInterruptsOnly(cause) ? "interrupted" : String(error instanceof Error ? error.message : error)
}
const leftOutOf = (cause: Cause.Cause<unknown>): ReadonlyArray<FeedLeftOut> => {
  const error = Cause.squash(cause)
  return error instanceof ReadFailed || error instanceof NothingRead ? error.left_out : []
}

/** What is known about a run so far. */
interface Known {
  run: RunRecord
  left_out: ReadonlyArray<FeedLeftOut>
  checks: ReadonlyArray<CheckOutcome>
}

/** Makes a failed run visible in SQL immediately. If this fails, the run still fails with its original error. */
const tellFailure = Effect.fnUntraced(function* (
  { layout, options }: Reading,
  { checks, left_out, run: known }: Known,
  cause: Cause.Cause<unknown>
) {
  const recorded = options.dryRun
    ? undefined
    : yield* recordedRun(layout, known.run_id).pipe(Effect.orElseSucceed(() => undefined))
  if (recorded !== undefined) {
    options.onFailed?.({ run: recorded, left_out })
    return yield* Effect.logWarning(
      `the failure came too late: ${recorded.run_id} was already recorded, and its data is live. npx larder-ingest generations shows it.`
    )
  }
  const finished_at = timeOf(yield* Clock.currentTimeMillis)
  const run = { ...known, outcome: outcomeOfFailure(cause), finished_at, message: messageOf(cause) }
  const leftOut = leftOutOf(cause)
  options.onFailed?.({ run, left_out: leftOut })
  if (options.dryRun) return
  yield* recordEnd(layout, { run, checks, leftOut }, stagingFolder(layout, run.run_id)).pipe(
    Effect.catch((error) => Effect.logWarning(`the record of this run is lost: ${error.message}`))
  )
})

const isOvertaken = (cause: Cause.Cause<unknown>) => Cause.squash(cause) instanceof PublishedMeanwhile
const orTell =
  (reading: Reading, known: Known) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.onExit(effect, (exit) =>
      Exit.isSuccess(exit) || isOvertaken(exit.cause) ? Effect.void : tellFailure(reading, known, exit.cause)
    )

/**
 * Reads the source and checks what was received: bundled samples stay samples wherever they are read from, and must not
 * be mixed with live data.
 */
const readInto = Effect.fnUntraced(function* (
  pipeline: Pipeline,
  started: RunRecord,
  context: RunContext,
  isRepeated: boolean
) {
  const read = yield* pipeline.read(context)
  if (started.origin === "sample" || !(yield* markBundled(pipeline, context.staging))) {
    return { ...read, origin: started.origin }
  }
  const mixture = isRepeated ? undefined : yield* mixtureIn(context.layout, pipeline, "sample")
  if (mixture !== undefined) return yield* new BadUse({ problem: mixture })
  return { ...read, origin: "sample" as const }
})

/** Publishes what was read, and updates `known` along the way. */
const publishRead = Effect.fnUntraced(function* (
  { layout, options, pipeline, started }: Reading,
  since: Manifest | undefined,
  known: Known,
  read: Effect.Success<ReturnType<typeof readInto>>,
  staged: Staged
) {
  const { acceptShrinkage = false, dryRun, isRepeated = false } = options
  const { all_failed = false, feeds, left_out, origin, rows_read, rows_rejected, rows_silent, stores } = read
  const run: RunRecord = {
    ...started,
    origin,
    outcome: left_out.length > 0 ? "partial" : "published",
    finished_at: isRepeated ? started.finished_at : timeOf(yield* Clock.currentTimeMillis),
    rows_read,
    rows_rejected,
    message: left_out.length > 0 ? reasonLines(left_out).join("\n") : null
  }
  known.run = run
  known.left_out = left_out
  yield* Progress.use((progress) => progress.phase(dryRun ? "merging and checking" : "publishing", rows_read))
  if (!dryRun) yield* Archive.use((archive) => archive.settled)
  const published = yield* publish({
    layout,
    dataSet: pipeline.dataSet,
    staged,
    since,
    run,
    leftOut: left_out,
    silentRows: rows_silent,
    checks: pipeline.checks,
    acceptShrinkage: acceptShrinkage || isRepeated,
    onChecked: (checks) => {
      known.checks = checks
    },
    dryRun
  })
  return { ...published, feeds, left_out, all_failed, ...(stores === undefined ? {} : { stores }) }
})

/** `since` is what is live when the attempt begins. */
const attempt = Effect.fnUntraced(function* (reading: Reading, since: Manifest | undefined, known: Known) {
  const { layout, options, pipeline, started } = reading
  const { acceptShrinkage = false, days, isRepeated = false, stores } = options
  const { run_id, started_at } = started
  yield* requirePublishable(layout, pipeline.dataSet) // before anything is fetched
  yield* Progress.use((progress) => progress.start(pipeline.name))
  const { filled, staged } = yield* stage(layout, started, pipeline.dataSet, (staging) =>
    readInto(pipeline, started, { run_id, started_at, layout, staging, days, stores, acceptShrinkage }, isRepeated)
  ).pipe(Effect.catchTag("DuckDbError", (cause) => Effect.fail(new StagingFailed({ cause }))))
  const published = publishRead(reading, since, known, filled, staged)
  return yield* Effect.ensuring(published, staged.close) // recording a failure opens the staging file
})
export type IngestResult = Effect.Success<ReturnType<typeof attempt>>

/** The files of an attempt exist until its failure has been recorded. */
const attemptAndTell = (reading: Reading, since: Manifest | undefined) =>
  Effect.suspend(() => {
    const known: Known = { run: reading.started, left_out: [], checks: [] }
    return Effect.scoped(attempt(reading, since, known).pipe(orTell(reading, known)))
  })

/** Undefined if another machine published first. */
const overtakenOr = <A, E, R>(attempt: Effect.Effect<A, E | PublishedMeanwhile, R>) =>
  Effect.catchIf(
    attempt,
    (error): error is PublishedMeanwhile => error instanceof PublishedMeanwhile,
    () => Effect.succeed(undefined)
  )

const newest = ({ layout }: Reading) => Effect.map(newestManifest(layout.local), Option.getOrUndefined)

/** Replaces the source by what the run already fetched. Fails if a rollback means that there may be more to read. */
const whatItGot = Effect.fnUntraced(function* (reading: Reading, since: Manifest | undefined) {
  const path = yield* Path.Path
  const { layout, pipeline, started } = reading
  yield* catchUp(layout)
  const now = yield* newest(reading)
  yield* requireStillKnown(pipeline.name, since, now?.data_sets[pipeline.name])
  yield* refreshOpened(layout) // what the other machine read counts as read
  yield* Effect.logInfo(`${pipeline.name} was published by another machine; what was read is compared with that`)
  const folder = path.join(layout.home, "raw")
  const archive = yield* archiveToRepeat(folder, yield* unpackingFolder(layout))
  const { run_id } = started
  return { now, source: repeated(archive, { run_id, fetches: yield* fetchesOf(folder, run_id) }) }
})

/** Reads and publishes. An overtaken run tries again: each time, another machine has published. */
export const readAndPublish = Effect.fnUntraced(function* (reading: Reading) {
  let since = yield* newest(reading)
  let published = yield* overtakenOr(attemptAndTell(reading, since))
  while (published === undefined) {
    const got = yield* whatItGot(reading, since).pipe(
      orTell(reading, { run: reading.started, left_out: [], checks: [] })
    )
    since = got.now
    const again: Reading = { ...reading, options: { ...reading.options, stores: undefined } } // the list comes from the archive, too
    published = yield* overtakenOr(attemptAndTell(again, since)).pipe(Effect.provide(got.source))
  }
  return published
}, Effect.scoped)
