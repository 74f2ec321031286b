/** What Stripe's objects mean for a payment. Pure. */
import type { Card, Looked, Reversed } from "../processor.ts"
import { needsOwner, problemOf } from "./declines.ts"
import {
  type CheckoutSession,
  type Dispute,
  idOf,
  type PaymentIntent,
  type PaymentMethod,
  type Refund
} from "./wire.ts"

const cardOf = (method: string | PaymentMethod | null): Card | null => {
  if (method === null || typeof method === "string" || method.card == null) return null
  const { brand, exp_month, exp_year, last4 } = method.card
  return { id: method.id, brand, last4, expires: `${String(exp_month).padStart(2, "0")}/${exp_year}` }
}

/** A refund counts from when it is made: Stripe takes the money at once, and gives it back where the refund fails. */
const refunded = ({ amount, id, status }: typeof Refund.Type): Reversed => ({
  id,
  kind: "refund",
  cents: amount,
  state: status === "failed" || status === "canceled" ? "returned" : "taken",
  is_lost: false
})

const takesNothing = (status: string) => status.startsWith("warning_") || status === "prevented"

/**
 * A dispute takes what was withdrawn for it: nothing for an inquiry (`warning_…`) or where the bank blocked it, and the money
 * of one that was settled before it began (`prevented` is the status of both). It takes no more than `most`, and all of it
 * where nobody says how much that is in dollars. Stripe reinstates a part where a part had been refunded: that is no return.
 */
const disputed = (dispute: typeof Dispute.Type, most: number): ReadonlyArray<Reversed> => {
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

/** Oldest first; lists come the other way round. */
export const reversedOf = (
  { amount_received }: PaymentIntent,
  refunds: ReadonlyArray<typeof Refund.Type>,
  disputes: ReadonlyArray<typeof Dispute.Type>
): ReadonlyArray<Reversed> => {
  const back = refunds.map(refunded).toReversed()
  const left = back.reduce((left, { cents, state }) => (state === "taken" ? left - cents : left), amount_received)
  return [...back, ...disputes.flatMap((dispute) => disputed(dispute, left)).toReversed()]
}

const inOtherCurrency = (currency: string) =>
  `The payment was made in ${currency.toUpperCase()}, and only US dollars are taken.`

/** Seconds after which Stripe has confirmed what it was told to confirm, or never will. */
const longestConfirming = 900
export const abandoned = "abandoned"

/** Stripe had a fault between making a payment and confirming it: nobody was charged, and nobody goes on with it. */
export const isAbandoned = (intent: PaymentIntent, now: number): boolean =>
  (intent.status === "requires_confirmation" ||
    (intent.status === "requires_payment_method" && intent.last_payment_error === null)) &&
  now / 1000 - intent.created > longestConfirming

/** A saved card that was charged without its owner: what waits for the owner has failed, since nobody will come. */
const chargeState = ({
  cancellation_reason,
  currency,
  last_payment_error,
  status
}: PaymentIntent): Pick<Looked, "state" | "problem"> => {
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

/** On the payment page the customer may try another card after a decline, until the page expires. */
const checkoutState = (
  session: CheckoutSession,
  intent: PaymentIntent | undefined
): Pick<Looked, "state" | "problem"> => {
  if (intent?.status === "succeeded") return chargeState(intent)
  if (session.status === "expired") return { state: "expired", problem: null }
  if (session.status === "complete" && intent?.status === "canceled") return chargeState(intent)
  return { state: "open", problem: null }
}

const looked = (
  reference: string,
  is: Pick<Looked, "state" | "problem">,
  intent: PaymentIntent | undefined,
  customer: string | null,
  reversed: ReadonlyArray<Reversed>
): Looked => ({
  ...is,
  reference,
  // what came in another currency counts as nothing here: it is told, and booked by nobody
  cents: is.state === "succeeded" && intent?.currency === "usd" ? intent.amount_received : 0,
  customer: idOf(intent?.customer) ?? customer,
  card: cardOf(intent?.payment_method ?? null),
  reversed
})

export const lookedAtCharge = (intent: PaymentIntent, reversed: ReadonlyArray<Reversed>): Looked =>
  looked(intent.id, chargeState(intent), intent, null, reversed)

export const lookedAtCheckout = (
  session: CheckoutSession,
  intent: PaymentIntent | undefined,
  reversed: ReadonlyArray<Reversed>
): Looked => looked(session.id, checkoutState(session, intent), intent, idOf(session.customer), reversed)

export const gone = "The card is not saved at the card processor any more."
export const refused = "The card processor refuses the payment. Nothing was charged; the operator has been told."

/** No trace of it is at Stripe, and asked again Stripe would say the same. */
export const neverMade = (paymentId: string, customer: string, problem: string): Looked => ({
  state: "failed",
  reference: paymentId,
  cents: 0,
  problem,
  customer,
  card: null,
  reversed: []
})
