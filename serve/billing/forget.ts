/**
 * Lets the processor forget a card that was replaced or removed here, which it would keep, and charge, for ever. That it is to
 * be forgotten is written down together with the change, so that it is asked again until it has answered.
 */
import { Effect } from "effect"
import { forgotten } from "./card-rows.ts"
import type { BillingNeeds } from "./settle.ts"

export const forget = Effect.fn("Billing.forget")(function* ({ database, processor }: BillingNeeds, card: string) {
  yield* processor.forget(card)
  yield* forgotten(database, card)
})

/** Nobody waits for more than one attempt: the rest is the watch's. */
export const forgetNow = (needs: BillingNeeds, card: string) =>
  Effect.catch(forget(needs, card), (error) =>
    Effect.logWarning(`${error.message}. A card that was replaced or removed is still saved there; it is asked again.`)
  )
