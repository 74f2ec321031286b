/** The customer's actions on the payment page and on the page of the card's bank. */
import { Clock, Effect } from "effect"
import { declined, explainDecline } from "../stripe/declines.ts"
import { checkCard, completePayment, type EnteredCard, isPageExpired, newSimulatedId, toIso } from "./payment-state.ts"
import type { SimulatedPayment } from "./records.ts"
import { outcomeEvent, type PaymentStep, type SimulatorEffect, type SimulatorState } from "./state.ts"
import { findTestCard, type TestCard } from "./test-cards.ts"

export type CheckoutResult =
  | { readonly kind: "paid"; readonly url: string }
  | { readonly kind: "requires_authentication" }
  | Exclude<ReturnType<typeof checkCard>, { kind: "accepted" }>
  | { readonly kind: "ended" }

type CheckoutStep = PaymentStep<CheckoutResult>

const decline = (problem: string): CheckoutStep => ({
  events: [{ type: "payment_intent.payment_failed" }],
  result: { kind: "declined", problem }
})

const findOutcome = (payment: SimulatedPayment, now: string): CheckoutResult | undefined => {
  if (payment.state === "succeeded") return { kind: "paid", url: payment.success_url ?? "/" }
  return payment.state === "failed" || isPageExpired(payment, now) ? { kind: "ended" } : undefined
}

const pay = (
  payment: SimulatedPayment,
  testCard: string,
  { brand, number }: TestCard,
  expires: string
): CheckoutStep => {
  const saved = {
    customer: payment.customer ?? newSimulatedId("cus"),
    card: { id: newSimulatedId("card"), brand, last4: number.slice(-4), expires },
    plays: testCard
  }
  const paid = completePayment(payment, saved)
  return {
    payment: paid,
    events: [outcomeEvent(paid)],
    saved,
    result: { kind: "paid", url: paid.success_url ?? "/" }
  }
}

const payWithCard = (payment: SimulatedPayment, entered: EnteredCard, now: string): CheckoutStep => {
  const checked = checkCard(entered, now)
  if (checked.kind !== "accepted") return { result: checked }
  const { card, expires, name } = checked
  const { at_checkout } = card
  if (at_checkout === "paid") return pay(payment, name, card, expires)
  if (at_checkout !== "requires_authentication") return decline(explainDecline(at_checkout.decline))
  return { payment: { ...payment, asked_owner: { plays: name, expires } }, result: { kind: "requires_authentication" } }
}

const authenticate = (payment: SimulatedPayment, isConfirmed: boolean): CheckoutStep => {
  const { asked_owner } = payment
  const card = findTestCard(asked_owner?.plays ?? null)
  if (asked_owner === null || card === undefined) return { result: { kind: "declined", problem: declined } }
  if (isConfirmed) return pay(payment, asked_owner.plays, card, asked_owner.expires)
  return {
    payment: { ...payment, asked_owner: null },
    ...decline(explainDecline("payment_intent_authentication_failure"))
  }
}

export const makeCheckout = ({ change }: SimulatorState) => {
  const step = (reference: string, decide: (payment: SimulatedPayment, now: string) => CheckoutStep) =>
    change(reference, (payment, now) => {
      const outcome = findOutcome(payment, now)
      return outcome === undefined ? decide(payment, now) : { result: outcome }
    })
  return {
    /** The current step of the payment; undefined if the customer has to enter a card. */
    currentStep: (payment: SimulatedPayment) =>
      Effect.map(Clock.currentTimeMillis, (now): CheckoutResult | undefined => {
        const isAuthenticating = payment.asked_owner !== null
        return findOutcome(payment, toIso(now)) ?? (isAuthenticating ? { kind: "requires_authentication" } : undefined)
      }),
    pay: (reference: string, entered: EnteredCard): SimulatorEffect<CheckoutResult> =>
      step(reference, (payment, now) => payWithCard(payment, entered, now)),
    /** The cardholder confirms or refuses the payment on the page of the card's bank. */
    authenticate: (reference: string, isConfirmed: boolean): SimulatorEffect<CheckoutResult> =>
      step(reference, (payment) => authenticate(payment, isConfirmed)),
    /** Closes the page, so that it can no longer be paid. Does not undo a payment. */
    expire: (reference: string): SimulatorEffect<CheckoutResult> =>
      step(reference, (payment, now) => ({ payment: { ...payment, expires_at: now }, result: { kind: "ended" } }))
  }
}
