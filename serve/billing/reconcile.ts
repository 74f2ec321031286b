/**
 * Retrieves a payment and books it: after an event, when a customer returns, or when it is in doubt. Charges nothing;
 * `retry-or-expire.ts` decides whether a payment that the processor does not have is charged again.
 */
import { Effect } from "effect"
import { book } from "./book.ts"
import type { BillingNeeds } from "./needs.ts"
import { type PaymentRow, toPaymentQuery } from "./payment-rows.ts"
import type { RetrievedPayment } from "./processor.ts"

/** Returns whether the processor has the payment. */
export const bookIfKnown = (needs: BillingNeeds, payment: PaymentRow, retrieved: RetrievedPayment | undefined) =>
  retrieved === undefined ? Effect.succeed(false) : Effect.as(book(needs, payment, retrieved), true)

/**
 * Returns whether the processor has the payment. `reference` is the processor's id from an event, in case the response
 * with it was lost.
 */
export const reconcile = Effect.fn("Billing.reconcile")(function* (
  needs: BillingNeeds,
  payment: PaymentRow,
  reference: string | null = null
) {
  const query = { ...toPaymentQuery(payment), reference: payment.reference ?? reference }
  return yield* bookIfKnown(needs, payment, yield* needs.processor.retrieve(query))
})

/** After the customer left the payment page: closes it. A charge of a saved card has no page. */
export const leave = Effect.fn("Billing.leave")(function* (needs: BillingNeeds, payment: PaymentRow) {
  if (payment.card !== null) return yield* reconcile(needs, payment)
  return yield* bookIfKnown(needs, payment, yield* needs.processor.expireCheckout(toPaymentQuery(payment)))
})
