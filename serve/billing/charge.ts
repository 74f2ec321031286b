/** Charges the saved card for a recorded payment, and books the response. */
import { Effect } from "effect"
import type { BillingNeeds } from "./needs.ts"
import { markRequested, type PaymentRow, toPaymentQuery } from "./payment-rows.ts"
import { bookIfKnown } from "./reconcile.ts"
import { nowText } from "./times.ts"

/** If the response is lost, retrieves the payment, which may have succeeded. */
export const charge = Effect.fn("Billing.charge")(function* (needs: BillingNeeds, payment: PaymentRow) {
  const { database, processor } = needs
  const { card, customer, id } = payment
  if (customer === null || card === null) return yield* Effect.die(new Error(`${id} has no saved card to charge`))
  if (!(yield* markRequested(database, id, yield* nowText))) return
  const charged = yield* processor
    .charge({ ...toPaymentQuery(payment), customer, card })
    .pipe(
      Effect.catchTag("ProcessorUnavailable", (error) =>
        Effect.logWarning(`${error.message}. The payment is retrieved instead.`, { payment_id: id }).pipe(
          Effect.andThen(processor.retrieve(toPaymentQuery(payment)))
        )
      )
    )
  yield* bookIfKnown(needs, payment, charged)
})
