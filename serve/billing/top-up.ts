/** A payment by a person, on the processor's page or with the saved card. It is recorded before it is requested. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { formatCents, isValidPayment, maxPayment, minPayment } from "./amounts.ts"
import { charge } from "./charge.ts"
import type { BillingNeeds } from "./needs.ts"
import {
  findPayment,
  insertPayment,
  markRequested,
  markUnpaid,
  newPayment,
  type PaymentRow,
  setReference,
  toPaymentQuery
} from "./payment-rows.ts"
import { BillingUnavailable, InvalidChoice, NoSavedCard, type TopUp } from "./payments.ts"
import { retryOrExpire } from "./retry-or-expire.ts"
import { findCustomer, formatCard, toSavedCard } from "./saved-card.ts"
import { nowText } from "./times.ts"

/** The same form sent twice by the same account gives the same id. 120 bits. */
const derivePaymentId = (account_id: string, submission: string) =>
  `pay_${createHash("sha256").update(`${account_id}\n${submission}`).digest("hex").slice(0, 30)}`

export const checkAmount = (cents: number) =>
  isValidPayment(cents)
    ? Effect.void
    : new InvalidChoice({
        field: "cents",
        problem: `The amount must be from ${formatCents(minPayment)} to ${formatCents(maxPayment)}, in whole cents.`
      })

const noResponse = "The card processor does not respond. Nothing was charged. Try again in a moment."

const rejectForm = (problem: string) =>
  new InvalidChoice({ field: "submission", problem: `${problem} Reload the page.` })

const suspended = new InvalidChoice({
  field: "submission",
  problem: "This account is suspended, and cannot buy credits. Nothing was charged."
})

export const makeTopUp = (needs: BillingNeeds) => {
  const { administration, database, processor } = needs
  const requireActive = (account_id: string) =>
    administration.account({ account_id }).pipe(
      Effect.mapError(({ message }) => new BillingUnavailable({ problem: `${message}. Nothing was charged.` })),
      Effect.flatMap(({ suspended_at }) => (suspended_at === null ? Effect.void : Effect.fail(suspended)))
    )

  /** The payment of this form; `isNew` is false if it already existed. */
  const findOrCreate = Effect.fnUntraced(function* ({ account_id, card: shown, cents, person_id, submission }: TopUp) {
    const now = yield* nowText
    const customer = yield* findCustomer(database, processor.name, account_id)
    const id = derivePaymentId(account_id, submission)
    const existing = yield* findPayment(database, id)
    if (existing !== undefined) return { payment: existing, isNew: false }
    if (shown !== null) {
      const saved = toSavedCard(customer)
      if (saved === null) return yield* new NoSavedCard()
      if (saved.fingerprint !== shown) {
        // the person saw a different card from the one that would be charged
        const problem = `Nothing was charged: another card was saved since this page was opened, ${formatCard(saved)}.`
        return yield* new InvalidChoice({ field: "card", problem })
      }
    }
    const columns = { id, account_id, cents, processor: processor.name, created_by: person_id, created_at: now }
    const noCard = { card: null, card_brand: null, card_last4: null }
    const usedCard = customer && (shown === null ? { ...customer, ...noCard } : customer)
    const payment = newPayment({ ...columns, kind: "top_up" }, usedCard)
    if (yield* insertPayment(database, payment)) return { payment, isNew: true }
    // the same form was sent concurrently and inserted first
    return { payment: (yield* findPayment(database, id)) ?? payment, isNew: false }
  })

  /** Returns the same page if the form was sent twice; undefined if the payment is already decided. */
  const openPage = Effect.fn("Billing.checkout")(function* (
    payment: PaymentRow,
    { cancel_url, email, success_url }: TopUp
  ) {
    const { id } = payment
    if (!(yield* markRequested(database, id, yield* nowText))) return undefined
    const page = yield* processor.checkout({
      ...toPaymentQuery(payment),
      email,
      success_url: success_url(id),
      cancel_url: cancel_url(id)
    })
    yield* setReference(database, id, page.reference)
    return page.url
  })

  /** Marks the payment as failed: another attempt is another payment. */
  const markFailed = Effect.fnUntraced(function* ({ id }: PaymentRow, problem: string) {
    yield* markUnpaid(database, id, { state: "failed", problem, card: null }, yield* nowText)
    return undefined
  })

  /** Uninterruptible: a browser that disconnects does not stop it half-way. */
  return Effect.fn("Billing.topUp")(function* (request: TopUp) {
    yield* checkAmount(request.cents)
    if (request.submission === "") {
      // all payments of the account would share one id
      return yield* rejectForm("The form arrived incomplete, and nothing was charged.")
    }
    yield* requireActive(request.account_id)
    const { isNew, payment } = yield* findOrCreate(request)
    if (payment.cents !== request.cents) return yield* rejectForm("This form was already sent with a different amount.")
    if (payment.processor !== processor.name) {
      return yield* rejectForm("This form was already sent to another card processor.")
    }
    if (payment.card === null) {
      // it may be paid by now, and a processor that has deleted the first page's id would create a second page
      if (!isNew) yield* retryOrExpire(needs, payment)
      const url = yield* openPage(payment, request).pipe(
        Effect.catchTag("ProcessorUnavailable", (error) =>
          Effect.andThen(
            Effect.logWarning(error.message, { payment_id: payment.id }),
            new BillingUnavailable({ problem: noResponse })
          )
        ),
        Effect.catchTag("PaymentRefused", ({ problem }) => markFailed(payment, problem))
      )
      return { url, id: payment.id }
    }
    // otherwise another request of this form has charged the card or is charging it: never charge twice
    if (isNew) {
      yield* charge(needs, payment).pipe(
        Effect.catchTag("ProcessorUnavailable", (error) =>
          Effect.logWarning(`${error.message}. The payment is reconciled later.`, { payment_id: payment.id })
        )
      )
    }
    return { url: undefined, id: payment.id }
  }, Effect.uninterruptible)
}
