/**
 * Reads all feeds of the catalog: fetch into the archive, normalise, stage. Feeds of one service go one after the other,
 * the two services side by side. The first run reads whole histories; later ones look back as far as reports are revised.
 */
import { Day, daysBefore } from "@larder/schemas/dates.ts"
import { fromLive } from "@larder/warehouse/generation/previous.ts"
import {
  cursorTable,
  metricTable,
  priceVersionTable,
  productTable,
  rawFileTable,
  rejectTable,
  seriesTable,
  unknownFieldTable
} from "@larder/warehouse/tables.ts"
import { Clock, Config, DateTime, Effect, FileSystem, Option, type Redacted, Schema } from "effect"
import { Archive, type RawFile } from "../run/archive.ts"
import { AccessDenied, Origin, type OriginError } from "../run/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { type Feed, feeds, mappingHash, metrics, products, series } from "./catalog.ts"
import { DriftFound } from "./field.ts"
import { type Normalised, normalise, type Window } from "./normalise.ts"
import { asksOf } from "./source.ts"
import { PayloadUnreadable, rowsOf } from "./wire.ts"

const pipeline = "commodities"

/** Values of the newest reports may be dated after the day they are fetched: a Thursday's report ends on Friday. */
const daysAhead = 14

const FeedCursor = Schema.Struct({ feed: Schema.String, read_to: Day, mapping_sha256: Schema.String })
const KnownPayload = Schema.Struct({
  raw_sha256: Schema.String,
  feed: Schema.String,
  mapping_sha256: Schema.String,
  rows_read: Schema.Int,
  rows_rejected: Schema.Int
})
const Measure = Schema.Struct({ metric_name: Schema.String, measure: Schema.String })

/** What the live generation knows of earlier runs. */
interface Previous {
  readonly cursors: ReadonlyArray<typeof FeedCursor.Type>
  readonly payloads: ReadonlyArray<typeof KnownPayload.Type>
  readonly measures: ReadonlyArray<typeof Measure.Type>
}
const nothingYet: Previous = { cursors: [], payloads: [], measures: [] }

const readPrevious = (context: RunContext) =>
  fromLive(context.layout, { schema: "commodity", name: "metric" }, nothingYet, (db) =>
    Effect.all({
      cursors: db.all(
        FeedCursor,
        `select feed, read_to, mapping_sha256 from ingest.cursor where pipeline = '${pipeline}'`
      ),
      payloads: db.all(
        KnownPayload,
        `select raw_sha256, feed, mapping_sha256, rows_read::integer as rows_read, rows_rejected::integer as rows_rejected
           from ingest.raw_file where pipeline = '${pipeline}'`
      ),
      measures: db.all(Measure, "select metric_name, measure from commodity.metric")
    })
  )

/** What a feed gave: its counts, and the columns that its metrics were read from. */
interface FeedRead {
  readonly rows_read: number
  readonly rows_silent: number
  readonly rows_rejected: number
  readonly measures: ReadonlyMap<string, string>
}
type Outcome =
  | ({ readonly kind: "read" } & FeedRead)
  | { readonly kind: "unavailable"; readonly feed: string; readonly message: string; readonly denied: boolean }
  | { readonly kind: "faulty"; readonly message: string }

/** The window to ask for: the one given, or the look-back from where the last run ended; none reads the whole history. */
const windowOf = (feed: Feed, context: RunContext, previous: Previous, live: boolean, today: string) => {
  if (context.days !== undefined) return context.days
  const cursor = previous.cursors.find((known) => known.feed === feed.feed)
  if (!live || cursor === undefined || cursor.mapping_sha256 !== mappingHash(feed)) return undefined
  return { from: daysBefore(cursor.read_to, feed.lookBackDays), to: daysBefore(today, -daysAhead) }
}

