/** Probes of live sources in tests: real requests over real HTTP, with only the hosts replaced. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { writeProbeBundle } from "@larder/pipelines/probe/bundle.ts"
import { type ProbedPipeline, probes, runProbe } from "@larder/pipelines/probe/probe.ts"
import type { Pipeline } from "@larder/pipelines/run/pipeline.ts"
import { ConfigProvider, Effect } from "effect"
import { type Bodies, bodyOf, everyFeed, feedNamed, recordingOf } from "../support/pipelines/commodity-payloads.ts"
import { redirectHosts, unpaced } from "../support/pipelines/live-runs.ts"
import { startUpstream, type Upstream } from "../support/pipelines/upstream.ts"

const { feeds } = catalog()

export const key = { MARS_API_KEY: "0123456789-a-secret-key" }

interface ProbeSetting {
  readonly origin: ReturnType<typeof redirectHosts>
  readonly environment?: Readonly<Record<string, string>>
  readonly stores?: string
  readonly isFull?: boolean
}

const withSettings =
  (environment: Readonly<Record<string, string>>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))),
      Effect.provide(NodeServices.layer)
    )

const runProbeOf = (pipeline: Pipeline, { stores, isFull = false }: Pick<ProbeSetting, "stores" | "isFull">) => {
  const probe = probes.find((candidate) => candidate.pipeline === pipeline)
  return probe === undefined ? Effect.die(`${pipeline.name} cannot be probed`) : runProbe(probe, { stores, isFull })
}

export const probe = (pipeline: Pipeline, { environment = key, origin, ...options }: ProbeSetting) =>
  Effect.map(runProbeOf(pipeline, options), ({ verdicts }) => verdicts).pipe(
    Effect.scoped,
    Effect.provide(origin),
    withSettings(environment)
  )

/** Probes some pipelines, writes a bundle, and returns the verdicts. */
export const probeIntoBundle = (
  file: string,
  settings: ReadonlyArray<readonly [Pipeline, ProbeSetting]>,
  environment: Readonly<Record<string, string>>
) =>
  Effect.gen(function* () {
    const probed: Array<ProbedPipeline> = []
    for (const [pipeline, { origin, ...options }] of settings) {
      probed.push(yield* runProbeOf(pipeline, options).pipe(Effect.provide(origin)))
    }
    const verdicts = probed.flatMap(({ verdicts }) => verdicts)
    yield* writeProbeBundle(file, probed, verdicts)
    return verdicts
  }).pipe(Effect.scoped, withSettings(environment))

/** The rows of the payloads were published around 1 October 2026: shifts their dates as if they were published today. */
const shift = Date.now() - Date.parse("2026-10-01T12:00:00Z")
export const makeRecent = (body: string) =>
  body.replaceAll(/(\d\d)\/(\d\d)\/(\d{4})/g, (_, month, day, year) => {
    const moved = new Date(Date.UTC(year, month - 1, day, 12) + Math.floor(shift / 86_400_000) * 86_400_000)
    const [shiftedYear, shiftedMonth, shiftedDay] = moved.toISOString().slice(0, 10).split("-")
    return `${shiftedMonth}/${shiftedDay}/${shiftedYear}`
  })

const monthNames = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")
/** Class I is for the month after its publication. */
const nameMonthAfter = (body: string) => {
  const [, month = "", year = ""] = /"published_date":"(\d\d)\/\d\d\/(\d{4})/.exec(body) ?? []
  const next = new Date(Date.UTC(Number(year), Number(month), 1))
  return body
    .replace(/"report_month":"\w+"/, `"report_month":"${monthNames[next.getUTCMonth()]}"`)
    .replace(/"report_year":"\d+"/, `"report_year":"${next.getUTCFullYear()}"`)
}

const makeRecentBodies = () => {
  const all = Object.entries(everyFeed()).map(([feed, body]) => {
    const recent = makeRecent(body)
    return [feed, feed === "gov-mpr/2989/Detail" ? nameMonthAfter(recent) : recent]
  })
  return Object.fromEntries(all) as Bodies // its entries are texts by feed
}

type Responses = Readonly<Record<string, { readonly status?: number; readonly type?: string; readonly body?: string }>>

/** The last year of the window of days that an address requests; undefined without one. */
const lastYearOf = (url: string) => /%2F(\d{4})(?:&|$)/.exec(url)?.[1]

/**
 * Starts both services on one server, which have rows of recent days only. `responses` are by feed; `*` is for all
 * feeds.
 */
export const startServices = (responses: Responses = {}) => {
  const intact = makeRecentBodies()
  return startUpstream((response, _, { url }) => {
    const requested = decodeURI(url.split("?")[0] ?? "").slice(1)
    const feed = feeds.find((other) => decodeURI(recordingOf(other)) === requested)?.feed ?? ""
    if (Number(lastYearOf(url) ?? 9999) < 2024) {
      return void response.writeHead(200, { "content-type": "application/json" }).end(bodyOf(feedNamed(feed), []))
    }
    const { body = intact[feed], status = 200, type = "application/json" } = responses[feed] ?? responses["*"] ?? {}
    response.writeHead(status, { "content-type": type }).end(body)
  })
}
export const liveFrom = ({ url: base }: Upstream) =>
  redirectHosts(({ host, pathname, search }) => `${base}/${host}${pathname}${search}`, unpaced)
