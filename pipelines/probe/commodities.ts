/**
 * Probes the reports of both services: reads a window of a few weeks of each report and checks it against the catalog,
 * with the code of a run. Feeds of one service are read one after the other; the rest is skipped once all would fail
 * for the same reason.
 */
import { daysBefore } from "@larder/schemas"
import { Clock, DateTime, Effect, FileSystem, type Redacted, Result } from "effect"
import { type Catalog, catalog, type Feed } from "../commodities/catalog.ts"
import { PayloadUnreadable, parseRows } from "../commodities/decode/payload.ts"
import { DriftFound } from "../commodities/normalise/drift.ts"
import { normalise } from "../commodities/normalise/normalise.ts"
import { daysAhead, fetchFirst } from "../commodities/source/fetch-feed.ts"
import {
  allEmptyExplanation,
  areAllEmpty,
  feedRequests,
  findServiceFault,
  marsKey
} from "../commodities/source/requests.ts"
import type { FetchedPayload } from "../run/archive/fetch-list.ts"
import { readHandEdited } from "../run/files/hand-edited.ts"
import { NotRecorded, Origin, type OriginError, RefusedByUpstream } from "../run/origins/origin.ts"
import type { DayRange } from "../run/pipeline.ts"
import {
  describeExcessRejects,
  explainUnreachable,
  failOnLocalFault,
  makeVerdictFactory,
  type ProbeFinding
} from "./verdict.ts"

/** Number of days in which a report of this frequency appears at least once, even if one is late. */
const spanDays: Readonly<Record<Feed["frequency"], number>> = {
  daily: 14,
  weekly: 28,
  biweekly: 42,
  monthly: 93,
  annual: 400
}

/** A week is final after four more reports have restated it. */
const finalAfterDays = 35

/** `window_reach_days` also covers year-to-date reports, which begin on 1 January. */
const selectWindow = ({ isFinal, frequency, window_reach_days }: Feed, today: string): DayRange => ({
  from: daysBefore(today, spanDays[frequency] + window_reach_days + (isFinal ? finalAfterDays : 0)),
  to: daysBefore(today, -daysAhead)
})

const services = {
  "gov-mars": "My Market News (marsapi.ams.usda.gov)",
  "gov-mpr": "Datamart (mpr.datamart.ams.usda.gov)"
}

const formatNames = (names: ReadonlyArray<string>) =>
  names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ")

/** A smaller difference does not matter, because date windows are in whole days. */
const clockToleranceMinutes = 5

const describeClock = ({ fetched_at, told }: FetchedPayload) => {
  const minutes = Math.round((Date.parse(fetched_at) - Date.parse(told?.date ?? "")) / 60_000)
  if (Number.isNaN(minutes) || Math.abs(minutes) <= clockToleranceMinutes) return []
  return [`the clock of this machine is ${Math.abs(minutes)} minutes ${minutes > 0 ? "ahead" : "behind"}: correct it`]
}

const describeRedirect = ({ final_url, url }: FetchedPayload) =>
  new URL(final_url).host === new URL(url).host ? [] : [`it redirects to ${final_url}: the source has moved`]

const checkPayload = (
  feed: Feed,
  raw: FetchedPayload,
  text: string,
  window: DayRange | undefined,
  isRecorded: boolean
): ProbeFinding => {
  const payload = parseRows(feed, { ...raw, text, isRecorded })
  const { remark, rows } = payload
  const read = normalise(feed, payload, { requestedWindow: raw.exact ? window : undefined })
  const unknown = read.unknown_fields.map(({ field }) => field)
  const notes = [
    ...describeRedirect(raw),
    ...(isRecorded ? [] : describeClock(raw)),
    ...(remark === undefined ? [] : [`it ${remark}`]),
    ...(read.metrics_without_rows.length === 0 || rows.length === 0
      ? []
      : [`no row of ${formatNames(read.metrics_without_rows)}`]),
    ...(unknown.length === 0 ? [] : [`unmapped columns: ${formatNames(unknown)}`])
  ]
  const newest_day = read.readings.reduce((day, { observed_on }) => (observed_on > day ? observed_on : day), "")
  const about = { feed: feed.feed, notes, rows: rows.length, newest_day: newest_day === "" ? null : newest_day }
  const rejected = describeExcessRejects(read.rejects, rows.length, "rows")
  if (rejected !== undefined) return { ...about, verdict: "differs", detail: rejected }
  if (rows.length === 0) {
    const days = window === undefined ? "" : ` of ${window.from} to ${window.to}`
    return { ...about, verdict: "ok", detail: `${feed.title} has no row${days}` }
  }
  const newest = newest_day === "" ? "none states a price" : `newest ${newest_day}`
  return { ...about, verdict: "ok", detail: `${feed.title}, ${rows.length} rows, ${newest}` }
}

