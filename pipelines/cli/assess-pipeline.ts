/** What `larder-ingest status` says about a pipeline: from its last run, and from what `ingest.freshness` says about its data. */
import type { LeftOut } from "@larder/schemas"
import { countStates, type FreshnessRow, hasFailed, type PipelineState, type StateCounts } from "@larder/warehouse"
import { formatUtcMinute } from "./flags.ts"

/**
 * The worst that is true. `unreadable`: this version of Larder cannot read the data, so no command can use it. `unknown`:
 * `ingest.freshness` could not be read. `failed`: the last run failed. The others are states of `ingest.freshness`.
 */
export type Status = "unreadable" | "unknown" | "failed" | "not_loaded" | "late" | "not_read" | "sample" | "fresh"

export type FeedLeftOut = Pick<typeof LeftOut.Type, "feed" | "kind" | "reason">

export interface Assessed {
  readonly pipeline: string
  readonly status: Status
  /** The reason, in one line. */
  readonly detail: string
  /** How many subjects of `ingest.freshness` have each state; empty if that is unknown. */
  readonly states: StateCounts
  readonly late: ReadonlyArray<Pick<FreshnessRow, "kind" | "subject" | "newest_on" | "expected_at" | "late_at" | "why">>
  readonly last_complete_read_at: string | null
  readonly last_run_id: string | null
  readonly left_out: ReadonlyArray<FeedLeftOut>
}

const worstFirst = ["not_loaded", "late", "not_read", "sample"] as const

/** Data without a single subject was never read. */
const worstState = (states: StateCounts): Status => {
  if (Object.keys(states).length === 0) return "not_read"
  return worstFirst.find((state) => states[state] !== undefined) ?? "fresh"
}

const describeFailure = ({ message, outcome, started_at }: NonNullable<PipelineState["last_run"]>) => {
  // what happened and the first reason; if feeds were left out, the message has only their reasons
  const lines = message?.split("\n", outcome === "partial" ? 1 : 2) ?? []
  const problem = lines.length === 0 ? "nothing could be read" : lines.map((line) => line.trim()).join(" ")
  return `the run of ${formatUtcMinute(started_at)} failed: ${problem}`
}

const stateOrder = ["late", "not_read", "fresh", "ended", "sample"] as const

const describeStates = (states: StateCounts, lastRead: string | null) => {
  const counts = stateOrder.flatMap((state) => (states[state] ? `${states[state]} ${state.replace("_", " ")}` : []))
  const read = lastRead === null ? "never read completely" : `last read completely ${formatUtcMinute(lastRead)}`
  return [counts.length === 0 ? "nothing is in it" : counts.join(", "), read].join("; ")
}

const describePartial = ({ last_run }: PipelineState) =>
  last_run?.outcome === "partial"
    ? `; the run of ${formatUtcMinute(last_run.started_at)} left feeds out, all or in part: ingest.left_out`
    : ""

/** `rows` are all of `ingest.freshness`; undefined if it could not be read. `fault`: why the data cannot be read. */
export const assessPipeline = (
  state: PipelineState,
  rows: ReadonlyArray<FreshnessRow> | undefined,
  leftOut: ReadonlyArray<FeedLeftOut>,
  fault: Error | undefined
): Assessed => {
  const { last_run, pipeline } = state
  const own = fault === undefined ? (rows ?? []).filter((row) => row.pipeline === pipeline) : []
  const states = countStates(own)
  const last_complete_read_at =
    own
      .map((row) => row.last_complete_read_at ?? "")
      .toSorted()
      .at(-1) || null
  const assess = (): Pick<Assessed, "detail" | "status"> => {
    if (fault !== undefined) return { status: "unreadable", detail: fault.message }
    if (last_run === undefined) return { status: "not_loaded", detail: "never run" }
    if (hasFailed(last_run)) return { status: "failed", detail: describeFailure(last_run) }
    if (rows === undefined) return { status: "unknown", detail: "ingest.freshness could not be read" }
    const status = worstState(states)
    const about = status === "not_loaded" ? "never published" : describeStates(states, last_complete_read_at)
    return { status, detail: about + describePartial(state) }
  }
  return {
    pipeline,
    ...assess(),
    states,
    late: own.flatMap(({ expected_at, kind, late_at, newest_on, state, subject, why }) =>
      state === "late" ? { kind, subject, newest_on, expected_at, late_at, why } : []
    ),
    last_complete_read_at,
    last_run_id: last_run?.run_id ?? null,
    left_out: leftOut
  }
}