const stageFeed = Effect.fnUntraced(function* (
  context: RunContext,
  feed: Feed,
  raw: RawFile,
  mapping_sha256: string,
  read: Normalised
) {
  const { run_id, staging } = context
  const about = { pipeline, feed: feed.feed, run_id }
  yield* staging.add(
    priceVersionTable,
    read.readings.map((reading) => ({ ...reading, value: reading.value_text, run_id, raw_sha256: raw.sha256 }))
  )
  yield* staging.add(
    rejectTable,
    read.rejects.map((reject) => ({ ...about, raw_sha256: raw.sha256, ...reject }))
  )
  yield* staging.add(
    unknownFieldTable,
    read.unknown_fields.map((unknown) => ({ ...about, ...unknown }))
  )
  yield* staging.add(rawFileTable, [
    {
      ...about,
      raw_sha256: raw.sha256,
      url: raw.url,
      fetched_at: raw.fetched_at,
      bytes: raw.bytes,
      content_type: raw.content_type,
      rows_read: read.rows_read,
      rows_rejected: read.rejects.length,
      mapping_sha256
    }
  ])
  const newest = read.readings.reduce((day, { observed_on }) => (observed_on > day ? observed_on : day), "")
  if (context.days === undefined && newest !== "") {
    yield* staging.add(cursorTable, [{ ...about, read_to: newest, mapping_sha256 }])
  }
  if (read.unknown_fields.length > 0) {
    const fields = read.unknown_fields.map(({ field }) => field)
    yield* Effect.logWarning("upstream has fields that no mapping knows", { feed: feed.feed, fields })
  }
})

const fetchFirst = (asks: ReturnType<typeof asksOf>) => {
  const [first, ...others] = asks.map((ask) => Archive.use((archive) => archive.fetch(ask)))
  if (first === undefined) return Effect.die(new Error("a feed of the catalog has no path"))
  const isAbsent = (error: OriginError | { readonly _tag: string }) =>
    error._tag === "NotRecorded" || (error._tag === "RefusedByUpstream" && "status" in error && error.status === 404)
  return others.reduce(
    (fetch, next) => Effect.catchIf(fetch, isAbsent, (error) => Effect.mapError(next, () => error)),
    first
  )
}

const readFeed = Effect.fnUntraced(function* (
  context: RunContext,
  previous: Previous,
  feed: Feed,
  marsKey: Redacted.Redacted | undefined,
  today: string
) {
  const fs = yield* FileSystem.FileSystem
  const origin = yield* Origin
  const asked = windowOf(feed, context, previous, origin.kind === "live", today)
  const raw = yield* fetchFirst(asksOf(feed, asked, marsKey))
  const window: Window | undefined = asked && { ...asked, filteredBy: raw.exact ? "the service" : "us" }
  const mapping = mappingHash(feed)
  const filtered = window?.filteredBy === "us" ? `${mapping}, ${window.from} to ${window.to}` : mapping
  const known = previous.payloads.find(
    (payload) => payload.raw_sha256 === raw.sha256 && payload.feed === feed.feed && payload.mapping_sha256 === filtered
  )
  if (known !== undefined) {
    const { rows_read, rows_rejected } = known
    return { rows_read, rows_rejected, rows_silent: rows_read - rows_rejected, measures: new Map<string, string>() }
  }
  const text = yield* fs.readFileString(raw.path).pipe(Effect.orDie)
  const read = yield* Effect.try({
    try: () => normalise(feed, rowsOf(feed, raw.url, text, raw.content_type), window),
    catch: (cause) => cause
  }).pipe(
    Effect.catch((cause) =>
      cause instanceof DriftFound || cause instanceof PayloadUnreadable ? Effect.fail(cause) : Effect.die(cause)
    )
  )
  yield* stageFeed(context, feed, raw, filtered, read)
  const { measures, rejects, rows_read, rows_silent } = read
  return { rows_read, rows_silent, rows_rejected: rejects.length, measures }
})

/** A feed that is away or faulty does not keep the others from being read, so that one run shows all that is wrong. */
const outcomeOf = <E, R>(
  feed: Feed,
  read: Effect.Effect<FeedRead, E | OriginError | DriftFound | PayloadUnreadable, R>
) =>
  read.pipe(
    Effect.map((read): Outcome => ({ kind: "read", ...read })),
    Effect.catchIf(
      (error): error is DriftFound | PayloadUnreadable =>
        error instanceof DriftFound || error instanceof PayloadUnreadable,
      (error) => Effect.succeed<Outcome>({ kind: "faulty", message: error.message })
    ),
    Effect.catchIf(isOriginError, (error) =>
      Effect.succeed<Outcome>({
        kind: "unavailable",
        feed: feed.feed,
        message: `${feed.feed}: ${error.message}`,
        denied: error instanceof AccessDenied
      })
    )
  )
