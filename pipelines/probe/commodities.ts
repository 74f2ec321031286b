/**
 * Probes the reports of both services: reads a few weeks of each report and of each of its earlier eras, or its whole
 * history, and checks them against the catalog, with the code of a run. Feeds of one service are read one after the
 * other; the rest is skipped after three in a row that fail in the same way.
 */
import { Clock, DateTime, Effect, FileSystem, type Redacted, Result } from "effect"
import { loadCatalog } from "../commodities/catalog/in-force.ts"
import type { Catalog, Feed } from "../commodities/catalog.ts"
import { PayloadUnreadable } from "../commodities/decode/payload.ts"
import { DriftFound } from "../commodities/normalise/drift.ts"
import { fetchFirst } from "../commodities/source/fetch-feed.ts"
import { allEmptyExplanation, areAllEmpty, feedRequests, marsKey } from "../commodities/source/requests.ts"
import { NotRecorded, Origin, type OriginError, RefusedByUpstream } from "../run/origins/origin.ts"
import type { DayRange } from "../run/pipeline.ts"
import { describeFeed, type ProbedWindow } from "./commodity-report.ts"
import { explainUnreachable, failOnLocalFault, makeVerdictFactory, type ProbeFinding } from "./verdict.ts"
import { eraWindows, newestWindow } from "./windows.ts"

const services = {
  "gov-mars": "My Market News (marsapi.ams.usda.gov)",
  "gov-mpr": "Datamart (mpr.datamart.ams.usda.gov)"
}

/** Drift and unreadable payloads become findings. Any other exception is a bug. */
const tryWindows = (feed: Feed, windows: ReadonlyArray<ProbedWindow>): ProbedFeed => {
  try {
    return describeFeed(feed, windows)
  } catch (cause) {
    if (!(cause instanceof DriftFound || cause instanceof PayloadUnreadable)) throw cause
    // without the address, so that feeds with the same problem get the same text
    const problem = cause instanceof PayloadUnreadable ? `the payload ${cause.problem}` : cause.message
    return { feed: feed.feed, verdict: "differs", detail: problem.replace(feed.feed, "").replace(/^[:\s]+/, "") }
  }
}

type ProbedFeed = ProbeFinding & { readonly error?: OriginError }

const fetchWindow = Effect.fnUntraced(function* (
  feed: Feed,
  window: DayRange | undefined,
  key: Redacted.Redacted | undefined
) {
  const fs = yield* FileSystem.FileSystem
  const { kind } = yield* Origin
  const requests = feedRequests(feed, window, key).map((request) => ({ ...request, extraValues: ["date"] }))
  const raw = yield* fetchFirst(requests)
  const bytes = yield* Effect.orDie(fs.readFile(raw.path)) // the archive has just written it
  const probed: ProbedWindow = { raw, bytes, window, isRecorded: kind !== "live" }
  return probed
})

/**
 * Earlier eras of a report that responded. A recording is read only if it has the very window, because one of the whole
 * history answers every window and was read already. A service may not answer.
 */
const fetchEras = Effect.fnUntraced(function* (feed: Feed, key: Redacted.Redacted | undefined) {
  const { kind, list } = yield* Origin
  const isRecorded = Effect.fnUntraced(function* (window: DayRange) {
    const addresses = feedRequests(feed, window, undefined).map(({ url }) => url)
    const found = yield* Effect.forEach(addresses, (address) => Effect.orElseSucceed(list(address), () => undefined))
    return addresses.some((address, index) => found[index]?.includes(address) === true)
  })
  const windows = kind === "live" ? eraWindows(feed) : yield* Effect.filter(eraWindows(feed), isRecorded)
  const fetched = yield* Effect.forEach(windows, (window) => Effect.result(fetchWindow(feed, window, key)))
  return fetched.flatMap((era) => (Result.isSuccess(era) ? [era.success] : []))
})

