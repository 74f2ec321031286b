/** Probes of live sources in tests: real requests over real HTTP, of which only the hosts are moved. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { catalog, type Pipeline, type ProbedPipeline, probePipeline, writeProbeBundle } from "@larder/pipelines"
import { ConfigProvider, Effect } from "effect"
import { type Bodies, everyFeed, recordingOf } from "../support/pipelines/commodity-payloads.ts"
import { hostsMoved, unpaced } from "../support/pipelines/live-runs.ts"
import { startUpstream, type Upstream } from "../support/pipelines/upstream.ts"

const { feeds } = catalog()

export const key = { MARS_API_KEY: "0123456789-a-secret-key" }

export interface Probing {
  readonly origin: ReturnType<typeof hostsMoved>
  readonly environment?: Readonly<Record<string, string>>
  readonly stores?: string
}

const withSettings =
  (environment: Readonly<Record<string, string>>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment))),
      Effect.provide(NodeServices.layer)
    )

export const probing = (pipeline: Pipeline, { environment = key, origin, stores }: Probing) =>
  Effect.map(probePipeline(pipeline, stores), ({ verdicts }) => verdicts).pipe(
    Effect.scoped,
    Effect.provide(origin),
    withSettings(environment)
  )

/** The verdicts of some probes, and what they saw in a bundle. */
export const bundling = (
  file: string,
  probes: ReadonlyArray<readonly [Pipeline, Probing]>,
  environment: Readonly<Record<string, string>>
) =>
  Effect.gen(function* () {
    const probed: Array<ProbedPipeline> = []
    for (const [pipeline, { origin, stores }] of probes) {
      probed.push(yield* probePipeline(pipeline, stores).pipe(Effect.provide(origin)))
    }
    const verdicts = probed.flatMap((one) => one.verdicts)
    yield* writeProbeBundle(file, probed, verdicts)
    return verdicts
  }).pipe(Effect.scoped, withSettings(environment))

/** The rows of the payloads were published around 1 October 2026: this is as if they had been published today. */
const shift = Date.now() - Date.parse("2026-10-01T12:00:00Z")
export const recent = (body: string) =>
  body.replaceAll(/(\d\d)\/(\d\d)\/(\d{4})/g, (_, month, day, year) => {
    const moved = new Date(Date.UTC(year, month - 1, day, 12) + Math.floor(shift / 86_400_000) * 86_400_000)
    const [shiftedYear, shiftedMonth, shiftedDay] = moved.toISOString().slice(0, 10).split("-")
    return `${shiftedMonth}/${shiftedDay}/${shiftedYear}`
  })

/** Year-to-date reports begin on 1 January, and barrels have ended: what moves with the others is not theirs. */
const bodies = () => {
  const all = Object.entries(everyFeed()).map(([feed, body]) => [feed, recent(body)])
  return Object.fromEntries(all) as Bodies // its entries are texts by feed
}

type Answers = Readonly<Record<string, { readonly status?: number; readonly type?: string; readonly body?: string }>>

/** Both services on one server; `answers` are of feeds, or of all of them as `*`. */
export const startServices = (answers: Answers = {}) => {
  const whole = bodies()
  return startUpstream((response, _, { url }) => {
    const wanted = decodeURI(url.split("?")[0] ?? "").slice(1)
    const feed = feeds.find((one) => decodeURI(recordingOf(one)) === wanted)?.feed ?? ""
    const { body = whole[feed], status = 200, type = "application/json" } = answers[feed] ?? answers["*"] ?? {}
    response.writeHead(status, { "content-type": type }).end(body)
  })
}
export const at = ({ url: base }: Upstream) =>
  hostsMoved(({ host, pathname, search }) => `${base}/${host}${pathname}${search}`, unpaced)
