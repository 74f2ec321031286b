/**
 * Reads all feeds of the catalog. Their requests wait in the queues of the two services' hosts, which get one at a time.
 * The first run reads whole histories; later runs read the days that reports may still revise. An unreachable or faulty
 * feed does not stop the others: each gets a try before any gets a second one.
 */
import type { FeedLeftOut } from "@larder/schemas"
import { Clock, DateTime, Effect, Semaphore } from "effect"
import { orderFeeds, readLastRun } from "../run/origins/feed-order.ts"
import { isOriginError, Origin, type OriginError } from "../run/origins/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext, reasonLines } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { thresholds } from "../run/thresholds.ts"
import { loadCatalog } from "./catalog/in-force.ts"
import type { Feed } from "./catalog.ts"
import { readEarlierReports } from "./earlier-runs.ts"
import { listParts } from "./parts.ts"
import { type FeedRead, readFeed } from "./read-feed.ts"
import type { FeedContext } from "./source/fetch-feed.ts"
import { allEmptyExplanation, areAllEmpty, marsKey } from "./source/requests.ts"
import { catalogRows } from "./stage/catalog-rows.ts"
import { stageInactive } from "./stage/inactive.ts"

type Outcome = { readonly feed: string } & (
  | ({ readonly kind: "read" } & FeedRead)
  /** The address if the failure may not be its own. */
  | { readonly kind: "unreachable"; readonly reason: string; readonly url?: string }
  | { readonly kind: "untrusted"; readonly reason: string }
  /** The run that is repeated did not request it either. */
  | { readonly kind: "not requested" }
)

const listMissing = (outcome: Outcome): ReadonlyArray<FeedLeftOut> =>
  outcome.kind === "unreachable" || outcome.kind === "untrusted"
    ? [{ feed: outcome.feed, kind: outcome.kind, reason: outcome.reason }]
    : []

/**
 * A feed that is switched off is not requested. A run that is repeated from the archive reads it, because an earlier run
 * may have: its values stay. The bundled samples have no feed of the operator.
 */
const selectFeeds = (
  feeds: ReadonlyArray<Feed>,
  { isRepeated = false }: RunContext,
  kind: Origin["Service"]["kind"]
) => (isRepeated ? feeds : feeds.filter(({ isOff, isOwn }) => !isOff && !(isOwn && kind === "sample")))

const readOutcome = (context: FeedContext, line: Feed) => {
  const { feed } = line
  const unreachable = (error: OriginError) =>
    Effect.succeed<Outcome>({
      kind: "unreachable",
      feed,
      reason: error.message,
      ...(error._tag === "UpstreamUnavailable" || error._tag === "AccessDenied" ? { url: error.url } : {})
    })
  const untrusted = ({ message: reason }: Error) => Effect.succeed<Outcome>({ kind: "untrusted", feed, reason })
  return readFeed(context, line).pipe(
    Effect.map((read): Outcome => ({ kind: "read", feed, ...read })),
    Effect.catchIf(isOriginError, (error) => {
      const mayBeMissing = context.run.isRepeated && (line.isOff || line.isOwn)
      if (mayBeMissing && error._tag === "NotRecorded") return Effect.succeed<Outcome>({ kind: "not requested", feed })
      return error._tag === "RecordingUnreadable" ? untrusted(error) : unreachable(error)
    }),
    Effect.catchTag(["DriftFound", "PayloadUnreadable"], untrusted)
  )
}

/** If no feed has a row for days that were read before, all feeds count as untrusted. */
const detectIgnoredDays = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Outcome> => {
  const rows = outcomes.flatMap((outcome) => (outcome.kind === "read" ? [outcome.rows_read] : []))
  if (!areAllEmpty(rows)) return outcomes
  const reason = `It has no row of the days that were read before, ${allEmptyExplanation}.`
  return outcomes.map((outcome) =>
    outcome.kind === "read" ? { kind: "untrusted", feed: outcome.feed, reason } : outcome
  )
}

/** So many feeds of a service with the same failure get one reason, which names only their host. */
const minAlike = 3

