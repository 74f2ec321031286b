/** Maps Stripe's objects to the state of a payment. */
import type { Card, RetrievedPayment, RetrievedReversal } from "../processor.ts"
import {
  type CheckoutSession,
  type Dispute,
  getId,
  type PaymentIntent,
  type PaymentMethod,
  type Refund
} from "./api.ts"
import { explainDecline, requiresAuthentication } from "./declines.ts"

const toCard = (method: string | PaymentMethod | null): Card | null => {
  if (method === null || typeof method === "string" || method.card == null) return null
  const { brand, exp_month, exp_year, last4 } = method.card
  return { id: method.id, brand, last4, expires: `${String(exp_month).padStart(2, "0")}/${exp_year}` }
}

/** A refund counts from its creation: Stripe takes the money immediately and returns it if the refund fails. */
const toRefund = ({ amount, id, status }: typeof Refund.Type): RetrievedReversal => ({
  id,
  kind: "refund",
  cents: amount,
  state: status === "failed" || status === "canceled" ? "returned" : "taken",
  is_lost: false
})

const hasNoWithdrawal = (status: string) => status.startsWith("warning_") || status === "prevented"

/**
 * The amount of a dispute is what Stripe withdrew for it, but at most `max`, and exactly `max` if the amount in dollars
 * is unknown. For an inquiry (`warning_…`), Stripe withdraws no money. A dispute with the status `prevented` was either
 * blocked by the bank, without a withdrawal, or settled before it began, with a withdrawal. If a part was refunded
 * before, Stripe withdraws the whole amount and reinstates that part. A dispute counts as returned if it was won or
 * fully reinstated.
 */
const toDispute = (dispute: typeof Dispute.Type, max: number): ReadonlyArray<RetrievedReversal> => {
  const { amount, currency, id, status } = dispute
  const movements = dispute.balance_transactions ?? (hasNoWithdrawal(status) ? [] : [{ amount: -amount, currency }])
  const sum = (amounts: ReadonlyArray<number>) => amounts.reduce((total, amount) => total + amount, 0)
  const withdrawn = -sum(movements.map(({ amount }) => Math.min(amount, 0)))
  const reinstated = sum(movements.map(({ amount }) => Math.max(amount, 0)))
  if (withdrawn === 0) return []
  const dollarCents = currency === "usd" ? amount : max
  const cents = movements.every(({ currency }) => currency === "usd") ? withdrawn : dollarCents
  const isReturned = status === "won" || reinstated >= withdrawn
  const is_lost = !isReturned && (status === "lost" || status === "prevented")
  return [{ id, kind: "dispute", cents: Math.min(cents, max), state: isReturned ? "returned" : "taken", is_lost }]
}

/** Refunds, then disputes, each oldest first; Stripe's lists are newest first. */
export const toReversals = (
  { amount_received }: PaymentIntent,
  refunds: ReadonlyArray<typeof Refund.Type>,
  disputes: ReadonlyArray<typeof Dispute.Type>
): ReadonlyArray<RetrievedReversal> => {
  const refunded = refunds.map(toRefund).toReversed()
  const remaining = refunded.reduce((sum, { cents, state }) => (state === "taken" ? sum - cents : sum), amount_received)
  return [...refunded, ...disputes.flatMap((dispute) => toDispute(dispute, remaining)).toReversed()]
}

const explainCurrency = (currency: string) =>
  `The payment was made in ${currency.toUpperCase()}, but only US dollars are accepted.`

/** Stripe confirms a payment within this many seconds, or never. */
const maxConfirmSeconds = 900
export const abandoned = "abandoned"

/** Stripe failed between creating the payment and confirming it. The card was not charged, and never will be. */
export const isAbandoned = (intent: PaymentIntent, now: number): boolean =>
  (intent.status === "requires_confirmation" ||
    (intent.status === "requires_payment_method" && intent.last_payment_error === null)) &&
  now / 1000 - intent.created > maxConfirmSeconds

type State = Pick<RetrievedPayment, "state" | "problem">

/** State of an off-session charge. One that requires authentication has failed, because the cardholder is absent. */
const toChargeState = ({ cancellation_reason, currency, last_payment_error, status }: PaymentIntent): State => {
  if (status === "succeeded")
    return { state: "succeeded", problem: currency === "usd" ? null : explainCurrency(currency) }
  if (status === "canceled" && cancellation_reason === abandoned) {
    return { state: "expired", problem: "The card processor did not finish the payment. Nothing was charged." }
  }
  if (status === "canceled") return { state: "failed", problem: "The payment was cancelled." }
  if (status === "requires_action") return { state: "failed", problem: requiresAuthentication }
  if (status === "requires_payment_method" && last_payment_error !== null) {
    return { state: "failed", problem: explainDecline(last_payment_error.decline_code, last_payment_error.code) }
  }
  return { state: "open", problem: null }
}

/** If a card is declined on the payment page, the customer can try another card until the page expires. */
const toCheckoutState = (session: CheckoutSession, intent: PaymentIntent | undefined): State => {
  if (intent?.status === "succeeded") return toChargeState(intent)
  if (session.status === "expired") return { state: "expired", problem: null }
  if (session.status === "complete" && intent?.status === "canceled") return toChargeState(intent)
  return { state: "open", problem: null }
}

const toRetrieved = (
  reference: string,
  state: State,
  intent: PaymentIntent | undefined,
  customer: string | null,
  reversed: ReadonlyArray<RetrievedReversal>
): RetrievedPayment => ({
  ...state,
  reference,
  // an amount in another currency counts as 0: it is reported but not booked
  cents: state.state === "succeeded" && intent?.currency === "usd" ? intent.amount_received : 0,
  customer: getId(intent?.customer) ?? customer,
  card: toCard(intent?.payment_method ?? null),
  reversed
})

export const toRetrievedCharge = (
  intent: PaymentIntent,
  reversed: ReadonlyArray<RetrievedReversal>
): RetrievedPayment => toRetrieved(intent.id, toChargeState(intent), intent, null, reversed)

export const toRetrievedCheckout = (
  session: CheckoutSession,
  intent: PaymentIntent | undefined,
  reversed: ReadonlyArray<RetrievedReversal>
): RetrievedPayment =>
  toRetrieved(session.id, toCheckoutState(session, intent), intent, getId(session.customer), reversed)

export const cardRemoved = "The card is no longer saved at the card processor."
export const paymentRefused =
  "The card processor refused the payment. Nothing was charged; the operator has been notified."

/** Stripe has no record of the payment, and a repeated request would get the same response. */
export const toFailedCharge = (paymentId: string, customer: string, problem: string): RetrievedPayment => ({
  state: "failed",
  reference: paymentId,
  cents: 0,
  problem,
  customer,
  card: null,
  reversed: []
})
