/**
 * Reads the feeds of one service, one after the other. An unreachable or faulty feed does not stop the others, unless
 * the service itself fails.
 */
import type { FeedLeftOut } from "@larder/schemas/ingest.ts"
import { Effect } from "effect"
import { Origin, type OriginError } from "../run/origins/origin.ts"
import { Progress } from "../run/progress.ts"
import type { Feed } from "./catalog.ts"
import { type FeedContext, type FeedRead, readFeed } from "./read-feed.ts"
import { aboutNoDays, knowsNoDays } from "./source/requests.ts"

export type Outcome = { readonly feed: string } & (
  | ({ readonly kind: "read" } & FeedRead)
  /** Could not be fetched. */
  | { readonly kind: "unreachable"; readonly reason: string; readonly error?: OriginError }
  /** Was fetched and cannot be trusted. */
  | { readonly kind: "untrusted"; readonly reason: string }
)

/** What a run reports about a feed that it did not read, or read only in part. */
export const leftOutOf = (outcome: Outcome): ReadonlyArray<FeedLeftOut> => {
  const { feed, kind } = outcome
  if (kind !== "read") return [{ feed, kind, reason: outcome.reason }]
  return outcome.partial === undefined ? [] : [{ feed, kind: "partial", reason: outcome.partial }]
}

/** After this many feeds in a row without an answer, the service counts as down: each was retried for minutes. */
const patience = 3

const outcomeOf = (context: FeedContext, line: Feed) => {
  const { feed } = line
  const unreachable = (error: OriginError) =>
    Effect.succeed<Outcome>({ kind: "unreachable", feed, reason: error.message, error })
  const untrusted = ({ message: reason }: Error) => Effect.succeed<Outcome>({ kind: "untrusted", feed, reason })
  return readFeed(context, line).pipe(
    Effect.map((read): Outcome => ({ kind: "read", feed, ...read })),
    Effect.catchTags({
      UpstreamUnavailable: unreachable,
      AccessDenied: unreachable,
      RefusedByUpstream: unreachable,
      AnswerTooLarge: unreachable,
      GivenUp: unreachable,
      ForbiddenAddress: unreachable,
      NotRecorded: unreachable,
      RecordingUnreadable: untrusted,
      DriftFound: untrusted,
      PayloadUnreadable: untrusted
    })
  )
}

/** Why the other feeds of a service are not requested: the answer would be the same. */
const hopeless = (outcomes: ReadonlyArray<Outcome>): string | undefined => {
  const errors = outcomes.map((outcome) => (outcome.kind === "unreachable" ? outcome.error : undefined))
  const last = errors.at(-1)
  // an error in an answer of the service itself, such as its encoding, says nothing about the other feeds
  if (last?._tag === "UpstreamUnavailable" && !last.may_pass && last.status !== 200) {
    return `Not asked, because the service did not answer for ${outcomes.at(-1)?.feed}.`
  }
  const away = errors.slice(errors.findLastIndex((error) => error?._tag !== "UpstreamUnavailable") + 1)
  if (away.length >= patience) return `Not asked, because the service did not answer for ${away.length} feeds in a row.`
  const denied = outcomes[errors.findIndex((error) => error?._tag === "AccessDenied")]
  return denied && `Not asked, because the service denied ${denied.feed}.`
}

/** If no feed has a row for days that were read before, all feeds count as untrusted. */
const orNoDays = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<Outcome> => {
  const rows = outcomes.flatMap((outcome) => (outcome.kind === "read" ? [outcome.rows_read] : []))
  if (!knowsNoDays(rows)) return outcomes
  const reason = `It has no row of the days that were read before, ${aboutNoDays}.`
  return outcomes.map((outcome) =>
    outcome.kind === "read" ? { kind: "untrusted", feed: outcome.feed, reason } : outcome
  )
}

/** `unasked`: why no feed of the service is requested. */
export const readService = Effect.fnUntraced(function* (
  context: FeedContext,
  feeds: ReadonlyArray<Feed>,
  unasked: string | undefined
) {
  const progress = yield* Progress
  const { kind } = yield* Origin
  const outcomes: Array<Outcome> = []
  let stop = unasked
  for (const feed of feeds) {
    if (stop === undefined) yield* progress.advance({ reading: feed.feed })
    const outcome: Outcome =
      stop === undefined ? yield* outcomeOf(context, feed) : { kind: "unreachable", feed: feed.feed, reason: stop }
    outcomes.push(outcome)
    stop ??= hopeless(outcomes)
    yield* progress.advance({ feed: feed.feed, rows: outcome.kind === "read" ? outcome.rows_read : 0 })
  }
  // days that the operator chose may have no rows, and so may a recording
  return kind === "live" && context.run.days === undefined ? orNoDays(outcomes) : outcomes
})