const groupReasons = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Outcome> => {
  const withHost = outcomes.map((outcome) => {
    if (outcome.kind !== "unreachable" || outcome.url === undefined) return outcome
    return { ...outcome, reason: outcome.reason.replace(outcome.url, `${new URL(outcome.url).origin}/…`) }
  })
  const counts = Map.groupBy(withHost, (outcome) => (outcome.kind === "unreachable" ? outcome.reason : ""))
  return outcomes.map((outcome, index) => {
    const grouped = withHost[index]
    if (grouped?.kind !== "unreachable") return outcome
    return (counts.get(grouped.reason)?.length ?? 0) < minAlike ? outcome : grouped
  })
}

/** Outcomes are in the order of the feeds, those of My Market News first. */
const readFeeds = Effect.fnUntraced(function* (context: FeedContext, feeds: ReadonlyArray<Feed>) {
  const progress = yield* Progress
  const { kind } = yield* Origin
  const isKeyMissing = kind === "live" && context.marsKey === undefined
  const readOne = Effect.fnUntraced(function* (line: Feed) {
    const { feed, source } = line
    const outcome: Outcome =
      isKeyMissing && source === "gov-mars"
        ? { kind: "unreachable", feed, reason: keyRequired }
        : yield* readOutcome(context, line)
    yield* progress.advance({ finished: feed, rows: outcome.kind === "read" ? outcome.rows_read : 0 })
    return { source, outcome }
  })
  const outcomes = yield* Effect.forEach(feeds, readOne, { concurrency: "unbounded" })
  return (["gov-mars", "gov-mpr"] as const).flatMap((service) => {
    const ofService = groupReasons(outcomes.flatMap(({ outcome, source }) => (source === service ? [outcome] : [])))
    // days that the operator chose may have no rows, and so may a recording
    return kind === "live" && context.run.days === undefined ? detectIgnoredDays(ofService) : ofService
  })
})

const keyRequired =
  "It needs a key: set MARS_API_KEY to your key of My Market News, which is free at https://mymarketnews.ams.usda.gov, and run again."

const advice =
  "This run published nothing; the previous generation stays live. Run again later; if a report has changed, correct its lines in pipelines/commodities/catalog."

export const readCommodities = Effect.fn("commodities.read")(function* (run: RunContext) {
  const loadedCatalog = yield* loadCatalog
  const progress = yield* Progress
  const { kind } = yield* Origin
  const feeds = selectFeeds(loadedCatalog.feeds, run, kind)
  const previous = yield* readEarlierReports(run)
  const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
  const decoding = yield* Semaphore.make(1)
  const context = { run, previous, marsKey: yield* marsKey.pipe(Effect.orDie), today, decoding }
  yield* progress.expect(feeds.length)
  const lastRun = yield* readLastRun(run.layout, "commodities")
  const ordered = orderFeeds(
    feeds,
    ({ feed }) => feed,
    lastRun,
    ({ source }) => source
  )
  const ended = yield* readFeeds(context, ordered)
  const outcomes = ended.filter(({ kind }) => kind !== "not requested")
  const read = outcomes.flatMap((outcome) => (outcome.kind === "read" ? [outcome] : []))
  const missing = outcomes.flatMap(listMissing)
  const untrusted = outcomes.filter((outcome) => outcome.kind === "untrusted").length
  const responded = read.length + untrusted
  if (thresholds.untrustedFeeds.isMetBy(untrusted, responded)) {
    const verdict = `${untrusted} of ${responded} feeds that responded cannot be trusted, which is more than a third.`
    return yield* new ReadFailed({ faults: [verdict, ...reasonLines(missing), advice], left_out: missing })
  }
  if (read.length === 0) return yield* new NothingRead({ reasons: reasonLines(missing), left_out: missing })

  const parts = yield* listParts(
    run,
    read.flatMap(({ feed, part }) => (part === undefined ? [] : [{ feed, ...part }]))
  )
  const measures = new Map(previous.measures.map(({ measure, metric_name }) => [metric_name, measure]))
  for (const feed of read) for (const [metric, column] of feed.measures) measures.set(metric, column)
  for (const { rows, table } of catalogRows(loadedCatalog, measures)) yield* run.staging.add(table, rows)
  yield* stageInactive(run, loadedCatalog)

  const total = (count: (feed: FeedRead) => number) => read.reduce((sum, feed) => sum + count(feed), 0)
  return {
    rows_read: total((feed) => feed.rows_read),
    rows_skipped: total((feed) => feed.rows_skipped),
    rows_rejected: total((feed) => feed.rows_rejected),
    feeds: outcomes.length,
    left_out: [...missing, ...parts]
  } satisfies ReadResult
}, Effect.scoped)
