/**
 * Reads all feeds of the catalog: fetches them into the archive, normalises and stages them. Feeds of one service are
 * read one after the other, the two services in parallel. The first run reads whole histories; later ones go back as
 * far as reports are revised.
 */

import { Clock, DateTime, Effect } from "effect"
import { reading } from "../run/files/hand-edited.ts"
import { Origin } from "../run/origins/origin.ts"
import { NothingRead, ReadFailed, type ReadResult, type RunContext, reasonLines } from "../run/pipeline.ts"
import { Progress } from "../run/progress.ts"
import { catalog, type Feed } from "./catalog.ts"
import { readPrevious } from "./previous.ts"
import type { FeedRead } from "./read-feed.ts"
import { leftOutOf, readService } from "./read-service.ts"
import { marsKey } from "./source/mars-key.ts"
import { catalogRows } from "./stage/catalog-rows.ts"

const needsKey =
  "It needs a key: set MARS_API_KEY to your key of My Market News, which is free at https://mymarketnews.ams.usda.gov, and run again."

const advice =
  "Nothing of this run was published; the previous generation stays live. Run again later, or correct the lines of a report that has changed in pipelines/commodities/catalog."

/** At most one of this many feeds that answered may be untrusted: with more, something is wrong with all of them. */
const trustedPerUntrusted = 3

export const readCommodities = Effect.fn("commodities.read")(function* (run: RunContext) {
  const lines = yield* reading(catalog)
  const { feeds } = lines
  const progress = yield* Progress
  const { kind } = yield* Origin
  const previous = yield* readPrevious(run)
  const today = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(yield* Clock.currentTimeMillis))
  const context = { run, previous, marsKey: yield* marsKey.pipe(Effect.orDie), today }
  yield* progress.expect(feeds.length)
  const readFrom = (service: Feed["source"], unasked?: string) =>
    readService(
      context,
      feeds.filter(({ source }) => source === service),
      unasked
    )
  const lacksKey = kind === "live" && context.marsKey === undefined
  const outcomes = (yield* Effect.all([readFrom("gov-mars", lacksKey ? needsKey : undefined), readFrom("gov-mpr")], {
    concurrency: "unbounded"
  })).flat()

  const read = outcomes.flatMap((outcome) => (outcome.kind === "read" ? [outcome] : []))
  const left_out = outcomes.flatMap(leftOutOf)
  const untrusted = outcomes.filter((outcome) => outcome.kind === "untrusted").length
  const answered = read.length + untrusted
  if (untrusted * trustedPerUntrusted > answered) {
    const verdict = `${untrusted} of ${answered} feeds that answered cannot be trusted, which is more than a third.`
    return yield* new ReadFailed({ faults: [verdict, ...reasonLines(left_out), advice], left_out })
  }
  if (read.length === 0) return yield* new NothingRead({ reasons: reasonLines(left_out), left_out })

  const measures = new Map(previous.measures.map(({ measure, metric_name }) => [metric_name, measure]))
  for (const feed of read) for (const [metric, column] of feed.measures) measures.set(metric, column)
  for (const { rows, table } of catalogRows(lines, measures)) yield* run.staging.add(table, rows)

  const total = (count: (feed: FeedRead) => number) => read.reduce((sum, feed) => sum + count(feed), 0)
  return {
    rows_read: total((feed) => feed.rows_read),
    rows_silent: total((feed) => feed.rows_silent),
    rows_rejected: total((feed) => feed.rows_rejected),
    feeds: outcomes.length,
    left_out
  } satisfies ReadResult
}, Effect.scoped)
