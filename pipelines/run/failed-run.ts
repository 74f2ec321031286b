/** Reports and records a run that fails, with the reason and with what it had staged. */
import type { CheckOutcome, RunRecord } from "@larder/schemas"
import { ChecksFailed, ConcurrentPublication, readRecordedRun, recordFailedRun, stagingFolder } from "@larder/warehouse"
import { Cause, Clock, Effect } from "effect"
import { reasonOf } from "./files/causes.ts"
import { NothingRead, ReadFailed } from "./pipeline.ts"
import { type FailedRun, formatTime, type PipelineRun } from "./pipeline-run.ts"

export const classifyFailure = (cause: Cause.Cause<unknown>): RunRecord["outcome"] => {
  if (Cause.hasInterruptsOnly(cause)) return "interrupted"
  return Cause.squash(cause) instanceof ChecksFailed ? "checks_failed" : "failed"
}

interface RunningRun extends FailedRun {
  readonly checks: ReadonlyArray<CheckOutcome>
}

/**
 * Reports a failed run, and makes it visible in SQL immediately. If that fails, the run still fails with its original
 * error. A run that another machine overtakes has not failed: it tries again.
 */
export const recordFailure = Effect.fnUntraced(function* (
  { layout, options }: PipelineRun,
  { checks, left_out, run }: RunningRun,
  cause: Cause.Cause<unknown>
) {
  const error = Cause.squash(cause)
  if (error instanceof ConcurrentPublication) return
  const recorded = options.dryRun
    ? undefined
    : yield* readRecordedRun(layout, run.run_id).pipe(Effect.orElseSucceed(() => undefined))
  if (recorded !== undefined) {
    options.onFailed?.({ run: recorded, left_out })
    return yield* Effect.logWarning(
      `the failure came too late: ${recorded.run_id} was already recorded, and its data is live. npx larder-ingest generations shows it.`
    )
  }
  const finished_at = formatTime(yield* Clock.currentTimeMillis)
  const message = Cause.hasInterruptsOnly(cause) ? "interrupted" : reasonOf(error)
  const failed = { ...run, outcome: classifyFailure(cause), finished_at, message }
  const leftOut = error instanceof ReadFailed || error instanceof NothingRead ? error.left_out : []
  options.onFailed?.({ run: failed, left_out: leftOut })
  if (options.dryRun) return
  yield* recordFailedRun(layout, { run: failed, checks, leftOut }, stagingFolder(layout, run.run_id)).pipe(
    Effect.catch(({ message }) => Effect.logWarning(`the record of this run is lost: ${message}`))
  )
})

/** Records the failure of what a run does before it has read everything. */
export const recordingFailureOf =
  (pipelineRun: PipelineRun) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.onError(effect, (cause) =>
      recordFailure(pipelineRun, { run: pipelineRun.started, left_out: [], checks: [] }, cause)
    )
