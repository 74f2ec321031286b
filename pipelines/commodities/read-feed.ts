/** Reads one feed: fetches it into the archive, normalises it unless it is known, and stages it. */
import { daysBefore } from "@larder/schemas/dates.ts"
import { cursorTable, rawFileTable, rejectTable, unknownFieldTable } from "@larder/warehouse/tables/ingest-tables.ts"
import { priceVersionTable } from "@larder/warehouse/tables/tables.ts"
import { Effect, FileSystem, type Redacted } from "effect"
import { Archive } from "../run/archive/archive.ts"
import type { RawFile } from "../run/archive/raw-file.ts"
import { type Ask, NotRecorded, Origin, RefusedByUpstream } from "../run/origins/origin.ts"
import type { RunContext } from "../run/pipeline.ts"
import type { Feed } from "./catalog.ts"
import { DriftFound } from "./decode/field.ts"
import { PayloadUnreadable, rowsOf, textFrom } from "./decode/payload.ts"
import { type Normalised, normalise } from "./normalise/normalise.ts"
import type { Previous } from "./previous.ts"
import { asksOf, windowAround } from "./source/requests.ts"

/** Values of the newest reports may be dated after the day of the request: a Thursday report ends on Friday. */
const daysAhead = 14

/** What all feeds of a run share. */
export interface FeedContext {
  readonly run: RunContext
  readonly previous: Previous
  readonly marsKey: Redacted.Redacted | undefined
  readonly today: string
}

/** The result of reading a feed: its counts, and the columns that its metrics were read from. */
export interface FeedRead {
  readonly rows_read: number
  readonly rows_silent: number
  readonly rows_rejected: number
  readonly measures: ReadonlyMap<string, string>
  /** Why it has only a part of its rows. */
  readonly partial?: string | undefined
}

/**
 * The window of days to request: around the days given, or back from the end of the last live run. Undefined means the
 * whole history: on the first run, after a change of the mapping, and if the origin is not live. A reading of a future
 * day, such as Class I of the next month, does not move the window past today.
 */
const windowOf = (feed: Feed, { run, previous, today }: FeedContext, isLive: boolean, mapping: string) => {
  if (run.days !== undefined) return windowAround(run.days, feed)
  const cursor = previous.cursors.find((known) => known.feed === feed.feed)
  if (!isLive || cursor?.mapping_sha256 !== mapping) return undefined
  const read_to = cursor.read_to < today ? cursor.read_to : today
  return { from: daysBefore(read_to, feed.lookBackDays), to: daysBefore(today, -daysAhead) }
}

/** The address has no payload: a recording is missing, or the service answered 404. */
const isAbsent = (error: unknown): error is NotRecorded | RefusedByUpstream =>
  error instanceof NotRecorded || (error instanceof RefusedByUpstream && error.status === 404)

/** Fetches the first address that exists; or else fails with the first error, which names all recordings looked for. */
const fetchFirst = Effect.fnUntraced(function* (asks: ReadonlyArray<Ask>) {
  const archive = yield* Archive
  const absent: Array<NotRecorded | RefusedByUpstream> = []
  for (const ask of asks) {
    const fetched = yield* archive.fetch(ask).pipe(
      Effect.catchIf(isAbsent, (error) => {
        absent.push(error)
        return Effect.succeed(undefined)
      })
    )
    if (fetched !== undefined) return fetched
  }
  const [first] = absent
  if (first === undefined) return yield* Effect.die(new Error("a feed of the catalog has no path"))
  if (!(first instanceof NotRecorded)) return yield* first
  const looked_for = absent.flatMap((error) => (error instanceof NotRecorded ? error.looked_for : []))
  return yield* new NotRecorded({ ...first, looked_for })
})

