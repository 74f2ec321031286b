/**
 * Tells the processor to forget a card that was replaced or removed here; otherwise the processor keeps the card
 * forever and could still charge it. The pending request is recorded in the same transaction as the change, so billing
 * repeats the request until the processor answers.
 */
import { Effect } from "effect"
import { forgotten } from "./card-rows.ts"
import type { BillingNeeds } from "./settle.ts"

export const forget = Effect.fn("Billing.forget")(function* ({ database, processor }: BillingNeeds, card: string) {
  yield* processor.forget(card)
  yield* forgotten(database, card)
})

/** Makes one attempt; the watch retries a failed one. */
export const forgetNow = (needs: BillingNeeds, card: string) =>
  Effect.catch(forget(needs, card), (error) =>
    Effect.logWarning(`${error.message}. A card that was replaced or removed is still saved there; it is asked again.`)
  )
