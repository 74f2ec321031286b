/**
 * `larder-ingest status`: reports what `ingest.freshness` says about each data set, whether its last run failed, and what
 * is left out of it, for people and for monitoring.
 */
import {
  dropEnded,
  findUnreadable,
  type Layout,
  NoWarehouse,
  newestManifest,
  notifyFreshnessOnce,
  pull,
  readFreshness,
  readLiveLeftOut,
  readLiveStates,
  webhookFromSettings
} from "@larder/warehouse"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { openHome } from "../run/run.ts"
import { UsageError } from "../run/usage-error.ts"
import { type Assessed, assessPipeline, type FeedLeftOut, type Status } from "./assess-pipeline.ts"
import { booleanFlag, CommandFailed, jsonFlag, quietFlag, quietly } from "./flags.ts"

const kindWords: Readonly<Record<FeedLeftOut["kind"], string>> = {
  partial: "left out in part",
  untrusted: "not trusted",
  unreachable: "not reached"
}
const maxLines = 5
const maxReasonLength = 120

/** A reason may have several lines, and may quote a response. */
const shorten = (reason: string) => {
  const line = reason.replace(/\s+/g, " ").trim()
  return line.length > maxReasonLength ? `${line.slice(0, maxReasonLength).toWellFormed()}…` : line
}

const limitLines = (lines: ReadonlyArray<string>, table: string) =>
  lines.length > maxLines ? [...lines.slice(0, maxLines), `and ${lines.length - maxLines} more: ${table}`] : lines

/** What is late and what is left out, one line each, under the line of its pipeline. */
const detailLines = ({ late, left_out }: Assessed) =>
  [
    ...limitLines(
      late.map(({ kind, subject, why }) => `late: ${kind.replace("_", " ")} ${subject}. ${shorten(why)}`),
      "ingest.freshness"
    ),
    ...limitLines(
      left_out.map(({ feed, kind, reason }) => `${feed} (${kindWords[kind]}): ${shorten(reason)}`),
      "ingest.live_left_out"
    )
  ].map((line) => `  ${line}`)

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

/** Undefined if it could not be read, which is logged. */
const readRows = (layout: Layout) =>
  readFreshness(layout).pipe(
    Effect.catch(({ message }) =>
      Effect.as(Effect.logWarning(`whether the data is fresh is unknown: ${message}`), undefined)
    )
  )

const assessAll = Effect.fnUntraced(function* (
  layout: Layout,
  states: Effect.Success<ReturnType<typeof readLiveStates>>
) {
  const rows = yield* readRows(layout)
  const unreadable = yield* readUnreadable(
    layout,
    states.map(({ pipeline }) => pipeline)
  )
  const leftOut = yield* readLiveLeftOut(layout).pipe(
    Effect.catch(({ message }) =>
      Effect.as(Effect.logWarning(`what is left out of the live data is unknown: ${message}`), [])
    )
  )
  const missing = dropEnded(leftOut, rows ?? [])
  return states.map((state) =>
    assessPipeline(
      state,
      rows,
      missing.flatMap(({ pipeline, ...left }) => (pipeline === state.pipeline ? [left] : [])),
      unreadable.get(state.pipeline)
    )
  )
})

const joinNames = (assessed: ReadonlyArray<Assessed>, separator = ", ") =>
  assessed.map(({ pipeline }) => pipeline).join(separator)

/** The end of the command: undefined if a monitor has nothing to report. */
const findProblem = (assessed: ReadonlyArray<Assessed>, isStrict: boolean) => {
  const withStatus = (...statuses: ReadonlyArray<Status>) => assessed.filter(({ status }) => statuses.includes(status))
  const [unreadable, failed, unknown] = [withStatus("unreadable"), withStatus("failed"), withStatus("unknown")]
  if (unreadable.length > 0) {
    return new CommandFailed({ code: 1, problem: [...new Set(unreadable.map(({ detail }) => detail))].join("\n") })
  }
  if (failed.length > 0) {
    return new CommandFailed({ code: 1, problem: `The last run of ${joinNames(failed, " and of ")} failed.` })
  }
  if (unknown.length > 0) {
    return new CommandFailed({ code: 1, problem: `Whether the data is fresh is unknown: ${joinNames(unknown)}.` })
  }
  const late = ["Late", assessed.filter((one) => one.late.length > 0)] as const
  const onlyStrict = [
    ["Bundled samples", withStatus("sample")],
    ["Never published", withStatus("not_loaded")],
    ["Not read", assessed.filter(({ states, status }) => status === "not_read" || states.not_read !== undefined)],
    ["Left out, all or in part", assessed.filter(({ left_out }) => left_out.length > 0)]
  ] as const
  const found = [late, ...(isStrict ? onlyStrict : [])].filter(([, concerned]) => concerned.length > 0)
  if (found.length === 0) return undefined
  return new CommandFailed({
    code: 4,
    problem: found.map(([problem, concerned]) => `${problem}: ${joinNames(concerned)}.`).join(" ")
  })
}

export const statusCommand = Command.make(
  "status",
  {
    json: jsonFlag("one JSON array"),
    notify: booleanFlag(
      "notify",
      "Also send to LARDER_NOTIFY_URL what has become late, is fresh again or has ended since the last call"
    ),
    quiet: quietFlag,
    strict: booleanFlag(
      "strict",
      "Also exit with 4 for bundled samples, parts that are left out or were not read, and data sets that were never published"
    )
  },
  Effect.fn(
    function* ({ json, notify, quiet, strict }) {
      const layout = yield* openHome
      yield* pull(layout).pipe(
        Effect.catch((error) =>
          Effect.logWarning(`the depot cannot be reached, so this is the state of the last contact: ${error.message}`)
        )
      )
      const states = yield* readLiveStates(layout)
      const assessed = yield* assessAll(layout, states)
      const hasRun = states.some(({ last_run }) => last_run !== undefined)
      const lines = assessed.flatMap((one) => [
        `${one.status.replace("_", " ").padEnd("not loaded".length)}  ${one.pipeline}: ${one.detail}`,
        ...detailLines(one)
      ])
      const isUnreadable = assessed.some(({ status }) => status === "unreadable")
      const problem = findProblem(assessed, strict)
      if (json) yield* Console.log(JSON.stringify(assessed))
      else if ((hasRun || isUnreadable) && !(quiet && problem === undefined)) yield* Console.log(lines.join("\n"))
      if (notify) yield* notifyChanges(layout) // after the lines: what fails here hides nothing
      if (!hasRun && !isUnreadable) return yield* new NoWarehouse({ dir: layout.dir })
      if (problem !== undefined) return yield* problem
    },
    // its lines are printed if something is late, so it decides itself
    (command, { quiet }) => quietly(command, { json: true, quiet })
  )
).pipe(
  Command.withDescription(
    "Report whether each data set is fresh, and what is left out of it: exits with 4 if something is late, with 1 if a last run failed, or if its data cannot be read or judged"
  )
)
