/**
 * Books the state of a payment at the processor: credits for a captured payment, and less credits for a refund or a
 * dispute. No other code turns money into credits. It is idempotent: it may receive the same state any number of times,
 * in any order, from several servers at the same time, and may be killed between any two steps. Each booking carries the
 * id of its payment, refund or dispute, and the ledger books each id once. The console's tables follow the ledger, never
 * the reverse.
 */
import { Clock, Effect, Option, Stream } from "effect"
import type { Administration, Entry } from "../ledger/index.ts"
import type { ConsoleDatabase } from "../persistence/index.ts"
import { centsOfCredits, creditsOfCents, usdText } from "./amounts.ts"
import { markLost, markSucceeded, type PaymentRow, reversalsOf, saveReversal, setReference } from "./payment-rows.ts"
import type { Card, CardProcessor, RetrievedPayment, RetrievedReversal } from "./processor.ts"
import { endAndSwitchOff, endRecharge, switchOff } from "./recharge-rows.ts"
import { cardText, findCustomer, forgetNow, saveCard } from "./saved-card.ts"

export interface BillingNeeds {
  readonly database: ConsoleDatabase["Service"]
  readonly administration: Administration["Service"]
  readonly processor: CardProcessor
  /** Marks the account for evaluation after a charged call or an unsuccessful recharge. */
  readonly mark: (account_id: string) => void
}

export const nowText = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

/** Names and entry types in the ledger for reversed money, and for reversed money that came back. */
const bookingOf = {
  refund: { type: "refund", ended: "failed", why: "failed refund" },
  dispute: { type: "adjustment", ended: "won", why: "dispute that was won" }
} as const

const withCard = ({ card_brand: brand, card_last4: last4 }: PaymentRow) =>
  brand === null || last4 === null ? "" : ` with ${cardText({ brand, last4 })}`

/** `22 Nov 2026, 15:47` */
const minuteFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" })

