/** Sends what has changed about freshness since the last notice. */
import { Clock, Effect } from "effect"
import { compareFreshness, type Notified } from "./changes.ts"
import type { Judged } from "./freshness.ts"
import { makeFreshnessNotice } from "./notice.ts"
import { postNotice, type Webhook } from "./webhook.ts"

/** Where it is stored what was last sent. */
export interface NotifiedStates<E, R> {
  readonly read: Effect.Effect<ReadonlyArray<Notified>, E, R>
  readonly record: (notified: ReadonlyArray<Notified>, forgotten: ReadonlyArray<string>) => Effect.Effect<void, E, R>
}

/**
 * All changes are one notice, which is recorded after the webhook has accepted it. If the program is killed in between,
 * or the answer is lost, the next check sends the same with the same id. Returns the number of changes.
 */
export const notifyFreshness = Effect.fn("notifyFreshness")(function* <E, R>(
  judged: ReadonlyArray<Judged>,
  states: NotifiedStates<E, R>,
  webhook: Webhook
) {
  const notified = yield* states.read
  const { changes, forget, remember } = compareFreshness(judged, notified)
  if (changes.length > 0) yield* postNotice(webhook, makeFreshnessNotice(changes, notified))
  const notified_at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const recorded = [...remember].map(([subject, state]) => ({ subject, state, notified_at }))
  if (recorded.length > 0 || forget.length > 0) yield* states.record(recorded, forget)
  return changes.length
})
