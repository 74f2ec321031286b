/**
 * A payment by a person: on the processor's page with a new card, which is then saved, or directly with the saved card.
 * The payment is recorded as `open` before the processor is asked for it.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { cheapestPayment, dearestPayment, isPayable, usdText } from "./amounts.ts"
import { BillingUnavailable, InvalidChoice, NoSavedCard, type SavedCard, type TopUp } from "./billing.ts"
import { type BillingNeeds, nowText } from "./book.ts"
import type { Resolve } from "./in-doubt.ts"
import {
  findPayment,
  insertPayment,
  markAsked,
  markLost,
  newPayment,
  type PaymentRow,
  setReference
} from "./payment-rows.ts"
import type { Reconcile } from "./reconcile.ts"
import { cardText, findCustomer, savedCardOf } from "./saved-card.ts"

/** The same form sent twice by the same account gives the same id. 120 bits. */
const paymentIdOf = (account_id: string, submission: string) =>
  `pay_${createHash("sha256").update(`${account_id}\n${submission}`).digest("hex").slice(0, 30)}`

export const payable = (cents: number) =>
  isPayable(cents)
    ? Effect.void
    : new InvalidChoice({
        field: "cents",
        problem: `The amount must be from ${usdText(cheapestPayment)} to ${usdText(dearestPayment)}, in whole cents.`
      })

const sentBefore = new InvalidChoice({
  field: "submission",
  problem: "This form was already sent with a different amount. Reload the page."
})
const sentElsewhere = new InvalidChoice({
  field: "submission",
  problem: "This form was already sent to another card processor. Reload the page."
})
const sentIncomplete = new InvalidChoice({
  field: "submission",
  problem: "The form arrived incomplete, and nothing was charged. Reload the page."
})

/**
 * The saved card has changed since the form was shown, so the card that the person saw would not be the one charged.
 */
const otherCard = (card: SavedCard) =>
  new InvalidChoice({
    field: "card",
    problem: `Nothing was charged: another card was saved since this page was opened, ${cardText(card)}.`
  })

export const makeTopUp = ({ database, processor }: BillingNeeds, charge: Reconcile["charge"], resolve: Resolve) => {
  /** Creates the payment of this form; `isNew` is false if it already existed. */
  const begin = Effect.fnUntraced(function* ({ account_id, card: shown, cents, person_id, submission }: TopUp) {
    const now = yield* nowText
    const customer = yield* findCustomer(database, processor.name, account_id)
    const id = paymentIdOf(account_id, submission)
    const before = yield* findPayment(database, id)
    if (before !== undefined) return { payment: before, isNew: false }
    if (shown !== null) {
      const saved = savedCardOf(customer)
      if (saved === null) return yield* new NoSavedCard()
      if (saved.mark !== shown) return yield* otherCard(saved)
    }
    const given = { id, account_id, cents, processor: processor.name, created_by: person_id, created_at: now }
    const noCard = { card: null, card_brand: null, card_last4: null }
    const paidWith = customer && (shown === null ? { ...customer, ...noCard } : customer)
    const payment = newPayment({ ...given, kind: "top_up" }, paidWith)
    if (yield* insertPayment(database, payment)) return { payment, isNew: true }
    // the same form was sent concurrently and inserted first
    return { payment: (yield* findPayment(database, id)) ?? payment, isNew: false }
  })

  /** Returns the same page if the form was sent twice; undefined if the payment is already decided. */
  const checkout = Effect.fn("Billing.checkout")(function* (
    { account_id, cents, created_at, customer, id }: PaymentRow,
    { cancel_url, email, success_url }: TopUp
  ) {
    if (!(yield* markAsked(database, id, yield* nowText))) return undefined
    const page = yield* processor.checkout({
      payment_id: id,
      account_id,
      cents,
      created_at,
      email,
      customer,
      success_url: success_url(id),
      cancel_url: cancel_url(id)
    })
    yield* setReference(database, id, page.reference)
    return page.url
  })

  /** Marks the payment as failed, with the reason. Another attempt is another payment. */
  const refuse = Effect.fnUntraced(function* ({ id }: PaymentRow, problem: string) {
    yield* markLost(database, id, { state: "failed", problem, card: null }, yield* nowText)
    return undefined
  })

  /** Uninterruptible: a browser that disconnects does not stop it half-way. */
  return Effect.fn("Billing.topUp")(function* (asked: TopUp) {
    yield* payable(asked.cents)
    if (asked.submission === "") return yield* sentIncomplete // all payments of the account would share one id
    const { isNew, payment } = yield* begin(asked)
    if (payment.cents !== asked.cents) return yield* sentBefore
    if (payment.processor !== processor.name) return yield* sentElsewhere
    if (payment.card === null) {
      // it may be paid by now, and a processor that has forgotten the first page would create a second one
      if (!isNew) yield* resolve(payment)
      const url = yield* checkout(payment, asked).pipe(
        Effect.catchTag("ProcessorUnavailable", (error) =>
          Effect.logWarning(error.message, { payment_id: payment.id }).pipe(
            Effect.andThen(
              new BillingUnavailable({
                problem: "The card processor does not answer. Nothing was charged. Try again in a moment."
              })
            )
          )
        ),
        Effect.catchTag("PaymentRefused", ({ problem }) => refuse(payment, problem))
      )
      return { url, id: payment.id }
    }
    // if it is not new, another request of this form has charged the card or is charging it: never charge twice
    if (isNew) {
      yield* charge(payment).pipe(
        Effect.catchTag("ProcessorUnavailable", (error) =>
          Effect.logWarning(`${error.message}. The payment is reconciled later.`, { payment_id: payment.id })
        )
      )
    }
    return { url: undefined, id: payment.id }
  }, Effect.uninterruptible)
}
