/**
 * Reads all feeds of the catalog: fetch into the archive, normalise, stage. Feeds of one service go one after the other,
 * the two services side by side. The first run reads whole histories; later ones look back as far as reports are revised.
 */
import { Clock, Config, DateTime, Effect, Option, Redacted } from "effect"
import { mixtureOf } from "../run/mixture.ts"
import { Origin } from "../run/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { feeds } from "./catalog.ts"
import { catalogRows } from "./catalog-rows.ts"
import { readPrevious } from "./previous.ts"
import type { FeedRead } from "./read-feed.ts"
import { readService } from "./read-service.ts"

/** Blanks around a key come from copying it; an empty one is none. */
const marsKey = Config.option(Config.Redacted("MARS_API_KEY")).pipe(
  Config.map((key) => Option.getOrUndefined(key)),
  Config.map((key) => {
    const text = key === undefined ? "" : Redacted.value(key).trim()
    return text === "" ? undefined : Redacted.make(text)
  })
)

const advice =
  "Nothing of this run was published; the previous generation stays live. Run again later, or correct the lines of a report that has changed in pipelines/commodities/catalog."

export const readCommodities = Effect.fn("commodities.read")(function* (run: RunContext) {
  const progress = yield* Progress
  const { kind } = yield* Origin
  const previous = yield* readPrevious(run)
  const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
  const context = { run, previous, marsKey: yield* marsKey.pipe(Effect.orDie), today }
  yield* progress.start(feeds.length)
  const services = ["gov-mars", "gov-mpr"].map((source) => feeds.filter((feed) => feed.source === source))
  const outcomes = (yield* Effect.forEach(services, (of) => readService(context, of), {
    concurrency: "unbounded"
  })).flat()

  const read = outcomes.flatMap((outcome) => (outcome.kind === "read" ? [outcome] : []))
  const unavailable = outcomes.flatMap((outcome) =>
    outcome.kind === "unavailable"
      ? [{ feed: outcome.feed, kind: "unreachable" as const, reason: outcome.message }]
      : []
  )
  const faults = outcomes.flatMap((outcome) => (outcome.kind === "faulty" ? [outcome.message] : []))
  const mixture = read.length === 0 ? undefined : mixtureOf(previous.origins, kind, "prices")
  if (mixture !== undefined) faults.push(mixture)
  if (faults.length > 0) {
    const away = unavailable.map(({ feed }) => feed).join(", ")
    return yield* new ReadFailed({
      faults: [...faults, ...(away === "" ? [] : [`Could not be fetched: ${away}.`]), advice]
    })
  }
  if (read.length === 0)
    return yield* new NothingRead({
      reasons: unavailable.map(({ feed, reason }) => `${feed}: ${reason}`),
      left_out: unavailable
    })

  const measures = new Map(previous.measures.map(({ measure, metric_name }) => [metric_name, measure]))
  for (const feed of read) for (const [metric, column] of feed.measures) measures.set(metric, column)
  for (const { rows, table } of catalogRows(measures)) yield* run.staging.add(table, rows)

  const total = (count: (feed: FeedRead) => number) => read.reduce((sum, feed) => sum + count(feed), 0)
  return {
    rows_read: total((feed) => feed.rows_read),
    rows_silent: total((feed) => feed.rows_silent),
    rows_rejected: total((feed) => feed.rows_rejected),
    left_out: unavailable
  } satisfies ReadResult
}, Effect.scoped)