const probeFeed = Effect.fnUntraced(function* (
  feed: Feed,
  {
    isFull,
    key,
    today
  }: { readonly isFull: boolean; readonly key: Redacted.Redacted | undefined; readonly today: string }
) {
  const { kind } = yield* Origin
  const newest = yield* Effect.result(
    fetchWindow(feed, kind === "live" && !isFull ? newestWindow(feed, today) : undefined, key)
  )
  if (Result.isSuccess(newest)) {
    return tryWindows(feed, [newest.success, ...(isFull ? [] : yield* fetchEras(feed, key))])
  }
  const error = yield* failOnLocalFault(newest.failure)
  const unread: ProbedFeed =
    error instanceof NotRecorded
      ? { feed: feed.feed, verdict: "not_asked", detail: "it is not recorded" }
      : { feed: feed.feed, verdict: "unreachable", detail: explainUnreachable(error), error }
  return unread
})

const maxAlike = 3

/** Why the other feeds of a service are not requested: a person waits for the result. A run gives each of them a try. */
const findCommonFailure = (probed: ReadonlyArray<ProbedFeed>) => {
  const problems = probed.slice(-maxAlike).map(({ error }) => {
    const isOfService = error?._tag === "UpstreamUnavailable" || error?._tag === "AccessDenied"
    return isOfService ? error.problem : undefined
  })
  const [first] = problems
  if (first === undefined || problems.length < maxAlike || problems.some((problem) => problem !== first))
    return undefined
  return `the same happened for ${maxAlike} feeds in a row`
}

const isNotFound = ({ error }: ProbedFeed) => error instanceof RefusedByUpstream && [404, 410].includes(error.status)

/** A single report may be discontinued. If no report exists any more, the whole service has moved. */
const detectMove = (probed: ReadonlyArray<ProbedFeed>): ReadonlyArray<ProbeFinding> => {
  if (probed.length < 3 || !probed.every(isNotFound)) return probed
  const detail =
    "no report of this service is at its address anymore (HTTP 404 or 410): the API has moved; install a newer version of Larder, or report it with --bundle"
  return probed.map((finding) => ({ ...finding, detail }))
}

/** Every feed of a service is requested for days that have rows, so feeds that are all empty differ. */
const detectIgnoredDays = (findings: ReadonlyArray<ProbeFinding>): ReadonlyArray<ProbeFinding> => {
  const rows = findings.flatMap((finding) => (finding.verdict === "ok" ? [finding.rows ?? 0] : []))
  if (!areAllEmpty(rows)) return findings
  return findings.map((finding) =>
    finding.verdict === "ok"
      ? { ...finding, verdict: "differs", detail: `${finding.detail}, ${allEmptyExplanation}` }
      : finding
  )
}

const missingKeyAdvice =
  "MARS_API_KEY is not set: get a free key at https://mymarketnews.ams.usda.gov, set it, and run the probe again"

const probeService = Effect.fnUntraced(function* (
  { feeds }: Catalog,
  source: Feed["source"],
  { isFull, today }: { readonly isFull: boolean; readonly today: string }
) {
  const { kind } = yield* Origin
  const key = yield* marsKey
  const serviceFeeds = feeds.filter((feed) => feed.source === source && !feed.isOff)
  const probed: Array<ProbedFeed> = []
  let stopReason = source === "gov-mars" && key === undefined && kind === "live" ? missingKeyAdvice : undefined
  for (const feed of serviceFeeds) {
    if (stopReason !== undefined) break
    probed.push(yield* probeFeed(feed, { isFull, key, today }))
    stopReason = findCommonFailure(probed)
  }
  const skipped = serviceFeeds
    .slice(probed.length)
    .map(({ feed }): ProbeFinding => ({ feed, verdict: "not_asked", detail: stopReason ?? "" }))
  return [...detectIgnoredDays(detectMove(probed)), ...skipped].map(makeVerdictFactory("commodities", services[source]))
})

export const probeCommodities = Effect.fn("probe.commodities")(
  function* (isFull: boolean) {
    const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
    const loadedCatalog = yield* loadCatalog
    const verdicts = yield* Effect.forEach(
      ["gov-mars", "gov-mpr"] as const,
      (source) => probeService(loadedCatalog, source, { isFull, today }),
      { concurrency: "unbounded" }
    )
    return verdicts.flat()
  },
  Effect.catchTag("BadLine", ({ message: detail }) =>
    Effect.succeed([makeVerdictFactory("commodities", "catalog")({ feed: "all feeds", verdict: "not_asked", detail })])
  )
)
