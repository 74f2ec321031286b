/**
 * Books payments in the ledger as the processor reports them: adds the credits of a captured payment, and deducts
 * the credits of a refund or dispute. No other code turns money into credits. It may receive the same state any number
 * of times, in any order, from several servers at once, and may be killed between any two steps: each booking contains
 * the id of its payment, refund or dispute, and the ledger books each id once. The ledger is the authority: a booking
 * is written there first, and then in the console's tables.
 */
import { Effect, Option, Stream } from "effect"
import type { Entry } from "../ledger/index.ts"
import { centsToCredits, creditsToCents, formatCents } from "./amounts.ts"
import type { BillingNeeds } from "./needs.ts"
import {
  findReversals,
  markSucceeded,
  markUnpaid,
  type PaymentRow,
  saveReversal,
  setReference,
  type UnpaidOutcome
} from "./payment-rows.ts"
import type { RetrievedPayment, RetrievedReversal } from "./processor.ts"
import { endRecharge, switchOff } from "./recharges/rows.ts"
import { findCustomer, formatCard, saveCard, tryToDetachCard } from "./saved-card.ts"
import { formatMinute, nowText } from "./times.ts"

/** The type of a reversal's entries and, for the entry that returns its credits, the reference's suffix and the note. */
const bookings = {
  refund: { type: "refund", suffix: "failed", returnNote: "failed refund" },
  dispute: { type: "adjustment", suffix: "won", returnNote: "dispute that was won" }
} as const

const describeCard = ({ card_brand: brand, card_last4: last4 }: PaymentRow) =>
  brand === null || last4 === null ? "" : ` with ${formatCard({ brand, last4 })}`

const bookCapturedPayment = Effect.fnUntraced(function* (
  needs: BillingNeeds,
  payment: PaymentRow,
  { card, customer }: RetrievedPayment
) {
  const { administration, database } = needs
  const { account_id, cents, id, kind } = payment
  const note = `${formatCents(cents)} by card${card === null ? "" : `, ${formatCard(card)}`}`
  yield* administration.book({ account_id, type: kind, credits: centsToCredits(cents), reference: id, note })
  const now = yield* nowText
  const booked = yield* database.transaction(
    Effect.fnUntraced(function* (db) {
      // lock the payment first, as everywhere else: two servers that lock in different orders would deadlock
      const isNew = yield* markSucceeded(db, id, card, now)
      yield* endRecharge(db, account_id, id)
      if (!isNew) return undefined
      // a saved card may have been removed in the meantime
      if (payment.card !== null || card === null || customer === null) return { cardToDetach: null }
      return { cardToDetach: yield* saveCard(db, payment, customer, card, now) }
    })
  )
  if (booked === undefined) return
  yield* Effect.logInfo("payment booked", { payment_id: id, account: account_id, cents })
  if (booked.cardToDetach !== null) yield* tryToDetachCard(needs, booked.cardToDetach)
})

const recordUnpaid = Effect.fnUntraced(function* (
  { database, processor, requestEvaluation }: BillingNeeds,
  payment: PaymentRow,
  outcome: UnpaidOutcome
) {
  const { account_id, cents, id } = payment
  const now = yield* nowText
  const reason = `A recharge of ${formatCents(cents)}${describeCard(payment)} failed on ${formatMinute(now)}. ${outcome.problem}`
  yield* database.transaction(
    Effect.fnUntraced(function* (db) {
      yield* markUnpaid(db, id, outcome, now)
      // a failure of a replaced card does not concern the new card
      const saved = (yield* findCustomer(db, processor.name, account_id))?.card ?? payment.card
      const hasSavedCardFailed = outcome.state === "failed" && saved === payment.card
      const wasRunning = yield* endRecharge(db, account_id, id)
      if (wasRunning && hasSavedCardFailed) yield* switchOff(db, account_id, reason, now)
    })
  )
  // evaluate now: if the balance is too low, no charged call will trigger it
  if (payment.kind === "auto_recharge") requestEvaluation(account_id)
})

