/** The customer's actions on the payment page and on the page of the card's bank. */
import { Effect } from "effect"
import { declined, problemOf } from "../stripe/declines.ts"
import { isExpired, type Read, readCard, succeeded, type Typed } from "./payment-state.ts"
import type { SimulatedPayment } from "./records.ts"
import { newId, outcomesOf, type Refusable, type SimulatorState, type Step } from "./state.ts"
import { type TestCard, testCardOf } from "./test-cards.ts"

/** The result that the page shows next. */
export type Paying =
  | { readonly kind: "paid"; readonly url: string }
  | { readonly kind: "asks_owner" }
  | { readonly kind: "declined"; readonly problem: string }
  | { readonly kind: "wrong"; readonly problems: Partial<Record<keyof Typed, string>> }
  | { readonly kind: "over" }

export interface PaymentPage {
  /** The current step of the payment; undefined if the customer has to enter a card. */
  readonly stage: (reference: string) => Refusable<Paying | undefined>
  readonly pay: (reference: string, typed: Typed) => Refusable<Paying>
  /** The cardholder's answer on the bank's page. */
  readonly ownerSays: (reference: string, isConfirmed: boolean) => Refusable<Paying>
}

const paid = (payment: SimulatedPayment): Paying => ({ kind: "paid", url: payment.success_url ?? "/" })

/** The answer for a payment that can no longer be made. */
const ended = (payment: SimulatedPayment, now: string): Step<Paying> | undefined => {
  if (payment.state === "succeeded") return { answer: paid(payment) }
  return payment.state === "failed" || isExpired(payment, now) ? { answer: { kind: "over" } } : undefined
}

const pay = (
  payment: SimulatedPayment,
  plays: string,
  testCard: TestCard,
  expires: string,
  now: string
): Step<Paying> => {
  const id = newId("card")
  const customer = payment.customer ?? newId("cus")
  const card = { id, brand: testCard.brand, last4: testCard.number.slice(-4), expires }
  const settled = succeeded(payment, { customer, card, plays }, newId("dp"), now)
  return {
    payment: settled,
    tell: outcomesOf(settled),
    saved: { id, value: { customer, card, plays } },
    answer: paid(payment)
  }
}

const payWith = (payment: SimulatedPayment, read: Read, now: string): Step<Paying> => {
  if ("problems" in read) return { answer: { kind: "wrong", problems: read.problems } }
  if ("declined" in read) return { answer: { kind: "declined", problem: read.declined } }
  const { card, expires, name } = read
  const { at_checkout } = card
  if (at_checkout === "pays") return pay(payment, name, card, expires, now)
  if (at_checkout === "asks_owner") {
    return { payment: { ...payment, asked_owner: { plays: name, expires } }, answer: { kind: "asks_owner" } }
  }
  return {
    tell: [{ type: "payment_intent.payment_failed" }],
    answer: { kind: "declined", problem: problemOf(at_checkout.decline) }
  }
}

const atBank = (payment: SimulatedPayment, isConfirmed: boolean, now: string): Step<Paying> => {
  const { asked_owner } = payment
  const card = testCardOf(asked_owner?.plays ?? null)
  if (asked_owner === null || card === undefined) return { answer: { kind: "declined", problem: declined } }
  if (isConfirmed) return pay(payment, asked_owner.plays, card, asked_owner.expires, now)
  return {
    payment: { ...payment, asked_owner: null },
    tell: [{ type: "payment_intent.payment_failed" }],
    answer: { kind: "declined", problem: problemOf("payment_intent_authentication_failure") }
  }
}

export const paymentPageOf = ({ alter }: SimulatorState): PaymentPage => ({
  stage: (reference) =>
    alter<Paying | undefined>(reference, (payment, now) =>
      Effect.sync(
        () => ended(payment, now) ?? { answer: payment.asked_owner === null ? undefined : { kind: "asks_owner" } }
      )
    ),
  pay: (reference, typed) =>
    alter(reference, (payment, now) =>
      Effect.sync(() => ended(payment, now) ?? payWith(payment, readCard(typed, now), now))
    ),
  ownerSays: (reference, isConfirmed) =>
    alter(reference, (payment, now) => Effect.sync(() => ended(payment, now) ?? atBank(payment, isConfirmed, now)))
})
