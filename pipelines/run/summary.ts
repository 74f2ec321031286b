/**
 * The output of a finished run: a few lines for people, an object for machines, and, if it failed or left something out,
 * a notice for the operator's webhook. Nothing about a notice is kept: the exit code and the record of the run stay the
 * same whether or not it arrives.
 */
import { RunRecord } from "@larder/schemas"
import { makeRunNotice, postOrWarn, promptly, type Webhook } from "@larder/warehouse"
import { expectedMessages, StopSignal } from "@larder/warehouse/cli"
import { Cause, Clock, Effect } from "effect"
import { classifyFailure } from "./failed-run.ts"
import type { FailedRun } from "./pipeline-run.ts"
import type { IngestResult } from "./read-and-publish.ts"
import { FeedsLeftOut, newRunId } from "./run.ts"

const formatCount = (rows: number | null) => (rows ?? 0).toLocaleString("en-US")

const formatHeadline = ({ changes, run }: Pick<IngestResult, "run" | "changes">, dryRun: boolean) => {
  if (dryRun) {
    const would = changes ? "a new generation" : "nothing, because nothing is new"
    return `dry run: nothing was published; a run would publish ${would}`
  }
  return run.generation === null ? "nothing new, nothing published" : `published ${run.generation}`
}

/** Whether everything was left out in part, and earlier runs recorded the same rejects: the run exits with 0. */
export const hasOnlyKnown = ({ left_out }: Pick<IngestResult, "left_out">): boolean =>
  left_out.every(({ is_known }) => is_known === true)

const maxFeeds = 3

/** One line about parts that earlier runs left out, too: no error names them. */
const formatKnown = (left_out: IngestResult["left_out"]): ReadonlyArray<string> => {
  if (left_out.length === 0 || !hasOnlyKnown({ left_out })) return []
  const names = left_out.slice(0, maxFeeds).map(({ feed }) => feed)
  const more = left_out.length > maxFeeds ? ` and ${formatCount(left_out.length - maxFeeds)} more` : ""
  const feeds = left_out.length === 1 ? "1 feed" : `${formatCount(left_out.length)} feeds`
  return [`  ${feeds} left out in part, as in an earlier run: ${names.join(", ")}${more}`]
}

const formatRows = (run: RunRecord) => {
  const [read, loaded, unchanged, rejected] = [run.rows_read, run.rows_loaded, run.rows_unchanged, run.rows_rejected]
  return `  ${formatCount(read)} rows read: ${formatCount(loaded)} new, ${formatCount(unchanged)} with nothing new, ${formatCount(rejected)} rejected`
}

/** A run that a rebuild repeated. Its generation was one of the rebuild's own warehouse, so it is not named. */
export const formatRepeated = (run: RunRecord): string => `${run.pipeline}: repeated ${run.run_id}\n${formatRows(run)}`

export const formatSummary = (
  result: Pick<IngestResult, "run" | "changes"> & Partial<Pick<IngestResult, "left_out" | "stores">>,
  dryRun: boolean
): string => {
  const { left_out = [], run, stores } = result
  return [
    `${run.pipeline}: ${formatHeadline(result, dryRun)}`,
    formatRows(run),
    ...(stores?.not_due
      ? [`  ${formatCount(stores.not_due)} of ${formatCount(stores.listed)} stores were not due`]
      : []),
    ...formatKnown(left_out)
  ].join("\n")
}

const describeRest = ({ all_failed, changes, feeds, left_out }: IngestResult, dryRun: boolean) => {
  const others = feeds - left_out.length
  const [was, were] = dryRun ? ["would be", "would be"] : ["was", "were"]
  if (all_failed) return left_out.length === 1 ? "no row of it changes" : "none could be read"
  if (left_out.some(({ kind }) => kind === "partial")) {
    return changes ? `everything else ${was} published` : "nothing else was new"
  }
  if (others === 0) return changes ? `what was received ${was} published` : "what was received was not new"
  if (others === 1) return changes ? `the other ${was} published` : "the other had nothing new"
  return changes ? `the others ${were} published` : "the others had nothing new"
}

export const leftOutError = (result: IngestResult, dryRun: boolean): FeedsLeftOut | undefined => {
  const { all_failed, left_out, run } = result
  if (left_out.length === 0) return undefined
  return new FeedsLeftOut({ pipeline: run.pipeline, left_out, published: describeRest(result, dryRun), all_failed })
}

