/** State changes of a simulated payment, and the check of an entered card. */
import { randomString } from "../../ledger/index.ts"
import type { RetrievedPayment } from "../processor.ts"
import { explainDecline } from "../stripe/declines.ts"
import type { SimulatedCard, SimulatedPayment } from "./records.ts"
import { findTestCard, findTestCardName, isCardNumber, type TestCard } from "./test-cards.ts"

/** One day, as at Stripe. */
export const pageLifetimeMs = 86_400_000
export const refundFailureDelayMs = 5000

export const toIso = (milliseconds: number): string => new Date(milliseconds).toISOString()

export const toReference = (paymentId: string): string => `sim_${paymentId}`

export const newSimulatedId = (prefix: string): string => `${prefix}_sim_${randomString(16)}`

export const isPageExpired = ({ expires_at, state }: SimulatedPayment, now: string): boolean =>
  state === "open" && expires_at !== null && expires_at <= now

export const toRetrieved = (payment: SimulatedPayment, now: string): RetrievedPayment => ({
  state: isPageExpired(payment, now) ? "expired" : payment.state,
  reference: toReference(payment.payment_id),
  cents: payment.state === "succeeded" ? payment.cents : 0,
  problem: payment.state === "failed" ? payment.problem : null,
  customer: payment.customer,
  card: payment.card,
  reversed: payment.refunds.map(({ cents, fails_at, id }) => ({
    id,
    kind: "refund",
    cents,
    state: fails_at !== null && fails_at <= now ? "returned" : "taken",
    is_lost: false
  }))
})

export const sumRemainingCents = ({ cents, reversed }: RetrievedPayment): number =>
  reversed.reduce((remaining, { cents, state }) => (state === "taken" ? remaining - cents : remaining), cents)

export const completePayment = (payment: SimulatedPayment, usedCard: SimulatedCard): SimulatedPayment => ({
  ...payment,
  ...usedCard,
  state: "succeeded",
  problem: null,
  asked_owner: null
})

/** Returns the payment after charging a saved card off-session; `saved` is undefined if the card is unknown. */
export const chargeSaved = (payment: SimulatedPayment, saved: SimulatedCard | undefined): SimulatedPayment => {
  if (saved === undefined || saved.customer !== payment.customer) {
    return { ...payment, state: "failed", problem: "The card is no longer saved." }
  }
  const { card, plays } = saved
  const outcome = findTestCard(plays)?.at_later_charge ?? "paid"
  return outcome === "paid"
    ? completePayment(payment, saved)
    : { ...payment, card, plays, state: "failed", problem: explainDecline(outcome.decline) }
}

export interface EnteredCard {
  readonly number: string
  readonly expires: string
  readonly cvc: string
}

/** `MM/YYYY` from input (`4/30`, `04 / 2030`); undefined if it is not a month. */
const parseExpiry = (text: string): string | undefined => {
  const [, month, year] = /^(0?[1-9]|1[0-2])\/(?:20)?(\d\d)$/.exec(text.replace(/\s/g, "")) ?? []
  return month === undefined ? undefined : `${month.padStart(2, "0")}/20${year}`
}

type CheckedCard =
  | { readonly kind: "accepted"; readonly name: string; readonly expires: string; readonly card: TestCard }
  | { readonly kind: "invalid"; readonly problems: Partial<Record<keyof EnteredCard, string>> }
  | { readonly kind: "declined"; readonly problem: string }

export const checkCard = ({ cvc, expires, number }: EnteredCard, now: string): CheckedCard => {
  const digits = number.replace(/[\s-]/g, "")
  const expiry = parseExpiry(expires)
  const hasExpired = expiry !== undefined && `${expiry.slice(3)}-${expiry.slice(0, 2)}` < now.slice(0, 7)
  const problems = {
    ...(isCardNumber(digits) ? {} : { number: "This is not a card number." }),
    ...(expiry === undefined ? { expires: "Enter month and year, such as 04/30." } : {}),
    ...(hasExpired ? { expires: "The card has expired." } : {}),
    ...(/^\d{3,4}$/.test(cvc.trim()) ? {} : { cvc: "Enter the three or four digits." })
  }
  if (expiry === undefined || Object.keys(problems).length > 0) return { kind: "invalid", problems }
  const name = findTestCardName(digits)
  const card = findTestCard(name ?? null)
  return name === undefined || card === undefined
    ? { kind: "declined", problem: "The card was declined. Only the test cards below are accepted here." }
    : { kind: "accepted", name, card, expires: expiry }
}
