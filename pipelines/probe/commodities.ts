/**
 * Probes the reports of both services. It reads a window of a few weeks of each report and checks it against the
 * catalog, with the code of a run. Feeds of one service are read one after the other. The remaining feeds are skipped
 * if their answer would be the same.
 */
import { daysBefore } from "@larder/schemas"
import { Clock, DateTime, Effect, FileSystem, type Redacted, Result } from "effect"
import { type Catalog, catalog, type Feed } from "../commodities/catalog.ts"
import { PayloadUnreadable, parseRows } from "../commodities/decode/payload.ts"
import { DriftFound } from "../commodities/normalise/drift.ts"
import { normalise } from "../commodities/normalise/normalise.ts"
import { daysAhead, fetchFirst } from "../commodities/source/fetch-feed.ts"
import { aboutNoDays, feedRequests, knowsNoDays, marsKey } from "../commodities/source/requests.ts"
import type { RawFile } from "../run/archive/fetch-list.ts"
import { reading } from "../run/files/hand-edited.ts"
import {
  AccessDenied,
  NotRecorded,
  Origin,
  type OriginError,
  RefusedByUpstream,
  type SourceRequest,
  UpstreamUnavailable
} from "../run/origins/origin.ts"
import type { DayRange } from "../run/pipeline.ts"
import { type FeedVerdict, orFatal, type ProbeFinding, tooManyRejects, verdictsOf, whyAway } from "./verdict.ts"

/** Number of days in which a report of this frequency appears at least once, even if one is late. */
const spans: Readonly<Record<Feed["frequency"], number>> = {
  daily: 14,
  weekly: 28,
  biweekly: 42,
  monthly: 93,
  annual: 400
}

/** A week is final after four more reports have restated it. */
const untilFinal = 35

/** `windowReachDays` also covers year-to-date reports, which begin on 1 January. */
const windowOf = ({ final, frequency, windowReachDays }: Feed, today: string): DayRange => ({
  from: daysBefore(today, spans[frequency] + windowReachDays + (final ? untilFinal : 0)),
  to: daysBefore(today, -daysAhead)
})

const services = {
  "gov-mars": "My Market News (marsapi.ams.usda.gov)",
  "gov-mpr": "Datamart (mpr.datamart.ams.usda.gov)"
}

const few = (names: ReadonlyArray<string>) =>
  names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ")

/** Tolerated error of this machine's clock, in minutes: date windows are in whole days. */
const clockTolerance = 5

const clockNote = ({ fetched_at, told }: RawFile) => {
  const minutes = Math.round((Date.parse(fetched_at) - Date.parse(told?.date ?? "")) / 60_000)
  if (Number.isNaN(minutes) || Math.abs(minutes) <= clockTolerance) return []
  return [`the clock of this machine is ${Math.abs(minutes)} minutes ${minutes > 0 ? "ahead" : "behind"}: correct it`]
}

const movedNote = ({ final_url, url }: RawFile) =>
  new URL(final_url).host === new URL(url).host ? [] : [`it redirects to ${final_url}: the source has moved`]

const judge = (
  feed: Feed,
  raw: RawFile,
  text: string,
  window: DayRange | undefined,
  recorded: boolean
): ProbeFinding => {
  const payload = parseRows(feed, { ...raw, text, recorded })
  const { remark, rows } = payload
  const read = normalise(feed, payload, { asked: raw.exact ? window : undefined })
  const notes = [
    ...movedNote(raw),
    ...(recorded ? [] : clockNote(raw)),
    ...(remark === undefined ? [] : [`it ${remark}`]),
    ...(read.absent.length === 0 || rows.length === 0 ? [] : [`no row of ${few(read.absent)}`]),
    ...(read.unknown_fields.length === 0
      ? []
      : [`columns that no mapping knows: ${few(read.unknown_fields.map(({ field }) => field))}`])
  ]
  const newest_day = read.readings.reduce((day, { observed_on }) => (observed_on > day ? observed_on : day), "")
  const found = { feed: feed.feed, notes, rows: rows.length, newest_day: newest_day === "" ? null : newest_day }
  const rejected = tooManyRejects(read.rejects, rows.length, "rows")
  if (rejected !== undefined) return { ...found, verdict: "differs", detail: rejected }
  if (rows.length === 0) {
    const days = window === undefined ? "" : ` of ${window.from} to ${window.to}`
    return { ...found, verdict: "ok", detail: `${feed.title} has no row${days}` }
  }
  const newest = newest_day === "" ? "none states a price" : `newest ${newest_day}`
  return { ...found, verdict: "ok", detail: `${feed.title}, ${rows.length} rows, ${newest}` }
}

interface Asked {
  readonly found: ProbeFinding
  readonly error?: OriginError
}