const stage = Effect.fnUntraced(function* (
  { run, previous }: FeedContext,
  feed: Feed,
  raw: RawFile,
  read: Normalised,
  mapping: { readonly feed: string; readonly payload: string }
) {
  const { run_id, staging } = run
  const { bytes, content_type, fetched_at, sha256: raw_sha256, url } = raw
  const about = { pipeline: "commodities", feed: feed.feed, run_id }
  const ofPayload = { run_id, raw_sha256, fetched_at }
  yield* staging.add(
    priceVersionTable,
    read.readings.map((reading) => ({ ...reading, value: reading.value_text, ...ofPayload }))
  )
  yield* staging.add(
    rejectTable,
    read.rejects.map((reject) => ({ ...about, raw_sha256, ...reject }))
  )
  yield* staging.add(
    unknownFieldTable,
    read.unknown_fields.map((unknown) => ({ ...about, ...unknown }))
  )
  const counts = { rows_read: read.rows_read, rows_rejected: read.rejects.length }
  yield* staging.add(rawFileTable, [
    { ...about, raw_sha256, url, fetched_at, bytes, content_type, ...counts, mapping_sha256: mapping.payload }
  ])
  const newest = read.readings.reduce((day, { observed_on }) => (observed_on > day ? observed_on : day), "")
  if (run.days === undefined && newest !== "") {
    yield* staging.add(cursorTable, [{ ...about, read_to: newest, mapping_sha256: mapping.feed }])
  }

  const wasKnown = (field: string) =>
    previous.unknownFields.some((known) => known.feed === feed.feed && known.field === field)
  const fields = read.unknown_fields.flatMap(({ field }) => (wasKnown(field) ? [] : [field]))
  if (fields.length > 0)
    yield* Effect.logWarning("upstream has fields that no mapping knows").pipe(Effect.annotateLogs({ fields }))
  if (read.absent.length > 0)
    yield* Effect.logWarning("no row of these metrics").pipe(Effect.annotateLogs({ metrics: read.absent }))
  const [reject] = read.rejects
  if (reject !== undefined) {
    yield* Effect.logWarning("rows rejected").pipe(
      Effect.annotateLogs({ rows: read.rejects.length, first: reject.reason })
    )
  }
})

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
    const { kind } = yield* Origin
    const { days } = context.run
    const mapping = feed.mapping_sha256
    const window = windowOf(feed, context, kind === "live", mapping)
    const raw = yield* fetchFirst(asksOf(feed, window, context.marsKey))
    const withDays = days === undefined ? mapping : `${mapping}, ${days.from} to ${days.to}`
    const known = context.previous.payloads.find(
      ({ feed: name, mapping_sha256, raw_sha256 }) =>
        raw_sha256 === raw.sha256 && name === feed.feed && (mapping_sha256 === mapping || mapping_sha256 === withDays)
    )
    if (known !== undefined) {
      const { rows_read, rows_rejected } = known
      return {
        rows_read,
        rows_rejected,
        rows_silent: rows_read - rows_rejected,
        measures: new Map()
      } satisfies FeedRead
    }
    const bytes = yield* fs.readFile(raw.path).pipe(Effect.orDie)
    const { read, remark } = yield* Effect.try({
      try: () => {
        const { remark, rows } = rowsOf(feed, { ...raw, text: textFrom(raw.url, bytes), recorded: kind !== "live" })
        if (rows.length === 0 && kind === "live" && window === undefined) {
          throw new PayloadUnreadable({ url: raw.url, problem: "holds no row, where the whole history was asked for" })
        }
        return {
          read: normalise(feed, rows, { days, asked: raw.exact ? window : undefined, valued: valuedOf(feed, context) }),
          remark
        }
      },
      catch: (cause) => cause
    }).pipe(
      Effect.catch((cause) =>
        cause instanceof DriftFound || cause instanceof PayloadUnreadable ? Effect.fail(cause) : Effect.die(cause)
      )
    )
    // a partial payload is read again, so that each run reports it
    const withRemark = remark === undefined ? withDays : `${withDays}, partial`
    yield* stage(context, feed, raw, read, { feed: mapping, payload: withRemark })
    const { measures, rejects, rows_read, rows_silent } = read
    const partial = remark === undefined ? undefined : `The payload of ${raw.url} ${remark}.`
    return { rows_read, rows_silent, rows_rejected: rejects.length, measures, partial } satisfies FeedRead
  },
  (read, _context, feed) => Effect.annotateLogs(read, { feed: feed.feed })
)
