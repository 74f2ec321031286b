/** Maps Stripe's objects to the state of a payment. Pure. */
import type { Card, RetrievedPayment, RetrievedReversal } from "../processor.ts"
import { type CheckoutSession, type Dispute, idOf, type PaymentIntent, type PaymentMethod, type Refund } from "./api.ts"
import { needsOwner, problemOf } from "./declines.ts"

const cardOf = (method: string | PaymentMethod | null): Card | null => {
  if (method === null || typeof method === "string" || method.card == null) return null
  const { brand, exp_month, exp_year, last4 } = method.card
  return { id: method.id, brand, last4, expires: `${String(exp_month).padStart(2, "0")}/${exp_year}` }
}

/** A refund counts from its creation: Stripe takes the money immediately and gives it back if the refund fails. */
const refunded = ({ amount, id, status }: typeof Refund.Type): RetrievedReversal => ({
  id,
  kind: "refund",
  cents: amount,
  state: status === "failed" || status === "canceled" ? "returned" : "taken",
  is_lost: false
})

const takesNothing = (status: string) => status.startsWith("warning_") || status === "prevented"

/**
 * A dispute takes the amount that Stripe withdrew for it. An inquiry (`warning_…`) withdraws nothing. The status
 * `prevented` covers both a dispute that the bank blocked, which withdraws nothing, and a dispute that was settled
 * before it began, which withdraws the money. A dispute takes at most `most`, and exactly `most` if its amount in
 * dollars is unknown. If a part was refunded before, Stripe withdraws the whole amount and reinstates that part; this
 * does not count as returned.
 */
const disputed = (dispute: typeof Dispute.Type, most: number): ReadonlyArray<RetrievedReversal> => {
  const { amount, currency, id, status } = dispute
  const moved = dispute.balance_transactions ?? (takesNothing(status) ? [] : [{ amount: -amount, currency }])
  const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((all, one) => all + one, 0)
  const withdrawn = -sum(moved.map(({ amount }) => Math.min(amount, 0)))
  const reinstated = sum(moved.map(({ amount }) => Math.max(amount, 0)))
  if (withdrawn === 0) return []
  const inDollars = currency === "usd" ? amount : most
  const cents = moved.every(({ currency }) => currency === "usd") ? withdrawn : inDollars
  const isReturned = status === "won" || reinstated >= withdrawn
  const is_lost = !isReturned && (status === "lost" || status === "prevented")
  return [{ id, kind: "dispute", cents: Math.min(cents, most), state: isReturned ? "returned" : "taken", is_lost }]
}

/** Oldest first; Stripe's lists are newest first. */
export const reversalsFrom = (
  { amount_received }: PaymentIntent,
  refunds: ReadonlyArray<typeof Refund.Type>,
  disputes: ReadonlyArray<typeof Dispute.Type>
): ReadonlyArray<RetrievedReversal> => {
  const back = refunds.map(refunded).toReversed()
  const left = back.reduce((left, { cents, state }) => (state === "taken" ? left - cents : left), amount_received)
  return [...back, ...disputes.flatMap((dispute) => disputed(dispute, left)).toReversed()]
}

const inOtherCurrency = (currency: string) =>
  `The payment was made in ${currency.toUpperCase()}, but only US dollars are accepted.`

/** After this many seconds Stripe has either confirmed a payment or never will. */
const confirmedWithin = 900
export const abandoned = "abandoned"

/**
 * Stripe failed between creating the payment and confirming it: the card was not charged, and nothing will continue the
 * payment.
 */
export const isAbandoned = (intent: PaymentIntent, now: number): boolean =>
  (intent.status === "requires_confirmation" ||
    (intent.status === "requires_payment_method" && intent.last_payment_error === null)) &&
  now / 1000 - intent.created > confirmedWithin

/**
 * State of an off-session charge. A charge that requires authentication has failed, because the cardholder is absent.
 */
const chargeState = ({
  cancellation_reason,
  currency,
  last_payment_error,
  status
}: PaymentIntent): Pick<RetrievedPayment, "state" | "problem"> => {
  if (status === "succeeded")
    return { state: "succeeded", problem: currency === "usd" ? null : inOtherCurrency(currency) }
  if (status === "canceled" && cancellation_reason === abandoned) {
    return { state: "expired", problem: "The card processor did not finish the payment. Nothing was charged." }
  }
  if (status === "canceled") return { state: "failed", problem: "The payment was cancelled." }
  if (status === "requires_action") return { state: "failed", problem: needsOwner }
  if (status === "requires_payment_method" && last_payment_error !== null) {
    return { state: "failed", problem: problemOf(last_payment_error.decline_code, last_payment_error.code) }
  }
  return { state: "open", problem: null }
}

/** A customer whose card is declined on the payment page may try another card until the page expires. */
const checkoutState = (
  session: CheckoutSession,
  intent: PaymentIntent | undefined
): Pick<RetrievedPayment, "state" | "problem"> => {
  if (intent?.status === "succeeded") return chargeState(intent)
  if (session.status === "expired") return { state: "expired", problem: null }
  if (session.status === "complete" && intent?.status === "canceled") return chargeState(intent)
  return { state: "open", problem: null }
}

const retrieved = (
  reference: string,
  is: Pick<RetrievedPayment, "state" | "problem">,
  intent: PaymentIntent | undefined,
  customer: string | null,
  reversed: ReadonlyArray<RetrievedReversal>
): RetrievedPayment => ({
  ...is,
  reference,
  // an amount in another currency counts as 0: it is reported but not booked
  cents: is.state === "succeeded" && intent?.currency === "usd" ? intent.amount_received : 0,
  customer: idOf(intent?.customer) ?? customer,
  card: cardOf(intent?.payment_method ?? null),
  reversed
})

export const retrievedCharge = (intent: PaymentIntent, reversed: ReadonlyArray<RetrievedReversal>): RetrievedPayment =>
  retrieved(intent.id, chargeState(intent), intent, null, reversed)

export const retrievedCheckout = (
  session: CheckoutSession,
  intent: PaymentIntent | undefined,
  reversed: ReadonlyArray<RetrievedReversal>
): RetrievedPayment => retrieved(session.id, checkoutState(session, intent), intent, idOf(session.customer), reversed)

export const gone = "The card is no longer saved at the card processor."
export const refused = "The card processor refused the payment. Nothing was charged; the operator has been notified."

/** Stripe has no record of the payment, and a repeated request would get the same answer. */
export const neverMade = (paymentId: string, customer: string, problem: string): RetrievedPayment => ({
  state: "failed",
  reference: paymentId,
  cents: 0,
  problem,
  customer,
  card: null,
  reversed: []
})
