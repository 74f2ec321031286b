/** The customer's actions on the payment page and on the page of the card's bank. */
import { declined, explainDecline } from "../stripe/declines.ts"
import { type CardProblems, checkCard, completePayment, type EnteredCard, isPageExpired } from "./payment-state.ts"
import type { SimulatedPayment } from "./records.ts"
import { listOutcomeEvents, newSimulatedId, type PaymentStep, type Refusable, type SimulatorState } from "./state.ts"
import { findTestCard, type TestCard } from "./test-cards.ts"

export type CheckoutResult =
  | { readonly kind: "paid"; readonly url: string }
  | { readonly kind: "requires_authentication" }
  | { readonly kind: "declined"; readonly problem: string }
  | { readonly kind: "invalid"; readonly problems: CardProblems }
  | { readonly kind: "over" }

type CheckoutStep = PaymentStep<CheckoutResult>

const decline = (problem: string): CheckoutStep => ({
  events: [{ type: "payment_intent.payment_failed" }],
  answer: { kind: "declined", problem }
})
const reportPaid = (payment: SimulatedPayment): CheckoutStep => ({
  answer: { kind: "paid", url: payment.success_url ?? "/" }
})

const findEnd = (payment: SimulatedPayment, now: string): CheckoutStep | undefined => {
  if (payment.state === "succeeded") return reportPaid(payment)
  return payment.state === "failed" || isPageExpired(payment, now) ? { answer: { kind: "over" } } : undefined
}

const pay = (
  payment: SimulatedPayment,
  plays: string,
  testCard: TestCard,
  expires: string,
  now: string
): CheckoutStep => {
  const id = newSimulatedId("card")
  const customer = payment.customer ?? newSimulatedId("cus")
  const card = { id, brand: testCard.brand, last4: testCard.number.slice(-4), expires }
  const settled = completePayment(payment, { customer, card, plays }, newSimulatedId("dp"), now)
  return {
    payment: settled,
    events: listOutcomeEvents(settled),
    saved: { id, value: { customer, card, plays } },
    ...reportPaid(payment)
  }
}

const payWith = (payment: SimulatedPayment, entered: EnteredCard, now: string): CheckoutStep => {
  const checked = checkCard(entered, now)
  if ("problems" in checked) return { answer: { kind: "invalid", problems: checked.problems } }
  if ("declined" in checked) return { answer: { kind: "declined", problem: checked.declined } }
  const { card, expires, name } = checked
  const { at_checkout } = card
  if (at_checkout === "pays") return pay(payment, name, card, expires, now)
  if (at_checkout !== "requires_authentication") return decline(explainDecline(at_checkout.decline))
  return { payment: { ...payment, asked_owner: { plays: name, expires } }, answer: { kind: "requires_authentication" } }
}

const answerBank = (payment: SimulatedPayment, isConfirmed: boolean, now: string): CheckoutStep => {
  const { asked_owner } = payment
  const card = findTestCard(asked_owner?.plays ?? null)
  if (asked_owner === null || card === undefined) return { answer: { kind: "declined", problem: declined } }
  if (isConfirmed) return pay(payment, asked_owner.plays, card, asked_owner.expires, now)
  return {
    payment: { ...payment, asked_owner: null },
    ...decline(explainDecline("payment_intent_authentication_failure"))
  }
}

export const makeCheckout = ({ change }: SimulatorState) => {
  const step = (reference: string, decide: (payment: SimulatedPayment, now: string) => CheckoutStep) =>
    change(reference, (payment, now) => findEnd(payment, now) ?? decide(payment, now))
  return {
    /** The current step of the payment; undefined if the customer has to enter a card. */
    currentStep: (reference: string): Refusable<CheckoutResult | undefined> =>
      change<CheckoutResult | undefined>(reference, (payment, now) => {
        const answer = payment.asked_owner === null ? undefined : ({ kind: "requires_authentication" } as const)
        return findEnd(payment, now) ?? { answer }
      }),
    pay: (reference: string, entered: EnteredCard): Refusable<CheckoutResult> =>
      step(reference, (payment, now) => payWith(payment, entered, now)),
    answerBank: (reference: string, isConfirmed: boolean): Refusable<CheckoutResult> =>
      step(reference, (payment, now) => answerBank(payment, isConfirmed, now))
  }
}
