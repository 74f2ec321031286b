/**
 * Retrieves an open payment. If the processor does not have it, charges a recharge again, always under the same id, or
 * expires the payment. Other payments are not charged again here.
 */
import { Clock, Duration, Effect } from "effect"
import { timestampOf } from "../ledger/index.ts"
import { charge } from "./charge.ts"
import type { BillingNeeds } from "./needs.ts"
import { expireOpenPayment, type PaymentRow } from "./payment-rows.ts"
import { isStillDue } from "./recharges/due.ts"
import { endRecharge } from "./recharges/rows.ts"
import { reconcile } from "./reconcile.ts"

/**
 * Billing retries a recharge that the processor never received for this long, and then expires it. A later recharge has
 * another id, because a processor may have stored its own failure under the first id, and would repeat it.
 */
const rechargeRetryMs = Duration.toMillis("15 minutes")
/** After this time, no request is still on its way to the processor: all time-outs are far shorter. */
export const maxRequestMs = Duration.toMillis("15 minutes")

const notReceived = "The payment did not reach the card processor. Nothing was charged."

export const retryOrExpire = Effect.fn("Billing.retryOrExpire")(function* (needs: BillingNeeds, payment: PaymentRow) {
  const { database, requestEvaluation } = needs
  const isKnown = yield* reconcile(needs, payment)
  if (isKnown || payment.state !== "open") return
  const { account_id, created_at, id, kind } = payment
  const now = yield* Clock.currentTimeMillis
  const isRecent = now - Date.parse(created_at) < rechargeRetryMs
  // a person's payment is repeated only by that person
  if (kind === "auto_recharge" && isRecent && (yield* isStillDue(needs, payment))) return yield* charge(needs, payment)
  yield* database.transaction(
    Effect.fnUntraced(function* (db) {
      const latestRequest = timestampOf(now - maxRequestMs)
      if (!(yield* expireOpenPayment(db, id, latestRequest, notReceived, timestampOf(now)))) return
      yield* endRecharge(db, account_id, id)
    })
  )
  if (kind === "auto_recharge") requestEvaluation(account_id)
})
