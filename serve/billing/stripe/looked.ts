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
  state: status === "failed" || status === "canceled" ? "returned" : "taken"
})

/** An inquiry (`warning_…`) and a dispute that was prevented take no money. A dispute takes no more than was paid. */
const disputed = ({ amount, currency, id, status }: typeof Dispute.Type, received: number): ReadonlyArray<Reversed> =>
  status.startsWith("warning_") || status === "prevented"
    ? []
    : [
        {
          id,
          kind: "dispute",
          cents: currency === "usd" ? Math.min(amount, received) : received,
          state: status === "won" ? "returned" : "taken"
        }
      ]

/** Oldest first; lists come the other way round. */
export const reversedOf = (
  { amount_received }: PaymentIntent,
  refunds: ReadonlyArray<typeof Refund.Type>,
  disputes: ReadonlyArray<typeof Dispute.Type>
): ReadonlyArray<Reversed> => [
  ...refunds.map(refunded).toReversed(),
  ...disputes.flatMap((dispute) => disputed(dispute, amount_received)).toReversed()
]

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

/** No trace of it is at Stripe, which does not know the card any more. */
export const cardGone = (paymentId: string, customer: string): Looked => ({
  state: "failed",
  reference: paymentId,
  cents: 0,
  problem: "The card is not saved at the card processor any more.",
  customer,
  card: null,
  reversed: []
})
