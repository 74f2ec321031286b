/** Reads one feed: fetches it, decodes and normalises its payload unless it is known, and stages it. */
import { Effect, FileSystem } from "effect"
import type { FetchedPayload } from "../run/archive/fetch-list.ts"
import { expectErrors } from "../run/files/causes.ts"
import type { Feed } from "./catalog.ts"
import { decodeText, PayloadUnreadable, parseRows } from "./decode/payload.ts"
import { DriftFound } from "./normalise/drift.ts"
import type { DaysWithValues } from "./normalise/mapping.ts"
import { type Normalised, normalise } from "./normalise/normalise.ts"
import { type FeedContext, fetchFeed } from "./source/fetch-feed.ts"
import { stageFeed } from "./stage/stage-feed.ts"

export interface FeedRead extends Pick<Normalised, "rows_read" | "rows_silent" | "measures"> {
  readonly rows_rejected: number
  /** Why the feed has only a part of its rows. */
  readonly partial?: string | undefined
}

/** Identifies the mapping of a payload. A run of some days may leave out rows that another run needs. */
const identifyMapping = ({ mapping_sha256 }: Feed, { run: { days } }: FeedContext) =>
  days === undefined ? mapping_sha256 : `${mapping_sha256}, ${days.from} to ${days.to}`

const findKnownRead = (context: FeedContext, feed: Feed, raw: FetchedPayload): FeedRead | undefined => {
  const mappings = [feed.mapping_sha256, identifyMapping(feed, context)]
  const known = context.previous.payloads.find(
    (payload) =>
      payload.raw_sha256 === raw.sha256 && payload.feed === feed.feed && mappings.includes(payload.mapping_sha256)
  )
  if (known === undefined) return undefined
  const { rows_read, rows_rejected } = known
  return { rows_read, rows_rejected, rows_silent: rows_read - rows_rejected, measures: new Map() }
}

const listDaysWithValues = ({ metrics }: Feed, { previous }: FeedContext): DaysWithValues => {
  const names = new Set(metrics.map(({ metric_name }) => metric_name))
  return new Map(
    previous.measures.flatMap(({ days, metric_name }) =>
      names.has(metric_name) ? [[metric_name, new Set(days.split(","))] as const] : []
    )
  )
}

/** Fails with `DriftFound` or `PayloadUnreadable` if the payload cannot be trusted. */
export const readFeed = Effect.fnUntraced(
  function* (context: FeedContext, feed: Feed) {
    const fs = yield* FileSystem.FileSystem
    const { raw, isRecorded, window } = yield* fetchFeed(context, feed)
    const known = findKnownRead(context, feed, raw)
    if (known !== undefined) return known

    const bytes = yield* fs.readFile(raw.path).pipe(Effect.orDie)
    const { read, remark } = yield* Effect.try({
      try: () => {
        const payload = parseRows(feed, { ...raw, text: decodeText(raw.url, bytes), isRecorded })
        if (payload.rows.length === 0 && !isRecorded && window === undefined) {
          const problem = "has no row, although the whole history was requested"
          throw new PayloadUnreadable({ url: raw.url, problem })
        }
        const options = {
          runDays: context.run.days,
          requestedWindow: raw.exact ? window : undefined,
          daysWithValues: listDaysWithValues(feed, context)
        }
        return { read: normalise(feed, payload, options), remark: payload.remark }
      },
      catch: expectErrors<DriftFound | PayloadUnreadable>(DriftFound, PayloadUnreadable)
    })

    const mapping = identifyMapping(feed, context)
    // a partial payload is read again, so that each run reports it
    yield* stageFeed(context, feed, raw, read, remark === undefined ? mapping : `${mapping}, partial`)
    const partial = remark === undefined ? undefined : `The payload of ${raw.url} ${remark}.`
    const { measures, rejects, rows_read, rows_silent } = read
    return { rows_read, rows_silent, rows_rejected: rejects.length, measures, partial } satisfies FeedRead
  },
  (read, _context, feed) => Effect.annotateLogs(read, { feed: feed.feed })
)
