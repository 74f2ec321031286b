/** Tells what has changed about freshness since it was last told. */
import { Clock, Effect } from "effect"
import { compareFreshness, type Told } from "./changes.ts"
import type { Judged } from "./freshness.ts"
import { makeFreshnessNotice } from "./notice.ts"
import { postNotice, type Webhook } from "./webhook.ts"

/** Where it is kept what was last told. */
export interface ToldStates<E, R> {
  readonly read: Effect.Effect<ReadonlyArray<Told>, E, R>
  readonly record: (told: ReadonlyArray<Told>, forgotten: ReadonlyArray<string>) => Effect.Effect<void, E, R>
}

/**
 * All changes are one notice, which is recorded after the webhook has accepted it. If the program is killed in between,
 * or the answer is lost, the next look tells the same with the same id. Returns the number of changes.
 */
export const tellFreshness = Effect.fn("tellFreshness")(function* <E, R>(
  judged: ReadonlyArray<Judged>,
  states: ToldStates<E, R>,
  webhook: Webhook
) {
  const told = yield* states.read
  const { changes, forget, remember } = compareFreshness(judged, told)
  if (changes.length > 0) yield* postNotice(webhook, makeFreshnessNotice(changes, told))
  const told_at = new Date(yield* Clock.currentTimeMillis).toISOString()
  const recorded = [...remember].map(([subject, state]) => ({ subject, state, told_at }))
  if (recorded.length > 0 || forget.length > 0) yield* states.record(recorded, forget)
  return changes.length
})