/** Reading finds what is wrong with a payload. Any other exception is a bug. */
const judged = (feed: Feed, ...rest: [RawFile, string, DayRange | undefined, boolean]): ProbeFinding => {
  try {
    return judge(feed, ...rest)
  } catch (cause) {
    if (!(cause instanceof DriftFound || cause instanceof PayloadUnreadable)) throw cause
    // without the address, so that feeds with the same problem get the same text
    const said = cause instanceof PayloadUnreadable ? `the payload ${cause.problem}` : cause.message
    const detail = said.replace(feed.feed, "").replace(/^[:\s]+/, "")
    return { feed: feed.feed, verdict: "differs", detail }
  }
}

const probeFeed = Effect.fnUntraced(function* (feed: Feed, today: string, key: Redacted.Redacted | undefined) {
  const fs = yield* FileSystem.FileSystem
  const { kind } = yield* Origin
  const window = kind === "live" ? windowOf(feed, today) : undefined
  const asks = feedRequests(feed, window, key).map((ask): SourceRequest => ({ ...ask, wants: ["date"] }))
  const fetched = yield* Effect.result(fetchFirst(asks))
  if (Result.isFailure(fetched)) {
    const error = yield* orFatal(fetched.failure)
    const found = { feed: feed.feed, verdict: "unreachable", detail: whyAway(error) } as const
    if (error instanceof NotRecorded) {
      return { found: { ...found, verdict: "not_asked", detail: "nothing is recorded of it" } } satisfies Asked as Asked
    }
    return { found, error } satisfies Asked as Asked
  }
  const text = yield* Effect.orDie(fs.readFileString(fetched.success.path)) // the archive has just written it
  return { found: judged(feed, fetched.success, text, window, kind !== "live") } satisfies Asked as Asked
})

/** A service is down if it did not answer for this many feeds in a row. */
const patience = 2

/** Why the remaining feeds of a service need not be requested. */
const hopeless = (asked: ReadonlyArray<Asked>): string | undefined => {
  const last = asked.at(-1)
  if (last?.error instanceof AccessDenied) return `the service denied ${last.found.feed}`
  const away = asked.slice(asked.findLastIndex(({ error }) => !(error instanceof UpstreamUnavailable)) + 1)
  const isForGood = last?.error instanceof UpstreamUnavailable && !last.error.may_pass
  return isForGood || away.length >= patience ? `the service did not answer for ${last?.found.feed}` : undefined
}

const isGone = ({ error }: Asked) => error instanceof RefusedByUpstream && [404, 410].includes(error.status)

/** A single report may end. If no report exists any more, the whole service has moved. */
const orMoved = (asked: ReadonlyArray<Asked>): ReadonlyArray<ProbeFinding> => {
  if (asked.length < 3 || !asked.every(isGone)) return asked.map(({ found }) => found)
  const detail =
    "no report of this service is at its address anymore (HTTP 404 or 410): the API has moved; install a newer version of Larder, or report it with --bundle"
  return asked.map(({ found }) => ({ ...found, detail }))
}

/** Every feed of a service is asked for days that have rows, so feeds that are all empty differ. */
const orNoDays = (found: ReadonlyArray<ProbeFinding>): ReadonlyArray<ProbeFinding> => {
  if (!knowsNoDays(found.flatMap(({ rows, verdict }) => (verdict === "ok" ? [rows ?? 0] : [])))) return found
  return found.map((one) =>
    one.verdict === "ok" ? { ...one, verdict: "differs", detail: `${one.detail}, ${aboutNoDays}` } : one
  )
}

const noKey =
  "MARS_API_KEY is not set: get a free key at https://mymarketnews.ams.usda.gov, set it, and run the probe again"

const probeService = Effect.fnUntraced(function* ({ feeds }: Catalog, source: Feed["source"], today: string) {
  const { kind } = yield* Origin
  const key = yield* marsKey
  const own = feeds.filter((feed) => feed.source === source)
  const verdict = verdictsOf("commodities", services[source])
  if (source === "gov-mars" && key === undefined && kind === "live") {
    return own.map(({ feed }) => verdict({ feed, verdict: "not_asked", detail: noKey }))
  }
  const asked: Array<Asked> = []
  let stop: string | undefined
  const rest: Array<ProbeFinding> = []
  for (const feed of own) {
    if (stop !== undefined) {
      rest.push({ feed: feed.feed, verdict: "not_asked", detail: stop })
      continue
    }
    asked.push(yield* probeFeed(feed, today, key))
    stop = hopeless(asked)
  }
  return [...orNoDays(orMoved(asked)), ...rest].map(verdict)
})

export const probeCommodities = Effect.fn("probe.commodities")(
  function* () {
    const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
    const lines = yield* reading(catalog)
    const found: ReadonlyArray<ReadonlyArray<FeedVerdict>> = yield* Effect.forEach(
      ["gov-mars", "gov-mpr"] as const,
      (source) => probeService(lines, source, today),
      { concurrency: "unbounded" }
    )
    return found.flat()
  },
  Effect.catchTag("BadLine", ({ message }) =>
    Effect.succeed([verdictsOf("commodities", "catalog")({ feed: "all feeds", verdict: "not_asked", detail: message })])
  )
)
