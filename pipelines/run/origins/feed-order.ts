/**
 * The order in which a run requests the feeds of a source. Feeds that failed last time come last, so that they delay no
 * other feed. Feeds for which the last run had no time come first, so that a short `--max-time` reads all of them in turn.
 */
import { type Layout, readLiveLeftOut } from "@larder/warehouse"
import { Effect } from "effect"
import { notRequested } from "./origin.ts"

export type LastRun = ReadonlyMap<string, "failed" | "not requested">

/** Feeds that the last run of a pipeline left out as a whole. Empty if that cannot be read: only the order depends on it. */
export const readLastRun = (layout: Layout, pipeline: string) =>
  readLiveLeftOut(layout).pipe(
    Effect.catch((error) =>
      Effect.as(Effect.logWarning(`feeds that failed last time are requested like others: ${error.message}`), [])
    ),
    Effect.map((leftOut): LastRun => {
      const ofPipeline = leftOut.filter((left) => left.pipeline === pipeline && left.kind !== "partial")
      return new Map(
        ofPipeline.map(({ feed, reason }) => [feed, reason.startsWith(notRequested) ? "not requested" : "failed"])
      )
    })
  )

/** Sorts stably. */
export const orderFeeds = <A>(feeds: ReadonlyArray<A>, nameOf: (feed: A) => string, lastRun: LastRun) => {
  const places = { "not requested": 0, read: 1, failed: 2 }
  const placeOf = (feed: A) => places[lastRun.get(nameOf(feed)) ?? "read"]
  return feeds.toSorted((a, b) => placeOf(a) - placeOf(b))
}
