/** The feeds of one service, one after the other. One that is away or faulty does not keep the others from being read. */
import { Effect } from "effect"
import type { OriginError } from "../run/origin.ts"
import { Progress } from "../run/progress.ts"
import type { Feed } from "./catalog.ts"
import type { DriftFound } from "./field.ts"
import { type FeedContext, type FeedRead, readFeed } from "./read-feed.ts"
import type { PayloadUnreadable } from "./wire.ts"

export type Outcome =
  | ({ readonly kind: "read" } & FeedRead)
  /** Could not be fetched: left out of the run. */
  | {
      readonly kind: "unavailable"
      readonly feed: string
      readonly message: string
      readonly error?: OriginError["_tag"]
    }
  /** Came and cannot be trusted: nothing of the run is published. */
  | { readonly kind: "faulty"; readonly message: string }

/** A service that did not answer for so many feeds in a row is away: each of them was tried for minutes. */
const patience = 3

const outcomeOf = (context: FeedContext, feed: Feed) => {
  const unavailable = (error: OriginError) =>
    Effect.succeed<Outcome>({
      kind: "unavailable",
      feed: feed.feed,
      message: error.message,
      error: error._tag
    })
  const faulty = (error: DriftFound | PayloadUnreadable) =>
    Effect.succeed<Outcome>({ kind: "faulty", message: error.message })
  return readFeed(context, feed).pipe(
    Effect.map((read): Outcome => ({ kind: "read", ...read })),
    Effect.catchTags({
      UpstreamUnavailable: unavailable,
      AccessDenied: unavailable,
      RefusedByUpstream: unavailable,
      AnswerTooLarge: unavailable,
      GivenUp: unavailable,
      ForbiddenAddress: unavailable,
      NotRecorded: unavailable,
      RecordingUnreadable: (error) =>
        Effect.succeed<Outcome>({ kind: "faulty", message: `${feed.feed}: ${error.message}` }),
      DriftFound: faulty,
      PayloadUnreadable: faulty
    })
  )
}

/** Why the rest of a service need not be asked: the answer would be the same. */
const hopeless = (outcomes: ReadonlyArray<Outcome>): string | undefined => {
  const away = outcomes.slice(
    outcomes.findLastIndex((o) => o.kind !== "unavailable" || o.error !== "UpstreamUnavailable") + 1
  )
  if (away.length >= patience) return `the service did not answer for ${away.length} feeds in a row`
  const denied = outcomes.find((o) => o.kind === "unavailable" && o.error === "AccessDenied")
  return denied?.kind === "unavailable" ? `the service denied ${denied.feed}` : undefined
}

export const readService = Effect.fnUntraced(function* (context: FeedContext, feeds: ReadonlyArray<Feed>) {
  const progress = yield* Progress
  const outcomes: Array<Outcome> = []
  let stop: string | undefined
  for (const feed of feeds) {
    const outcome: Outcome =
      stop === undefined
        ? yield* outcomeOf(context, feed)
        : { kind: "unavailable", feed: feed.feed, message: `not asked, because ${stop}` }
    outcomes.push(outcome)
    stop ??= hopeless(outcomes)
    yield* progress.advance({ feed: feed.feed, rows: outcome.kind === "read" ? outcome.rows_read : 0 })
  }
  return outcomes
})
