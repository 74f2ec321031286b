/**
 * `larder-ingest status`: reports whether each data set is fresh, and what is left out of it, for people and for
 * monitoring.
 */
import type { LeftOut } from "@larder/schemas"
import {
  findUnreadable,
  hasFailed,
  isFromSamples,
  isLate,
  type Layout,
  NoWarehouse,
  newestManifest,
  notifyFreshnessOnce,
  type PipelineState,
  pull,
  readLiveLeftOut,
  readLiveStates,
  webhookFromSettings
} from "@larder/warehouse"
import { Clock, Console, Effect } from "effect"
import { Command } from "effect/cli"
import { openHome } from "../run/run.ts"
import { UsageError } from "../run/usage-error.ts"
import { booleanFlag, CommandFailed, formatUtcMinute, jsonFlag } from "./flags.ts"

/**
 * `sample`: bundled samples do not get newer and are never late. `not_loaded`: the pipeline has never run. `unreadable`:
 * this version of Larder cannot read the data, so no command can use it.
 */
type Status = "fresh" | "late" | "failed" | "sample" | "not_loaded" | "unreadable"

const assessState = (state: PipelineState, now: number): Status => {
  const { last_read, last_run, late_after_days } = state
  if (last_run === undefined) return "not_loaded"
  if (hasFailed(last_run)) return "failed"
  if (isFromSamples(state)) return "sample"
  return last_read === undefined || isLate(last_read.finished_at, late_after_days, now) ? "late" : "fresh"
}

/** Returns the reason for a status, in one line. */
const explainStatus = ({ last_read, last_run, late_after_days }: PipelineState, status: Status) => {
  if (last_run === undefined) return "never run"
  if (status === "failed") {
    // what happened and the first reason; if feeds were left out, the message has only their reasons
    const lines = last_run.message?.split("\n", last_run.outcome === "partial" ? 1 : 2) ?? []
    const problem = lines.length === 0 ? "nothing could be read" : lines.map((line) => line.trim()).join(" ")
    return `the run of ${formatUtcMinute(last_run.started_at)} failed: ${problem}`
  }
  const read = last_read === undefined ? "never read completely" : `last read ${formatUtcMinute(last_read.finished_at)}`
  const late = status === "late" ? `; it should be less than ${late_after_days} days old` : ""
  if (last_run.outcome !== "partial") return read + late
  return `${read}${late}; the run of ${formatUtcMinute(last_run.started_at)} left feeds out, all or in part: ingest.left_out`
}

type FeedLeftOut = Pick<typeof LeftOut.Type, "feed" | "kind" | "reason">

const kindWords: Readonly<Record<FeedLeftOut["kind"], string>> = {
  partial: "left out in part",
  untrusted: "not trusted",
  unreachable: "not reached"
}
const maxFeeds = 5
const maxReasonLength = 120

/** A reason may have several lines, and may quote a response. */
const shorten = (reason: string) => {
  const line = reason.replace(/\s+/g, " ").trim()
  return line.length > maxReasonLength ? `${line.slice(0, maxReasonLength).toWellFormed()}…` : line
}

/** One line per feed, under the line of its pipeline. */
const leftOutLines = (feeds: ReadonlyArray<FeedLeftOut>) => {
  const more = feeds.length - maxFeeds
  const rest = more > 0 ? [`and ${more} more: ingest.live_left_out`] : []
  return [
    ...feeds.slice(0, maxFeeds).map(({ feed, kind, reason }) => `${feed} (${kindWords[kind]}): ${shorten(reason)}`),
    ...rest
  ].map((line) => `  ${line}`)
}

/** The reason why this version of Larder cannot read the live data of a pipeline, by its name. */
const readUnreadable = ({ local }: Layout, pipelines: ReadonlyArray<string>) =>
  newestManifest(local).pipe(
    Effect.map((newest): ReadonlyMap<string, Error> => (newest === undefined ? new Map() : findUnreadable(newest))),
    Effect.catchTag("ManifestUnusable", (error) =>
      Effect.succeed(new Map(pipelines.map((pipeline) => [pipeline, error])))
    )
  )

/** A notice that is not delivered is a warning, because the exit code is about the data. */
const notifyChanges = Effect.fnUntraced(function* (layout: Layout) {
  const webhook = yield* webhookFromSettings
  if (webhook === undefined) return yield* new UsageError({ problem: "--notify needs LARDER_NOTIFY_URL" })
  yield* notifyFreshnessOnce(layout, webhook).pipe(
    Effect.catchTag("NoticeNotDelivered", ({ message }) =>
      Effect.logWarning(`the notice was not delivered, and the next call sends it again: ${message}`)
    )
  )
})

export const statusCommand = Command.make(
  "status",
  {
    json: jsonFlag("one JSON array"),
    notify: booleanFlag(
      "notify",
      "Also send to LARDER_NOTIFY_URL what has become late, is fresh again or has ended since the last call"
    )
  },
  Effect.fn(function* ({ json, notify }) {
    const layout = yield* openHome
    yield* pull(layout).pipe(
      Effect.catch((error) =>
        Effect.logWarning(`the depot cannot be reached, so this is the state of the last contact: ${error.message}`)
      )
    )
    const states = yield* readLiveStates(layout)
    if (notify) yield* notifyChanges(layout)
    const unreadable = yield* readUnreadable(
      layout,
      states.map(({ pipeline }) => pipeline)
    )
    const leftOut = yield* readLiveLeftOut(layout).pipe(
      Effect.catch(({ message }) =>
        Effect.as(Effect.logWarning(`what is left out of the live data is unknown: ${message}`), [])
      )
    )
    const hasRun = states.some(({ last_run }) => last_run !== undefined)
    const now = yield* Clock.currentTimeMillis
    const assessed = states.map((state) => {
      const fault = unreadable.get(state.pipeline)
      const status = fault === undefined ? assessState(state, now) : "unreadable"
      return {
        pipeline: state.pipeline,
        status,
        detail: fault === undefined ? explainStatus(state, status) : fault.message,
        late_after_days: state.late_after_days,
        last_read_at: state.last_read?.finished_at ?? null,
        last_run_id: state.last_run?.run_id ?? null,
        left_out: leftOut.flatMap(({ pipeline, ...left }) => (pipeline === state.pipeline ? [left] : []))
      }
    })
    const lines = assessed.flatMap(({ detail, left_out, pipeline, status }) => [
      `${status.replace("_", " ").padEnd("not loaded".length)}  ${pipeline}: ${detail}`,
      ...leftOutLines(left_out)
    ])
    if (json || hasRun || unreadable.size > 0) yield* Console.log(json ? JSON.stringify(assessed) : lines.join("\n"))
    if (unreadable.size > 0) {
      const problems = new Set([...unreadable.values()].map(({ message }) => message))
      return yield* new CommandFailed({ code: 1, problem: [...problems].join("\n") })
    }
    if (!hasRun) return yield* new NoWarehouse({ dir: layout.dir })
    const { failed = [], late = [] } = Object.groupBy(assessed, ({ status }) => status)
    const joinNames = (group: typeof assessed, separator: string) =>
      group.map(({ pipeline }) => pipeline).join(separator)
    if (failed.length > 0) {
      return yield* new CommandFailed({ code: 1, problem: `The last run of ${joinNames(failed, " and of ")} failed.` })
    }
    if (late.length > 0) return yield* new CommandFailed({ code: 4, problem: `Late: ${joinNames(late, ", ")}.` })
  })
).pipe(
  Command.withDescription(
    "Report whether each data set is fresh, and what is left out of it: exits with 4 if one is late, with 1 if a last run failed or its data cannot be read"
  )
)
