/** Retrieves a payment and books it: after a charge or event, when a customer returns, or when it is in doubt. */
import { Effect } from "effect"
import { type BillingNeeds, makeBook, nowText } from "./book.ts"
import { markRequested, type PaymentRow, toQuery } from "./payment-rows.ts"
import type { RetrievedPayment } from "./processor.ts"

export const makeReconcile = (needs: BillingNeeds) => {
  const { database, processor } = needs
  const book = makeBook(needs)
  /** Returns whether the processor knows the payment. */
  const bookRetrieved = (payment: PaymentRow, retrieved: RetrievedPayment | undefined) =>
    retrieved === undefined ? Effect.succeed(false) : Effect.as(book(payment, retrieved), true)

  /** Returns the same. `reference` is the processor's id from an event, in case the answer with it was lost. */
  const reconcile = Effect.fn("Billing.reconcile")(function* (payment: PaymentRow, reference: string | null = null) {
    const query = { ...toQuery(payment), reference: payment.reference ?? reference }
    return yield* bookRetrieved(payment, yield* processor.retrieve(query))
  })

  return {
    reconcile,
    /** Charges the saved card. If the answer is lost, retrieves the payment: the processor may know the outcome. */
    charge: Effect.fn("Billing.charge")(function* (payment: PaymentRow) {
      const { card, customer, id } = payment
      if (customer === null || card === null) return yield* Effect.die(new Error(`${id} has no saved card to charge`))
      if (!(yield* markRequested(database, id, yield* nowText))) return
      const charged = yield* processor
        .charge({ ...toQuery(payment), customer, card })
        .pipe(
          Effect.catchTag("ProcessorUnavailable", (error) =>
            Effect.logWarning(`${error.message}. The payment is retrieved instead.`, { payment_id: id }).pipe(
              Effect.andThen(processor.retrieve(toQuery(payment)))
            )
          )
        )
      yield* bookRetrieved(payment, charged)
    }),
    leave: Effect.fn("Billing.leave")(function* (payment: PaymentRow) {
      if (payment.card !== null) return yield* reconcile(payment)
      return yield* bookRetrieved(payment, yield* processor.expireCheckout(toQuery(payment)))
    })
  }
}

export type Reconcile = ReturnType<typeof makeReconcile>
