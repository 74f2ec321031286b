/**
 * Tells the operator's webhook about a run that failed or left something out, once, at its end. Nothing is kept: the exit
 * code and the record of the run stay the same whether or not the notice arrives.
 */
import { makeRunNotice, postOrWarn, type Webhook } from "@larder/warehouse"
import { exitCodeOf, expectedMessages } from "@larder/warehouse/cli"
import { Cause, Clock, Effect, Exit } from "effect"
import { classifyFailure } from "./failed-run.ts"
import type { FailedRun } from "./pipeline-run.ts"
import type { IngestResult } from "./read-and-publish.ts"
import { type FeedsLeftOut, newRunId } from "./run.ts"

const usageError = 2

/** Whoever interrupts a run, or calls it with flags or settings that cannot be used, knows. */
const isKnownToCaller = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause) || exitCodeOf(Exit.failCause(cause)) === usageError

/** `webhook` is undefined without the setting, and in a dry run; `failed` is the run, if one had begun. */
export const tellFailure = Effect.fnUntraced(function* (
  webhook: Webhook | undefined,
  pipeline: string,
  cause: Cause.Cause<unknown>,
  failed?: FailedRun
) {
  if (webhook === undefined || isKnownToCaller(cause)) return
  const { left_out = [], run = null } = failed ?? {}
  const notice = makeRunNotice({
    pipeline,
    id: run?.run_id ?? newRunId(pipeline, yield* Clock.currentTimeMillis),
    problem: classifyFailure(cause) === "checks_failed" ? "checks_failed" : "failed",
    message: expectedMessages(cause).join("\n") || String(Cause.squash(cause)),
    run,
    left_out
  })
  yield* postOrWarn(webhook, notice)
})

export const tellLeftOut = (
  webhook: Webhook | undefined,
  { left_out, run }: IngestResult,
  { message }: FeedsLeftOut
) =>
  webhook === undefined
    ? Effect.void
    : postOrWarn(
        webhook,
        makeRunNotice({ pipeline: run.pipeline, id: run.run_id, problem: "left_out", message, run, left_out })
      )
