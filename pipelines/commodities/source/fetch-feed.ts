/** Fetches one feed into the archive: a window of days, or the whole history. */
import { addDays } from "@larder/schemas"
import { Effect, type Redacted, type Semaphore } from "effect"
import { Archive } from "../../run/archive/archive.ts"
import { NotRecorded, Origin, RefusedByUpstream, type SourceRequest } from "../../run/origins/origin.ts"
import type { RunContext } from "../../run/pipeline.ts"
import type { Feed } from "../catalog.ts"
import type { EarlierRuns } from "../earlier-runs.ts"
import { feedRequests, widenWindow } from "./requests.ts"

export interface FeedContext {
  readonly run: RunContext
  readonly previous: EarlierRuns
  readonly marsKey: Redacted.Redacted | undefined
  readonly today: string
  /** One payload at a time is decoded: together, whole histories would need much memory. */
  readonly decoding: Semaphore.Semaphore
}

/** Values of the newest reports may be dated after the day of the request: a Thursday report ends on Friday. */
export const requestedDaysAhead = 14

/**
 * Selects the days to request: around the given days, or back from the end of the last live run. Undefined means the
 * whole history: on the first run, after a change of the mapping, and if the origin is not live. A reading of a future
 * day, such as Class I of the next month, does not move the window past today.
 */
const selectWindow = (feed: Feed, { run, previous, today }: FeedContext, isLive: boolean) => {
  if (run.days !== undefined) return widenWindow(run.days, feed)
  const cursor = previous.cursors.find((known) => known.feed === feed.feed)
  if (!isLive || cursor?.mapping_sha256 !== feed.mapping_sha256) return undefined
  const read_to = cursor.read_to < today ? cursor.read_to : today
  return { from: addDays(read_to, -feed.look_back_days), to: addDays(today, requestedDaysAhead) }
}

/** Whether the address has no payload: a recording is missing, or the service returned 404. */
const isMissing = (error: unknown): error is NotRecorded | RefusedByUpstream =>
  error instanceof NotRecorded || (error instanceof RefusedByUpstream && error.status === 404)

/** Fetches the first address that exists. Otherwise fails with the first error, which names all missing recordings. */
export const fetchFirst = Effect.fnUntraced(function* (requests: ReadonlyArray<SourceRequest>) {
  const archive = yield* Archive
  const missing: Array<NotRecorded | RefusedByUpstream> = []
  for (const request of requests) {
    const fetched = yield* archive.fetch(request).pipe(
      Effect.catchIf(isMissing, (error) => {
        missing.push(error)
        return Effect.succeed(undefined)
      })
    )
    if (fetched !== undefined) return fetched
  }
  const [first] = missing
  if (first === undefined) return yield* Effect.die(new Error("a feed of the catalog has no path"))
  if (!(first instanceof NotRecorded)) return yield* first
  const looked_for = missing.flatMap((error) => (error instanceof NotRecorded ? error.looked_for : []))
  return yield* new NotRecorded({ ...first, looked_for })
})

export const fetchFeed = Effect.fnUntraced(function* (context: FeedContext, feed: Feed) {
  const { kind } = yield* Origin
  const window = selectWindow(feed, context, kind === "live")
  const requests = feedRequests(feed, window, context.marsKey)
  const raw = yield* fetchFirst(requests)
  return { raw, window, isRecorded: kind !== "live" }
})