type ProbedFeed = ProbeFinding & { readonly error?: OriginError }

/** Drift and unreadable payloads become findings. Any other exception is a bug. */
const tryPayload = (feed: Feed, ...rest: [FetchedPayload, string, DayRange | undefined, boolean]): ProbedFeed => {
  try {
    return checkPayload(feed, ...rest)
  } catch (cause) {
    if (!(cause instanceof DriftFound || cause instanceof PayloadUnreadable)) throw cause
    // without the address, so that feeds with the same problem get the same text
    const problem = cause instanceof PayloadUnreadable ? `the payload ${cause.problem}` : cause.message
    return { feed: feed.feed, verdict: "differs", detail: problem.replace(feed.feed, "").replace(/^[:\s]+/, "") }
  }
}

const probeFeed = Effect.fnUntraced(function* (feed: Feed, today: string, key: Redacted.Redacted | undefined) {
  const fs = yield* FileSystem.FileSystem
  const { kind } = yield* Origin
  const window = kind === "live" ? selectWindow(feed, today) : undefined
  const requests = feedRequests(feed, window, key).map((request) => ({ ...request, extraValues: ["date"] }))
  const fetched = yield* Effect.result(fetchFirst(requests))
  if (Result.isSuccess(fetched)) {
    const text = yield* Effect.orDie(fs.readFileString(fetched.success.path)) // the archive has just written it
    return tryPayload(feed, fetched.success, text, window, kind !== "live")
  }
  const error = yield* failOnLocalFault(fetched.failure)
  const unread: ProbedFeed =
    error instanceof NotRecorded
      ? { feed: feed.feed, verdict: "not_asked", detail: "it is not recorded" }
      : { feed: feed.feed, verdict: "unreachable", detail: explainUnreachable(error), error }
  return unread
})

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

const probeService = Effect.fnUntraced(function* ({ feeds }: Catalog, source: Feed["source"], today: string) {
  const { kind } = yield* Origin
  const key = yield* marsKey
  const serviceFeeds = feeds.filter((feed) => feed.source === source)
  const probed: Array<ProbedFeed> = []
  let stopReason = source === "gov-mars" && key === undefined && kind === "live" ? missingKeyAdvice : undefined
  for (const feed of serviceFeeds) {
    if (stopReason !== undefined) break
    probed.push(yield* probeFeed(feed, today, key))
    stopReason = findServiceFault(probed)
  }
  const skipped = serviceFeeds
    .slice(probed.length)
    .map(({ feed }): ProbeFinding => ({ feed, verdict: "not_asked", detail: stopReason ?? "" }))
  return [...detectIgnoredDays(detectMove(probed)), ...skipped].map(makeVerdictFactory("commodities", services[source]))
})

export const probeCommodities = Effect.fn("probe.commodities")(
  function* () {
    const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
    const loadedCatalog = yield* readHandEdited(catalog)
    const verdicts = yield* Effect.forEach(
      ["gov-mars", "gov-mpr"] as const,
      (source) => probeService(loadedCatalog, source, today),
      { concurrency: "unbounded" }
    )
    return verdicts.flat()
  },
  Effect.catchTag("BadLine", ({ message: detail }) =>
    Effect.succeed([makeVerdictFactory("commodities", "catalog")({ feed: "all feeds", verdict: "not_asked", detail })])
  )
)
