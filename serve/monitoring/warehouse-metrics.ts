/** Metrics of the data: what `ingest.freshness` says, the newest runs, what is left out, and the depot. */
import { Freshness, RunRecord } from "@larder/schemas"
import { dataSets, dropEnded, hasFailed } from "@larder/warehouse"
import { formatLabels, type Metric } from "../api/index.ts"
import type { WarehouseState } from "./watch-warehouse.ts"

type Values = ReturnType<Metric["values"]>

const states = Freshness.fields.state.literals
const outcomes = RunRecord.fields.outcome.literals
const pipelines = dataSets.map(({ about: { pipeline } }) => pipeline)
const seconds = (iso: string) => Date.parse(iso) / 1000
const secondsIfKnown = (iso: string | undefined) => (iso === undefined ? undefined : seconds(iso))

const countSubjects = ({ freshness, read_at }: WarehouseState): Values =>
  read_at === undefined
    ? []
    : pipelines.flatMap((pipeline) =>
        states.map((state) => {
          const subjects = freshness.filter((row) => row.pipeline === pipeline && row.state === state)
          return [formatLabels({ pipeline, state }), subjects.length] as const
        })
      )

/** Not of stores: a list of them may be long. */
const newestByFeed = ({ freshness }: WarehouseState): Values => {
  const newest = new Map<string, string>()
  for (const { feed, kind, newest_on, pipeline } of freshness) {
    if (kind === "store" || feed === null || newest_on === null) continue
    const labels = formatLabels({ pipeline, feed })
    if (newest_on > (newest.get(labels) ?? "")) newest.set(labels, newest_on)
  }
  return [...newest].map(([labels, day]) => [labels, seconds(day)])
}

const ofRuns = (
  state: WarehouseState,
  select: (pipeline: WarehouseState["pipelines"][number]) => number | undefined
): Values =>
  state.pipelines.flatMap((pipeline) => {
    const value = select(pipeline)
    return value === undefined ? [] : [[formatLabels({ pipeline: pipeline.pipeline }), value] as const]
  })

const outcomesOfRuns = (state: WarehouseState): Values =>
  state.pipelines.flatMap(({ last_run, pipeline }) =>
    last_run === undefined
      ? []
      : outcomes.map((outcome) => [formatLabels({ pipeline, outcome }), Number(outcome === last_run.outcome)] as const)
  )

const leftOutFeeds = ({ freshness, left_out }: WarehouseState): Values => {
  if (left_out === undefined) return []
  const missing = dropEnded(left_out, freshness)
  return pipelines.map((pipeline) => [
    formatLabels({ pipeline }),
    missing.filter((left) => left.pipeline === pipeline).length
  ])
}

interface Pulls {
  readonly succeeded: number
  readonly failed: number
}

interface Served {
  readonly state: () => WarehouseState
  readonly generation: () => string
  readonly isReady: () => boolean
  /** Undefined without a shared depot. */
  readonly pulls: () => Pulls | undefined
}

export const warehouseMetrics = ({ generation, isReady, pulls, state }: Served): ReadonlyArray<Metric> => {
  const gauge = (name: string, help: string, values: (state: WarehouseState) => Values): Metric => ({
    name,
    type: "gauge",
    help,
    values: () => values(state())
  })
  return [
    gauge("larder_ready", "Whether /readyz responds with 200: 1, or 0 if it responds with 503.", () => [
      ["", Number(isReady())]
    ]),
    gauge("larder_generation", "Number of the newest generation that is served.", () => [
      ["", Number(generation().replace(/\D/g, ""))]
    ]),
    gauge(
      "larder_freshness_subjects",
      "Metrics, releases, stores and other subjects of ingest.freshness, by pipeline and state.",
      countSubjects
    ),
    gauge(
      "larder_freshness_read_timestamp_seconds",
      "When ingest.freshness was last read, in seconds since 1970.",
      ({ read_at }) => (read_at === undefined ? [] : [["", seconds(read_at)]])
    ),
    {
      name: "larder_freshness_read_failures_total",
      type: "counter",
      help: "Reads of ingest.freshness that failed since the start.",
      values: () => [["", state().failures]]
    },
    gauge(
      "larder_feed_newest_timestamp_seconds",
      "Day of the newest value or release of each feed, at 00:00 UTC, in seconds since 1970. Stores have none.",
      newestByFeed
    ),
    gauge(
      "larder_run_last_start_timestamp_seconds",
      "When the newest run of each pipeline started, in seconds since 1970.",
      (current) => ofRuns(current, ({ last_started_at }) => secondsIfKnown(last_started_at))
    ),
    gauge(
      "larder_run_last_success_timestamp_seconds",
      "When the newest run of each pipeline that did not fail had read its source, in seconds since 1970.",
      (current) => ofRuns(current, ({ last_success }) => secondsIfKnown(last_success?.finished_at))
    ),
    gauge(
      "larder_run_last_failed",
      "Whether the last run of each pipeline failed, or read nothing: 1 or 0. Interrupted runs do not count.",
      (current) => ofRuns(current, ({ last_run }) => last_run && Number(hasFailed(last_run)))
    ),
    gauge(
      "larder_run_last_outcome",
      "Outcome of the last run of each pipeline, as in ingest.run: 1, and 0 for the others.",
      outcomesOfRuns
    ),
    gauge(
      "larder_left_out_feeds",
      "Feeds of each pipeline that are left out of the live data, all or in part, except those that no run reads any more.",
      leftOutFeeds
    ),
    {
      name: "larder_depot_pulls_total",
      type: "counter",
      help: "Pulls from the shared depot by outcome: succeeded, also if nothing was new, or failed.",
      values: () => Object.entries(pulls() ?? {}).map(([outcome, count]) => [formatLabels({ outcome }), count])
    }
  ]
}