export const makeBook = (needs: BillingNeeds) => {
  const { administration, database, mark, processor } = needs

  const capture = Effect.fnUntraced(function* (payment: PaymentRow, { card, customer }: RetrievedPayment) {
    const { account_id, cents, id, kind } = payment
    const note = `${usdText(cents)} by card${card === null ? "" : `, ${cardText(card)}`}`
    yield* administration.book({ account_id, type: kind, credits: creditsOfCents(cents), reference: id, note })
    const now = yield* nowText
    const booked = yield* database.transaction((db) =>
      Effect.gen(function* () {
        // lock the payment first, as everywhere else: two servers that lock in different orders would deadlock
        const isNew = yield* markSucceeded(db, id, card, now)
        yield* endRecharge(db, account_id, id)
        if (!isNew) return undefined
        // a saved card may have been removed in the meantime
        if (payment.card !== null || card === null || customer === null) return { unwanted: null }
        return { unwanted: yield* saveCard(db, payment, customer, card, now) }
      })
    )
    if (booked === undefined) return
    yield* Effect.logInfo("payment booked", { payment_id: id, account_id, cents })
    if (booked.unwanted !== null) yield* forgetNow(needs, booked.unwanted)
  })

  const lost = Effect.fnUntraced(function* (
    payment: PaymentRow,
    outcome: { readonly state: "failed" | "expired"; readonly problem: string; readonly card: Card | null }
  ) {
    const { account_id, cents, id } = payment
    const now = yield* nowText
    const reason = `A recharge of ${usdText(cents)}${withCard(payment)} failed on ${minuteFormat.format(new Date(now))} UTC. ${outcome.problem}`
    yield* database.transaction((db) =>
      Effect.gen(function* () {
        yield* markLost(db, id, outcome, now)
        // the failure of a replaced card says nothing about the new card
        const saved = (yield* findCustomer(db, processor.name, account_id))?.card ?? payment.card
        const isRefused = outcome.state === "failed" && saved === payment.card
        if (isRefused) yield* endAndSwitchOff(db, account_id, id, reason, now)
        else yield* endRecharge(db, account_id, id)
      })
    )
    mark(account_id) // the balance may be too low for the call that would mark it
  })

  /**
   * Takes the credits and returns the cents that were taken. If another server, or a server killed before it recorded
   * them, was first, that server may have seen a smaller refunded part of the payment and have taken more.
   */
  const take = Effect.fnUntraced(function* (
    { account_id, id: payment_id }: PaymentRow,
    { cents, id, kind }: RetrievedReversal
  ) {
    const { type } = bookingOf[kind]
    const note = `${kind}, payment ${payment_id}`
    const credits = -creditsOfCents(cents)
    const { booked } = yield* administration.book({ account_id, type, credits, reference: id, note })
    if (booked) return cents
    const isIt = (entry: Entry) => entry.type === type && entry.request_id === id
    const found = yield* administration.entriesOf(account_id).pipe(Stream.filter(isIt), Stream.runHead)
    if (Option.isNone(found)) return yield* Effect.die(new Error(`the ledger has booked ${id} but has no entry for it`))
    return centsOfCredits(-found.value.credits)
  })

  const giveBack = ({ account_id, id: payment_id }: PaymentRow, { cents, id, kind }: RetrievedReversal) => {
    const { ended, type, why } = bookingOf[kind]
    const note = `${why}, payment ${payment_id}`
    return administration.book({ account_id, type, credits: creditsOfCents(cents), reference: `${id}:${ended}`, note })
  }

  /**
   * Books the credits first and then records the reversal. After a crash between the two steps, the booking is repeated
   * and the ledger ignores it as a duplicate.
   */
  const reverse = Effect.fnUntraced(function* (payment: PaymentRow, seen: RetrievedReversal, isNoted: boolean) {
    const { account_id, id } = payment
    const reversed = { ...seen, cents: isNoted ? seen.cents : yield* take(payment, seen) }
    if (reversed.state === "returned") yield* giveBack(payment, reversed)
    const now = yield* nowText
    yield* database.transaction((db) =>
      Effect.gen(function* () {
        const isNew = yield* saveReversal(db, payment, reversed, now)
        // the cardholder claims that the charge was made without consent: do not charge again
        if (isNew && reversed.kind === "dispute" && reversed.state === "taken") {
          yield* switchOff(db, account_id, `A payment of ${usdText(payment.cents)} was disputed at the bank.`, now)
        }
      })
    )
    yield* Effect.logInfo(`${reversed.kind} ${reversed.is_lost ? "lost" : reversed.state}`, {
      reversal_id: reversed.id,
      payment_id: id,
      account_id
    })
  })

  return Effect.fn("Billing.book")(function* (payment: PaymentRow, retrieved: RetrievedPayment) {
    if (payment.reference !== retrieved.reference) yield* setReference(database, payment.id, retrieved.reference)
    if (retrieved.state === "open") return
    if (retrieved.state !== "succeeded") {
      const { card, problem, state } = retrieved
      return yield* lost(payment, { state, problem: problem ?? "The payment was not completed.", card })
    }
    if (retrieved.cents !== payment.cents) {
      const what = retrieved.problem ?? `${usdText(retrieved.cents)} was received instead of ${usdText(payment.cents)}.`
      const problem = `${what} No credits were added; the operator has been notified.`
      yield* Effect.logError(
        `Payment ${payment.id} of account ${payment.account_id}: ${problem} Refund ${retrieved.reference} at ${processor.name}, or credit the account manually.`
      )
      return yield* lost(payment, { state: "failed", problem, card: retrieved.card })
    }
    if (payment.state !== "succeeded") yield* capture(payment, retrieved)
    const known = new Map((yield* reversalsOf(database, [payment])).map((reversal) => [reversal.id, reversal]))
    for (const reversed of retrieved.reversed) {
      const noted = known.get(reversed.id)
      const cents = noted?.cents ?? reversed.cents // give back the amount that was taken, whatever was refunded since
      const hasChanged = noted?.state !== reversed.state || (reversed.is_lost && !noted?.is_lost)
      // a dispute of money that was already refunded has no amount left
      const isNews = cents > 0 && noted?.state !== "returned" && hasChanged
      if (isNews) yield* reverse(payment, { ...reversed, cents }, noted !== undefined)
    }
  })
}

export type Book = ReturnType<typeof makeBook>