/**
 * Deducts the credits and returns the deducted cents. If another server has deducted a different amount, and was
 * killed before it recorded the reversal, returns the amount in the ledger.
 */
const deduct = Effect.fnUntraced(function* (
  { administration }: BillingNeeds,
  { account_id, id: payment_id }: PaymentRow,
  { cents, id, kind }: RetrievedReversal
) {
  const { type } = bookings[kind]
  const note = `${kind}, payment ${payment_id}`
  const credits = -centsToCredits(cents)
  const { booked } = yield* administration.book({ account_id, type, credits, reference: id, note })
  if (booked) return cents
  const isBooking = (entry: Entry) => entry.type === type && entry.request_id === id
  const entry = yield* administration.entriesOf(account_id).pipe(Stream.filter(isBooking), Stream.runHead)
  if (Option.isNone(entry)) return yield* Effect.die(new Error(`the ledger has booked ${id} but has no entry for it`))
  return creditsToCents(-entry.value.credits)
})

const returnCredits = (
  { administration }: BillingNeeds,
  { account_id, id: payment_id }: PaymentRow,
  { cents, id, kind }: RetrievedReversal
) => {
  const { returnNote, suffix, type } = bookings[kind]
  const note = `${returnNote}, payment ${payment_id}`
  return administration.book({ account_id, type, credits: centsToCredits(cents), reference: `${id}:${suffix}`, note })
}

/** Books first, then records the reversal. After a crash in between, the ledger ignores the repeated booking. */
const bookReversal = Effect.fnUntraced(function* (
  needs: BillingNeeds,
  payment: PaymentRow,
  retrieved: RetrievedReversal,
  isRecorded: boolean
) {
  const { account_id, id } = payment
  const reversed = { ...retrieved, cents: isRecorded ? retrieved.cents : yield* deduct(needs, payment, retrieved) }
  if (reversed.state === "returned") yield* returnCredits(needs, payment, reversed)
  const now = yield* nowText
  yield* needs.database.transaction((db) => saveReversal(db, payment, reversed, now))
  yield* Effect.logInfo("refund or dispute booked", {
    kind: reversed.kind,
    state: reversed.is_lost ? "lost" : reversed.state,
    reversal_id: reversed.id,
    payment_id: id,
    account: account_id
  })
})

export const book = Effect.fn("Billing.book")(function* (
  needs: BillingNeeds,
  payment: PaymentRow,
  retrieved: RetrievedPayment
) {
  const { database, processor } = needs
  if (payment.reference !== retrieved.reference) yield* setReference(database, payment.id, retrieved.reference)
  if (retrieved.state === "open") return
  if (retrieved.state !== "succeeded") {
    const { card, problem, state } = retrieved
    return yield* recordUnpaid(needs, payment, { state, problem: problem ?? "The payment was not completed.", card })
  }
  if (retrieved.cents !== payment.cents) {
    const reason =
      retrieved.problem ?? `${formatCents(retrieved.cents)} was received instead of ${formatCents(payment.cents)}.`
    yield* Effect.logError(
      `Payment ${payment.id} of account ${payment.account_id}: ${reason} No credits were added. Refund ${retrieved.reference} at ${processor.name}, or credit the account manually.`
    )
    const problem = `${reason} No credits were added; the operator has been notified.`
    return yield* recordUnpaid(needs, payment, { state: "failed", problem, card: retrieved.card })
  }
  if (payment.state !== "succeeded") yield* bookCapturedPayment(needs, payment, retrieved)
  const byId = new Map((yield* findReversals(database, [payment])).map((reversal) => [reversal.id, reversal]))
  for (const reversed of retrieved.reversed) {
    const recorded = byId.get(reversed.id)
    // use the recorded amount, even if the processor now reports a different one
    const cents = recorded?.cents ?? reversed.cents
    const hasChanged = recorded?.state !== reversed.state || (reversed.is_lost && !recorded?.is_lost)
    // a dispute of money that was already refunded has no amount left
    const isDue = cents > 0 && recorded?.state !== "returned" && hasChanged
    if (isDue) yield* bookReversal(needs, payment, { ...reversed, cents }, recorded !== undefined)
  }
})