const originErrors = ["UpstreamUnavailable", "AccessDenied", "RefusedByUpstream", "NotRecorded", "RecordingUnreadable"]
const isOriginError = (error: unknown): error is OriginError =>
  typeof error === "object" && error !== null && "_tag" in error && originErrors.includes(String(error._tag))

/** The feeds of one service. After a refused key the rest is not asked: the answer would be the same. */
const readService = Effect.fnUntraced(function* (
  context: RunContext,
  previous: Previous,
  of: ReadonlyArray<Feed>,
  marsKey: Redacted.Redacted | undefined,
  today: string
) {
  const progress = yield* Progress
  const outcomes: Array<Outcome> = []
  let denied: string | undefined
  for (const feed of of) {
    const outcome: Outcome =
      denied === undefined
        ? yield* outcomeOf(feed, readFeed(context, previous, feed, marsKey, today))
        : { kind: "unavailable", feed: feed.feed, message: denied, denied: false }
    if (outcome.kind === "unavailable" && outcome.denied) denied = outcome.message
    outcomes.push(outcome)
    yield* progress.advance({ feed: feed.feed, rows: outcome.kind === "read" ? outcome.rows_read : 0 })
  }
  return outcomes
})

const stageCatalog = Effect.fnUntraced(function* (context: RunContext, measures: ReadonlyMap<string, string>) {
  yield* context.staging.add(
    productTable,
    products.map(({ attributes, category, details, slug }) => ({
      slug,
      category,
      attributes: JSON.stringify(attributes),
      details: JSON.stringify(details)
    }))
  )
  const feedOf = new Map(feeds.map((feed) => [feed.feed, feed]))
  yield* context.staging.add(
    metricTable,
    metrics.flatMap((metric) => {
      const feed = feedOf.get(metric.feeds[0] ?? "")
      if (feed === undefined)
        throw new Error(`catalog: ${metric.metric_name} names the feed ${metric.feeds[0]}, which is not there`)
      const { freight, market_level, metric_name, product_slug, region, unit } = metric
      const measure = measures.get(metric_name) ?? metric.column.name
      const told = { frequency: feed.frequency, source: feed.source, report: feed.title, feed: feed.feed }
      return [{ metric_name, measure, unit, region, market_level, freight, product_slug, ...told }]
    })
  )
  yield* context.staging.add(
    seriesTable,
    series.map((line, index) => ({ ...line, position: index + 1 }))
  )
})

export const readCommodities = Effect.fn("commodities.read")(function* (context: RunContext) {
  const progress = yield* Progress
  const previous = yield* readPrevious(context)
  const marsKey = Option.getOrUndefined(yield* Config.option(Config.Redacted("MARS_API_KEY")).pipe(Effect.orDie))
  const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
  yield* progress.start(feeds.length)
  const services = ["gov-mars", "gov-mpr"].map((source) => feeds.filter((feed) => feed.source === source))
  const outcomes = (yield* Effect.forEach(services, (of) => readService(context, previous, of, marsKey, today), {
    concurrency: "unbounded"
  })).flat()

  const faults = outcomes.flatMap((outcome) => (outcome.kind === "faulty" ? [outcome.message] : []))
  if (faults.length > 0) return yield* new ReadFailed({ faults })
  const unavailable = outcomes.flatMap((outcome) =>
    outcome.kind === "unavailable" ? [{ feed: outcome.feed, message: outcome.message }] : []
  )
  const read = outcomes.flatMap((outcome) => (outcome.kind === "read" ? [outcome] : []))
  if (read.length === 0) {
    return yield* new NothingRead({ reasons: [...new Set(unavailable.map(({ message }) => message))] })
  }
  const measures = new Map(previous.measures.map(({ measure, metric_name }) => [metric_name, measure]))
  for (const feed of read) for (const [metric, column] of feed.measures) measures.set(metric, column)
  yield* stageCatalog(context, measures)

  const total = (count: (feed: FeedRead) => number) => read.reduce((sum, feed) => sum + count(feed), 0)
  return {
    rows_read: total((feed) => feed.rows_read),
    rows_silent: total((feed) => feed.rows_silent),
    rows_rejected: total((feed) => feed.rows_rejected),
    unavailable
  } satisfies ReadResult
}, Effect.scoped)
