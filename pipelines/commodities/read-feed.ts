/** Reads one feed: fetches it, decodes and normalises its payload unless it is known, and stages it. */
import { addDays } from "@larder/schemas"
import { Effect, FileSystem } from "effect"
import type { FetchedPayload } from "../run/archive/fetch-list.ts"
import { expectErrors } from "../run/files/causes.ts"
import type { DayRange } from "../run/pipeline.ts"
import type { Feed } from "./catalog.ts"
import { decodeText, PayloadUnreadable, parseRows } from "./decode/payload.ts"
import type { KnownPayload } from "./earlier-runs.ts"
import { newestOf } from "./normalise/dates.ts"
import { DriftFound } from "./normalise/drift.ts"
import type { DaysWithValues } from "./normalise/mapping.ts"
import { type Normalised, normalise } from "./normalise/normalise.ts"
import type { FeedPart } from "./parts.ts"
import { maxGapDays } from "./rhythm.ts"
import { type FeedContext, fetchFeed } from "./source/fetch-feed.ts"
import { stageFeed } from "./stage/stage-feed.ts"

export interface FeedRead extends Pick<Normalised, "rows_read" | "rows_skipped" | "measures"> {
  readonly rows_rejected: number
  /** What was read, for the share of its rejects; absent if the payload was known. */
  readonly part?: Omit<FeedPart, "feed">
}

/** A run of some days may have left out rows that another run needs. */
const hasReadDays = ({ window_from, window_to }: KnownPayload, days: DayRange | undefined) =>
  window_from === null || (window_from === days?.from && window_to === days.to)

type FetchedFeed = Effect.Success<ReturnType<typeof fetchFeed>>

/** A payload with another number of rows than it states is read again, so that each run reports it. */
const isComplete = ({ rows_read, rows_stated }: KnownPayload) => rows_stated === null || rows_stated === rows_read

/** Whether a run of these days, or of all, would get the same from the payload as the earlier run. */
export const isReadAlready = (
  payload: KnownPayload,
  { feed, mapping_sha256 }: Pick<Feed, "feed" | "mapping_sha256">,
  { sha256 }: Pick<FetchedPayload, "sha256">,
  days?: DayRange
) =>
  payload.raw_sha256 === sha256 &&
  payload.feed === feed &&
  payload.mapping_sha256 === mapping_sha256 &&
  payload.rows_read > 0 && // an empty response has the same bytes every time
  hasReadDays(payload, days) &&
  isComplete(payload)

const findKnownRead = ({ previous, run }: FeedContext, feed: Feed, raw: FetchedPayload): FeedRead | undefined => {
  const known = previous.payloads.find((payload) => isReadAlready(payload, feed, raw, run.days))
  if (known === undefined) return undefined
  const { rows_read, rows_rejected } = known
  return { rows_read, rows_rejected, rows_skipped: rows_read - rows_rejected, measures: new Map() }
}

const listDaysWithValues = ({ metrics }: Feed, { previous }: FeedContext): DaysWithValues => {
  const names = new Set(metrics.map(({ metric_name }) => metric_name))
  return new Map(
    previous.measures.flatMap(({ days, metric_name }) =>
      names.has(metric_name) ? [[metric_name, new Set(days.split(","))] as const] : []
    )
  )
}

/** The newest known publication of the feed's metrics. */
const findNewestPublication = ({ metrics }: Feed, { previous }: FeedContext) => {
  const names = new Set(metrics.map(({ metric_name }) => metric_name))
  return previous.measures
    .flatMap(({ metric_name, published_at }) => (names.has(metric_name) ? [published_at] : []))
    .sort()
    .at(-1)
}

/**
 * Counts the days for which prices are known and the response has no row. None if the series of the feed have ended: if
 * all of them end long before the newest price of any report.
 */
const countUnansweredDays = (daysWithValues: DaysWithValues, window: DayRange | undefined, newestDay: string) => {
  const known = new Set([...daysWithValues.values()].flatMap((days) => [...days]))
  if (newestOf(known) < addDays(newestDay, -maxGapDays.monthly)) return 0
  return [...known].filter((day) => window === undefined || (day >= window.from && day <= window.to)).length
}

/** A daily report has rows on most days. Others may have none in a window, so that is a warning. */
const judgeEmptyResponse = Effect.fnUntraced(function* (
  feed: Feed,
  url: string,
  { previous }: FeedContext,
  daysWithValues: DaysWithValues,
  window: DayRange | undefined
) {
  const newestDay = newestOf(previous.measures.flatMap(({ days }) => days.split(",")))
  const days = newestDay === "" ? 0 : countUnansweredDays(daysWithValues, window, newestDay)
  if (days === 0) return
  const problem = `has no row, although prices of ${days} of the requested days are known`
  if (feed.frequency === "daily") return yield* new PayloadUnreadable({ url, problem })
  yield* Effect.logWarning(`the response ${problem}`)
})

/** Reads what was fetched. Fails with `DriftFound` or `PayloadUnreadable` if the payload cannot be trusted. */
const readPayload = Effect.fnUntraced(function* (context: FeedContext, feed: Feed, fetched: FetchedFeed) {
  const { raw, isRecorded, window } = fetched
  const fs = yield* FileSystem.FileSystem
  const bytes = yield* fs.readFile(raw.path).pipe(Effect.orDie)
  const daysWithValues = listDaysWithValues(feed, context)
  const { payload, read } = yield* Effect.try({
    try: () => {
      const payload = parseRows(feed, { ...raw, text: decodeText(raw.url, bytes), isRecorded })
      if (payload.rows.length === 0 && !isRecorded && window === undefined) {
        const problem = "has no row, although the whole history was requested"
        throw new PayloadUnreadable({ url: raw.url, problem })
      }
      const options = {
        runDays: context.run.days,
        requestedWindow: raw.exact ? window : undefined,
        daysWithValues,
        newestPublication: findNewestPublication(feed, context),
        fetchedOn: raw.fetched_at.slice(0, 10)
      }
      return { payload, read: normalise(feed, payload, options) }
    },
    catch: expectErrors<DriftFound | PayloadUnreadable>(DriftFound, PayloadUnreadable)
  })
  if (payload.otherType !== undefined) yield* Effect.logWarning(`the payload ${payload.otherType}`, { url: raw.url })

  if (read.rows_read === 0)
    yield* judgeEmptyResponse(feed, raw.url, context, daysWithValues, context.run.days ?? window)

  yield* stageFeed(context, feed, raw, payload, read)
  const faults = payload.remark === undefined ? [] : [`the payload of ${raw.url} ${payload.remark}`]
  const { lost_metrics, measures, rejects, rows_judged, rows_read, rows_skipped } = read
  const part = { faults: [...faults, ...lost_metrics], rejects, rows_judged }
  return { rows_read, rows_skipped, rows_rejected: rejects.length, measures, part } satisfies FeedRead
})

/** Fails with the errors of `fetchFeed` and of `readPayload`. */
export const readFeed = Effect.fnUntraced(
  function* (context: FeedContext, feed: Feed) {
    const fetched = yield* fetchFeed(context, feed)
    const known = findKnownRead(context, feed, fetched.raw)
    return known ?? (yield* context.decoding.withPermit(readPayload(context, feed, fetched)))
  },
  (read, _context, feed) => Effect.annotateLogs(read, { feed: feed.feed })
)
