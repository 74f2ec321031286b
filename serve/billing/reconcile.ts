/**
 * Retrieves a payment and books it: after a charge or event, when a customer returns, or when it is in doubt. Billing
 * retrieves a payment in doubt before it charges again, always under the same id.
 */
import { Clock, Duration, Effect } from "effect"
import type { BillingNeeds } from "./book.ts"
import { makeBook, nowText } from "./book.ts"
import { expireOpenPayment, markRequested, type PaymentRow, toPaymentQuery } from "./payment-rows.ts"
import type { RetrievedPayment } from "./processor.ts"
import { findLimit, sumRequested } from "./recharge-limits.ts"
import { endRecharge } from "./recharge-rows.ts"
import { findCurrentRecharge } from "./recharge-stops.ts"
import { findCustomer } from "./saved-card.ts"

/**
 * Billing retries a recharge that the processor never received for this long, and then expires it. A later recharge has
 * another id, because a processor may have stored its own failure under the first id, and would repeat it.
 */
const rechargeRetryMs = Duration.toMillis("15 minutes")
/** After this time, no request is still on its way to the processor: all time-outs are far shorter. */
export const maxRequestMs = Duration.toMillis("15 minutes")

const notReceived = "The payment did not reach the card processor. Nothing was charged."

export const makeReconcile = (needs: BillingNeeds) => {
  const { administration, database, processor, requestEvaluation } = needs
  const book = makeBook(needs)
  /** Returns whether the processor has the payment. */
  const bookRetrieved = (payment: PaymentRow, retrieved: RetrievedPayment | undefined) =>
    retrieved === undefined ? Effect.succeed(false) : Effect.as(book(payment, retrieved), true)

  /**
   * Returns whether the processor has the payment. `reference` is the processor's id from an event, in case the response
   * with it was lost.
   */
  const reconcile = Effect.fn("Billing.reconcile")(function* (payment: PaymentRow, reference: string | null = null) {
    const query = { ...toPaymentQuery(payment), reference: payment.reference ?? reference }
    return yield* bookRetrieved(payment, yield* processor.retrieve(query))
  })

  /** Charges the saved card. If the response is lost, retrieves the payment, which may have succeeded. */
  const charge = Effect.fn("Billing.charge")(function* (payment: PaymentRow) {
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
    yield* bookRetrieved(payment, charged)
  })

  /** After the customer left the payment page: closes it. A charge of a saved card has no page. */
  const leave = Effect.fn("Billing.leave")(function* (payment: PaymentRow) {
    if (payment.card !== null) return yield* reconcile(payment)
    return yield* bookRetrieved(payment, yield* processor.expireCheckout(toPaymentQuery(payment)))
  })

  /**
   * Whether the payment is still the running recharge and may be requested: a low balance, the same card and amount, within
   * the limits, and auto-recharge on. That is read last, because an entry that stops it also lowers the balance.
   */
  const isStillDue = Effect.fnUntraced(function* ({ account_id, card, cents, id }: PaymentRow) {
    if ((yield* findCustomer(database, processor.name, account_id))?.card !== card) return false
    const { balance_credits } = yield* administration.account({ account_id })
    const now = yield* Clock.currentTimeMillis
    const requested = yield* sumRequested(database, account_id, now, id)
    const recharge = yield* findCurrentRecharge(needs, account_id)
    if (recharge?.running !== id || !recharge.is_on || recharge.cents !== cents) return false
    return balance_credits < recharge.trigger_credits && findLimit(recharge, requested, now) === undefined
  })

  /** Reconciles an open payment. If the processor does not have it, charges it again or expires it. */
  const resolve = Effect.fn("Billing.resolve")(function* (payment: PaymentRow) {
    const isKnown = yield* reconcile(payment)
    if (isKnown || payment.state !== "open") return
    const { account_id, created_at, id, kind } = payment
    const now = yield* Clock.currentTimeMillis
    const isRecent = now - Date.parse(created_at) < rechargeRetryMs
    // a person's payment is repeated only by that person
    if (kind === "auto_recharge" && isRecent && (yield* isStillDue(payment))) return yield* charge(payment)
    const latestRequest = new Date(now - maxRequestMs).toISOString()
    yield* database.transaction(
      Effect.fnUntraced(function* (db) {
        if (!(yield* expireOpenPayment(db, id, latestRequest, notReceived, new Date(now).toISOString()))) return
        yield* endRecharge(db, account_id, id)
      })
    )
    if (kind === "auto_recharge") requestEvaluation(account_id)
  })

  return { reconcile, charge, isStillDue, leave, resolve }
}

export type Reconcile = ReturnType<typeof makeReconcile>
