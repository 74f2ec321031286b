/**
 * Live runs against a server on this machine: the real origin, archive, staging, publication and checks. Only the hosts
 * are replaced.
 */
import type { ServerResponse } from "node:http"
import path from "node:path"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { commodityChecks } from "@larder/pipelines/commodities/checks.ts"
import { commodities } from "@larder/pipelines/commodities/commodities.ts"
import { readCommodities } from "@larder/pipelines/commodities/read.ts"
import { Archive } from "@larder/pipelines/run/archive/archive.ts"
import { liveOrigin } from "@larder/pipelines/run/origins/live.ts"
import { Origin } from "@larder/pipelines/run/origins/origin.ts"
import type { DayRange } from "@larder/pipelines/run/pipeline.ts"
import type { RunRecord } from "@larder/schemas"
import { commodity, layoutOf, publish, stage } from "@larder/warehouse"
import { ConfigProvider, Effect, FileSystem, Layer, Logger } from "effect"
import { queryDatabase } from "../warehouse/analyst.ts"
import { type Bodies, everyFeed, recordingOf } from "./commodity-payloads.ts"
import type { Upstream } from "./upstream.ts"

const { feeds } = catalog()

/** The real network origin, with each upstream host replaced by a path of this machine's server. */
const redirectTo = (upstream: Upstream) =>
  Layer.effect(
    Origin,
    Effect.map(Origin, (live) =>
      Origin.of({
        ...live,
        open: (request, resume) => {
          const { host, pathname, search } = new URL(request.url)
          return live.open({ ...request, url: `${upstream.url}/${host}${pathname}${search}` }, resume)
        }
      })
    )
  ).pipe(Layer.provide(liveOrigin({ interval: 0, maxAttempts: 2, initialBackoff: "1 millis", maxBackoff: "2 millis" })))

const sendJson = (response: ServerResponse, body: string) => {
  response.writeHead(200, { "content-type": "application/json" })
  response.end(body)
}

const feedsByPath = new Map(feeds.map((feed) => [`/${decodeURI(recordingOf(feed))}`, feed.feed]))

/** The feed at a path of this machine's server; the query is ignored. Empty if there is none. */
export const feedAt = (url: string) => feedsByPath.get(decodeURI(url.split("?")[0] ?? "")) ?? ""

/** Serves these bodies at the paths of their feeds, and responds with 404 to anything else. */
export const serveFeeds =
  (bodies: () => Bodies) =>
  (response: ServerResponse, _n: number, { url }: { readonly url: string }) => {
    const body = bodies()[feedAt(url)]
    if (body === undefined) response.writeHead(404).end()
    else sendJson(response, body)
  }

/** Small payloads of only these feeds: a run of few feeds is quick. */
export const bodiesOf = (...names: ReadonlyArray<string>): Bodies => {
  const bodies = everyFeed()
  return Object.fromEntries(names.map((name) => [name, bodies[name] ?? ""]))
}
interface LiveRun {
  readonly home: string
  readonly upstream: Upstream
  readonly id?: string
  readonly origin?: "live" | "sample"
  readonly days?: DayRange
  /** By default, with a key. */
  readonly environment?: Readonly<Record<string, string>>
  /** Receives every log line of the run. */
  readonly onLog?: (message: string) => void
}

/** Runs and publishes once. Returns the result of the read and the record of the run. */
export const runLive = ({
  days,
  environment = { MARS_API_KEY: "a-key" },
  home,
  id = "run-1",
  onLog,
  origin = "live",
  upstream
}: LiveRun) =>
  Effect.gen(function* () {
    const layout = yield* layoutOf(home)
    const at = "2026-10-01T00:00:00.000Z"
    const started: RunRecord = {
      run_id: id,
      pipeline: "commodities",
      origin,
      outcome: "published",
      started_at: at,
      finished_at: at,
      generation: null,
      window_from: days?.from ?? null,
      window_to: days?.to ?? null,
      rows_read: null,
      rows_loaded: null,
      rows_unchanged: null,
      rows_rejected: null,
      message: null
    }
    const { filled, staged } = yield* stage(layout, started, commodity, (staging) =>
      readCommodities({ run_id: id, started_at: at, layout, staging, days, acceptShrinkage: false })
    )
    const { run } = yield* publish({
      layout,
      dataSet: commodity,
      mappingVersion: commodities.mappingVersion,
      staged,
      run: { ...started, rows_read: filled.rows_read, rows_rejected: filled.rows_rejected },
      leftOut: filled.left_out,
      skippedRows: filled.rows_skipped,
      checks: commodityChecks,
      dryRun: false
    })
    return { ...filled, run }
  }).pipe(
    Effect.scoped,
    Effect.provide(Archive.layer({ folder: path.join(home, "raw"), run_id: id, pipeline: "commodities", days: null })),
    Effect.provide(redirectTo(upstream)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))),
    Effect.provide(Logger.layer([Logger.map(Logger.formatJson, (line) => onLog?.(line))]))
  )

export const temporaryHome = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  fs.makeTempDirectoryScoped({ prefix: "larder-commodities-" })
)

export const rowsIn = (home: string, sql: string) =>
  Effect.map(queryDatabase(path.join(home, "warehouse/larder.duckdb"), sql), ([rows = []]) => rows)