/** The object of a run, or of a pipeline that did not run: unknown values are null. */
type RunOutput = { readonly [Key in keyof Omit<RunRecord, "outcome">]: RunRecord[Key] | null } & {
  /** As in the run; `would_publish` for a dry run, `not_run` for a pipeline that a run of several leaves out. */
  readonly outcome: RunRecord["outcome"] | "would_publish" | "not_run"
  readonly left_out: IngestResult["left_out"]
  readonly stores: NonNullable<IngestResult["stores"]> | null
  readonly dry_run: boolean
  /** Why nothing was published; null if the pipeline neither failed nor was left out. */
  readonly problem: string | null
}

export const formatResultJson = ({ left_out, run, stores }: IngestResult, dryRun: boolean): string => {
  const outcome = dryRun && run.outcome === "published" ? "would_publish" : run.outcome
  const output: RunOutput = { ...run, outcome, left_out, stores: stores ?? null, dry_run: dryRun, problem: null }
  return JSON.stringify(output)
}

const unknownRun = Object.fromEntries(Object.keys(RunRecord.fields).map((field) => [field, null])) as {
  readonly [Field in keyof RunRecord]: null // fromEntries does not keep the names
}

interface UnpublishedPipeline {
  readonly pipeline: string
  readonly outcome: "failed" | "interrupted" | "not_run"
  readonly problem: string
  readonly dryRun: boolean
  /** The run, if one had begun: then it determines the outcome. */
  readonly failed?: FailedRun | undefined
}

export const formatUnpublishedJson = ({ dryRun, failed, outcome, pipeline, problem }: UnpublishedPipeline): string => {
  const run = { ...unknownRun, pipeline, outcome, message: problem, ...failed?.run }
  const output: RunOutput = { ...run, left_out: failed?.left_out ?? [], stores: null, dry_run: dryRun, problem }
  return JSON.stringify(output)
}

/** `webhook` is undefined without the setting, and in a dry run; `failed` is the run, if one had begun. */
export const tellFailure = Effect.fnUntraced(function* (
  webhook: Webhook | undefined,
  pipeline: string,
  cause: Cause.Cause<unknown>,
  failed?: FailedRun
) {
  if (webhook === undefined || Cause.hasInterruptsOnly(cause)) return
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

const tellStopped = (webhook: Webhook, pipeline: string, id: string, run: RunRecord | null, message: string) =>
  postOrWarn(webhook, makeRunNotice({ pipeline, id, problem: "failed", message, run, left_out: [] }), promptly)

/** Tells of a run that SIGTERM interrupts. Who presses Ctrl-C knows. If its data was live before, nothing is lost. */
export const tellInterrupted = Effect.fnUntraced(function* (
  webhook: Webhook | undefined,
  pipeline: string,
  interrupted?: FailedRun
) {
  const signal = (yield* StopSignal)()
  const { run = null } = interrupted ?? {}
  if (webhook === undefined || signal !== "SIGTERM") return
  if (run !== null && run.outcome !== "interrupted") return
  const id = run?.run_id ?? newRunId(pipeline, yield* Clock.currentTimeMillis)
  const message = "SIGTERM stopped it, as a shutdown, a time limit or a service manager does. Start it again."
  yield* tellStopped(webhook, pipeline, id, run, message)
})

/** Tells of runs that could not tell themselves. */
export const tellKilled = (webhook: Webhook | undefined, runs: ReadonlyArray<RunRecord>) =>
  Effect.forEach(
    webhook === undefined ? [] : runs.map((run) => ({ run, webhook })),
    ({ run, webhook }) => tellStopped(webhook, run.pipeline, run.run_id, run, run.message ?? ""),
    { discard: true }
  )

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

/** Tells of a pipeline that the command left out as a whole. */
export const tellNotRun = Effect.fnUntraced(function* (
  webhook: Webhook | undefined,
  pipeline: string,
  message: string
) {
  if (webhook === undefined) return
  const id = newRunId(pipeline, yield* Clock.currentTimeMillis)
  yield* postOrWarn(webhook, makeRunNotice({ pipeline, id, problem: "left_out", message, run: null, left_out: [] }))
})
