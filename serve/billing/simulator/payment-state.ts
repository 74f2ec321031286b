/** State changes of a simulated payment. Pure: the caller passes times and ids. */
import type { Card, RetrievedPayment, RetrievedReversal } from "../processor.ts"
import { problemOf } from "../stripe/declines.ts"
import type { SimulatedCard, SimulatedPayment, SimulatedReversal } from "./records.ts"
import { isCardNumber, type TestCard, testCardNamed, testCardOf } from "./test-cards.ts"

/** One day, as at Stripe. */
export const checkoutMilliseconds = 86_400_000
export const refundFailsAfterMilliseconds = 5000

export const referenceOf = (paymentId: string): string => `sim_${paymentId}`

const stateOf = ({ fails_at, kind, outcome }: SimulatedReversal, now: string): RetrievedReversal["state"] => {
  if (kind === "dispute") return outcome === "won" ? "returned" : "taken"
  return fails_at !== null && fails_at <= now ? "returned" : "taken"
}

export const isExpired = ({ expires_at, state }: SimulatedPayment, now: string): boolean =>
  state === "open" && expires_at !== null && expires_at <= now

export const asRetrieved = (payment: SimulatedPayment, now: string): RetrievedPayment => ({
  state: isExpired(payment, now) ? "expired" : payment.state,
  reference: referenceOf(payment.payment_id),
  cents: payment.state === "succeeded" ? payment.cents : 0,
  problem: payment.state === "failed" ? payment.problem : null,
  customer: payment.customer,
  card: payment.card,
  reversed: payment.reversed.map((reversal) => ({
    id: reversal.id,
    kind: reversal.kind,
    cents: reversal.cents,
    state: stateOf(reversal, now),
    is_lost: reversal.outcome === "lost"
  }))
})

/** Cents of a payment that are neither refunded nor disputed. */
export const leftIn = ({ cents, reversed }: RetrievedPayment): number =>
  reversed.reduce((left, { cents, state }) => (state === "taken" ? left - cents : left), cents)
export const leftOf = (payment: SimulatedPayment, now: string): number => leftIn(asRetrieved(payment, now))

/** The payment has succeeded. Some test cards are then disputed automatically. */
export const succeeded = (
  payment: SimulatedPayment,
  paidWith: { readonly customer: string; readonly card: Card; readonly plays: string },
  dispute: string,
  now: string
): SimulatedPayment => ({
  ...payment,
  ...paidWith,
  state: "succeeded",
  problem: null,
  asked_owner: null,
  reversed: testCardOf(paidWith.plays)?.afterwards === "disputed" ? [aDispute(dispute, payment.cents, now)] : []
})

export const aDispute = (id: string, cents: number, now: string): SimulatedReversal => ({
  id,
  kind: "dispute",
  cents,
  outcome: "open",
  fails_at: null,
  made_at: now
})

/** The result of charging a saved card off-session; `saved` is undefined if the card is unknown. */
export const charged = (
  payment: SimulatedPayment,
  saved: SimulatedCard | undefined,
  dispute: string,
  now: string
): SimulatedPayment => {
  if (saved === undefined || saved.customer !== payment.customer) {
    return { ...payment, state: "failed", problem: "The card is no longer saved." }
  }
  const later = testCardOf(saved.plays)?.later ?? "pays"
  const { card, customer, plays } = saved
  return later === "pays"
    ? succeeded(payment, { card, customer, plays }, dispute, now)
    : { ...payment, card, plays, state: "failed", problem: problemOf(later.decline) }
}

export interface Typed {
  readonly number: string
  readonly expires: string
  readonly cvc: string
}

/** `MM/YYYY` from typed text (`4/30`, `04 / 2030`); undefined if it is not a month. */
const expiryOf = (text: string): string | undefined => {
  const [, month, year] = /^(0?[1-9]|1[0-2])\/(?:20)?(\d\d)$/.exec(text.replace(/\s/g, "")) ?? []
  return month === undefined ? undefined : `${month.padStart(2, "0")}/20${year}`
}

export type Read =
  | { readonly problems: Partial<Record<keyof Typed, string>> }
  | { readonly name: string; readonly expires: string; readonly card: TestCard }
  | { readonly declined: string }

/** The test card that was entered, or the problems with the input. */
export const readCard = ({ cvc, expires, number }: Typed, now: string): Read => {
  const digits = number.replace(/[\s-]/g, "")
  const expiry = expiryOf(expires)
  const isOver = expiry !== undefined && `${expiry.slice(3)}-${expiry.slice(0, 2)}` < now.slice(0, 7)
  const problems = {
    ...(isCardNumber(digits) ? {} : { number: "This is not a card number." }),
    ...(expiry === undefined ? { expires: "Enter month and year, such as 04/30." } : {}),
    ...(isOver ? { expires: "The card has expired." } : {}),
    ...(/^\d{3,4}$/.test(cvc.trim()) ? {} : { cvc: "Enter the three or four digits." })
  }
  if (expiry === undefined || Object.keys(problems).length > 0) return { problems }
  const name = testCardNamed(digits)
  const card = testCardOf(name ?? null)
  return name === undefined || card === undefined
    ? { declined: "The card was declined. Only the test cards below are accepted here." }
    : { name, card, expires: expiry }
}
