/**
 * The order in which a run requests the feeds of a source. Feeds that failed last time come last, so that they delay no
 * other feed. Feeds for which the last run had no time come first, so that a short `--max-time` reads all of them in turn.
 * Services take turns, because two of them may have the same host, such as a mirror.
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
    // the text of the reason, because a kind of its own would be a new value in tables, views and the API for the order only
    Effect.map((leftOut): LastRun => {
      const ofPipeline = leftOut.filter((left) => left.pipeline === pipeline && left.kind !== "partial")
      return new Map(
        ofPipeline.map(({ feed, reason }) => [feed, reason.startsWith(notRequested) ? "not requested" : "failed"])
      )
    })
  )

/** Apart from that, feeds keep their order. Without `serviceOf`, no feed takes turns with another. */
export const orderFeeds = <A>(
  feeds: ReadonlyArray<A>,
  nameOf: (feed: A) => string,
  lastRun: LastRun,
  serviceOf: (feed: A) => string = nameOf
) => {
  const places = { "not requested": 0, read: 1, failed: 2 }
  const turns = new Map<string, number>()
  const placed = feeds.map((feed) => {
    const place = places[lastRun.get(nameOf(feed)) ?? "read"]
    const queue = `${place} ${serviceOf(feed)}`
    const turn = turns.get(queue) ?? 0
    turns.set(queue, turn + 1)
    return { feed, place, turn }
  })
  return placed.toSorted((a, b) => a.place - b.place || a.turn - b.turn).map(({ feed }) => feed)
}
