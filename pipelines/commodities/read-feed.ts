/** Reads one feed: fetches it, decodes and normalises its payload unless that is known, and stages it. */
import { Effect, FileSystem } from "effect"
import type { RawFile } from "../run/archive/fetch-list.ts"
import type { Feed } from "./catalog.ts"
import { PayloadUnreadable, parseRows, textFrom } from "./decode/payload.ts"
import { DriftFound } from "./normalise/drift.ts"
import { normalise } from "./normalise/normalise.ts"
import { type FeedContext, fetchFeed } from "./source/fetch-feed.ts"
import { stageFeed } from "./stage/stage-feed.ts"

/** The result of reading a feed: its counts, and the columns that its metrics were read from. */
export interface FeedRead {
  readonly rows_read: number
  readonly rows_silent: number
  readonly rows_rejected: number
  readonly measures: ReadonlyMap<string, string>
  /** Why it has only a part of its rows. */
  readonly partial?: string | undefined
}

/** The mapping with which a payload is read. A run of some days may leave out rows that another run needs. */
const mappingOf = ({ mapping_sha256 }: Feed, { run: { days } }: FeedContext) =>
  days === undefined ? mapping_sha256 : `${mapping_sha256}, ${days.from} to ${days.to}`

/** What an earlier run has read from this payload with this mapping. */
const knownRead = (context: FeedContext, feed: Feed, raw: RawFile): FeedRead | undefined => {
  const mappings = [feed.mapping_sha256, mappingOf(feed, context)]
  const known = context.previous.payloads.find(
    (payload) =>
      payload.raw_sha256 === raw.sha256 && payload.feed === feed.feed && mappings.includes(payload.mapping_sha256)
  )
  if (known === undefined) return undefined
  const { rows_read, rows_rejected } = known
  return { rows_read, rows_rejected, rows_silent: rows_read - rows_rejected, measures: new Map() }
}

/** The feed's metrics that have had values, and on which days. */
const valuedOf = ({ metrics }: Feed, { previous }: FeedContext) => {
  const own = new Set(metrics.map(({ metric_name }) => metric_name))
  return new Map(
    previous.measures.flatMap(({ days, metric_name }) =>
      own.has(metric_name) ? [[metric_name, new Set(days.split(","))] as const] : []
    )
  )
}

/** Fails with `DriftFound` or `PayloadUnreadable` if the payload cannot be trusted. */
export const readFeed = Effect.fnUntraced(
  function* (context: FeedContext, feed: Feed) {
    const fs = yield* FileSystem.FileSystem
    const { raw, recorded, window } = yield* fetchFeed(context, feed)
    const known = knownRead(context, feed, raw)
    if (known !== undefined) return known

    const bytes = yield* fs.readFile(raw.path).pipe(Effect.orDie)
    const { read, remark } = yield* Effect.try({
      try: () => {
        const payload = parseRows(feed, { ...raw, text: textFrom(raw.url, bytes), recorded })
        if (payload.rows.length === 0 && !recorded && window === undefined) {
          throw new PayloadUnreadable({
            url: raw.url,
            problem: "holds no row, although the whole history was requested"
          })
        }
        const asked = raw.exact ? window : undefined
        const limits = { days: context.run.days, asked, valued: valuedOf(feed, context) }
        return { read: normalise(feed, payload, limits), remark: payload.remark }
      },
      catch: (cause) => cause
    }).pipe(
      Effect.catch((cause) =>
        cause instanceof DriftFound || cause instanceof PayloadUnreadable ? Effect.fail(cause) : Effect.die(cause)
      )
    )

    const mapping = mappingOf(feed, context)
    // a partial payload is read again, so that each run reports it
    yield* stageFeed(context, feed, raw, read, remark === undefined ? mapping : `${mapping}, partial`)
    const partial = remark === undefined ? undefined : `The payload of ${raw.url} ${remark}.`
    const { measures, rejects, rows_read, rows_silent } = read
    return { rows_read, rows_silent, rows_rejected: rejects.length, measures, partial } satisfies FeedRead
  },
  (read, _context, feed) => Effect.annotateLogs(read, { feed: feed.feed })
)
