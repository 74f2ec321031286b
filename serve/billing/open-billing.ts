/**
 * `Billing` over a card processor. What runs beside the calls ends with the scope; what a killed server has begun is
 * finished by the next one.
 */
import { Effect, Layer } from "effect"
import { ConsoleDatabase } from "../console-database/console-database.ts"
import { Administration } from "../ledger/administration.ts"
import { creditsPerCent, highestTrigger, isTrigger, lowestTrigger, usdText } from "./amounts.ts"
import {
  Billing,
  type BillingSettings,
  BillingUnavailable,
  InvalidChoice,
  NoSavedCard,
  type RechargeChoice,
  type TopUp,
  UnknownPayment
} from "./billing.ts"
import {
  clearCard,
  endRechargesElsewhere,
  findCustomer,
  findRecharge,
  savedCardOf,
  saveRecharge,
  switchOff
} from "./card-rows.ts"
import { findPayment, findPaymentOf, payerOf, paymentsBefore, paymentsOfAccount, shown } from "./payment-rows.ts"
import { type CardProcessor, ForgedEvent } from "./processor.ts"
import { makePursue } from "./pursue.ts"
import { makeRecharge } from "./recharge.ts"
import { makeSettle, nowText } from "./settle.ts"
import { makeTopUp, payable } from "./top-up.ts"
import { makeWatch } from "./watch.ts"

/** Where nobody has chosen yet. */
const firstChoice: RechargeChoice = { is_on: false, cents: 100_00, trigger_credits: 10_000 }

const cardStays =
  "The card processor does not answer, so the card is still saved there. Auto-recharge is off, and nothing charges the card by itself any more. Remove it again in a moment."

const notNow = "Payments cannot be looked at now. What was begun is finished by itself; try again in a moment."

type ForCallers = InvalidChoice | NoSavedCard | UnknownPayment | ForgedEvent | BillingUnavailable
const isForCallers = <E>(error: E): error is Extract<E, ForCallers> =>
  error instanceof InvalidChoice ||
  error instanceof NoSavedCard ||
  error instanceof UnknownPayment ||
  error instanceof ForgedEvent ||
  error instanceof BillingUnavailable

/** Callers get a sentence for the customer; the cause is for the operator. */
const told = <A, E extends Error>(
  work: Effect.Effect<A, E>
): Effect.Effect<A, Extract<E, ForCallers> | BillingUnavailable> =>
  Effect.catch(work, (error): Effect.Effect<never, Extract<E, ForCallers> | BillingUnavailable> => {
    if (isForCallers(error)) return Effect.fail(error)
    return Effect.andThen(Effect.logWarning(error.message), Effect.fail(new BillingUnavailable({ problem: notNow })))
  })

const validTrigger = (credits: number) =>
  isTrigger(credits)
    ? Effect.void
    : new InvalidChoice({
        field: "trigger_credits",
        problem: `A recharge starts below a balance of at least ${usdText(lowestTrigger / creditsPerCent)} and at most ${usdText(highestTrigger / creditsPerCent)}.`
      })

/** The saved card, and when it is charged by itself. */
const makeSettings = (database: ConsoleDatabase["Service"], processor: CardProcessor) => {
  const settings = Effect.fnUntraced(function* (account_id: string) {
    const card = savedCardOf(yield* findCustomer(database, processor.name, account_id))
    const recharge = yield* findRecharge(database, account_id)
    const { cents, is_on, trigger_credits } = recharge ?? firstChoice
    return {
      card,
      recharge: {
        is_on,
        cents,
        trigger_credits,
        off_reason: recharge?.off_reason ?? null,
        running: recharge?.running != null
      }
    } satisfies BillingSettings
  })
  return {
    settings,
    save: Effect.fn("Billing.saveRecharge")(function* (account_id: string, choice: RechargeChoice) {
      yield* payable(choice.cents)
      yield* validTrigger(choice.trigger_credits)
      const now = yield* nowText
      yield* database.transaction((db) =>
        Effect.gen(function* () {
          const card = savedCardOf(yield* findCustomer(db, processor.name, account_id))
          if (choice.is_on && card === null) return yield* new NoSavedCard()
          yield* saveRecharge(db, account_id, choice, now)
        })
      )
      return yield* settings(account_id)
    }),
    /** Nothing is charged any more from the first step on, also where the processor does not answer to the second. */
    removeCard: Effect.fn("Billing.removeCard")(function* (account_id: string) {
      const card = (yield* findCustomer(database, processor.name, account_id))?.card
      if (card != null) {
        yield* switchOff(database, account_id, "The saved card was removed.", yield* nowText)
        yield* processor
          .forget(card)
          .pipe(
            Effect.catchTag("ProcessorUnavailable", (error) =>
              Effect.andThen(Effect.logWarning(error.message), new BillingUnavailable({ problem: cardStays }))
            )
          )
        yield* clearCard(database, account_id, card)
      }
      return yield* settings(account_id)
    }, Effect.uninterruptible)
  }
}

export const openBilling = Effect.fn("Billing.open")(function* (processor: CardProcessor) {
  const database = yield* ConsoleDatabase
  const administration = yield* Administration
  const needs = { administration, database, processor }
  const settle = makeSettle(needs)
  const pursuit = makePursue(needs, settle)
  const recharge = yield* makeRecharge(needs, pursuit)
  const { removeCard, save, settings } = makeSettings(database, processor)
  const topUp = makeTopUp(needs, pursuit)

  const find = Effect.fnUntraced(function* (account_id: string, id: string) {
    return (yield* findPaymentOf(database, account_id, id)) ?? (yield* new UnknownPayment({ id }))
  })

  const known = Effect.fnUntraced(function* (account_id: string, id: string) {
    const [payment] = yield* shown(database, [yield* find(account_id, id)])
    return payment ?? (yield* new UnknownPayment({ id }))
  })

  /** As it is now. What cannot be known now is open, and no failure. */
  const payment = Effect.fn("Billing.payment")(function* (account_id: string, id: string) {
    const before = yield* find(account_id, id)
    if (before.state === "open" && before.processor === processor.name) {
      yield* pursuit
        .look(before)
        .pipe(
          Effect.catch((error) => Effect.logWarning(`${error.message}. It is looked at again.`, { payment_id: id }))
        )
    }
    return yield* known(account_id, id)
  })

  const receipt = Effect.fn("Billing.receipt")(function* (account_id: string, id: string) {
    const paid = yield* known(account_id, id)
    if (paid.state !== "succeeded") return yield* new UnknownPayment({ id })
    const { name } = yield* administration.account({ account_id })
    const email = yield* payerOf(database, yield* find(account_id, id))
    return { account: { id: account_id, name }, email, payment: paid }
  })

  const payments = Effect.fn("Billing.payments")(function* (
    account_id: string,
    { before, limit }: { readonly before: string | null; readonly limit: number }
  ) {
    if (before === null) return yield* shown(database, yield* paymentsOfAccount(database, account_id, limit))
    const last = yield* findPaymentOf(database, account_id, before)
    if (last === undefined) return []
    return yield* shown(database, yield* paymentsBefore(database, last, limit))
  })

  /** Its money is nobody's credits until a person has looked. Sending the event again would change nothing. */
  const tellUnknown = (payment_id: string) =>
    Effect.logError(
      `An event of ${processor.name} tells of payment ${payment_id}, which is not known here; a restored backup does not know what was paid after it was made. Look it up at ${processor.name}: where an account of this ledger has paid, credit it by hand with: larder-serve accounts credit --account ID --usd AMOUNT --note ${payment_id}`
    )

  const webhook = Effect.fn("Billing.webhook")(function* (body: string, header: (name: string) => string | null) {
    for (const id of new Set(yield* processor.paymentsOf(body, header))) {
      const about = yield* findPayment(database, id)
      if (about?.processor === processor.name) yield* pursuit.look(about)
      else yield* tellUnknown(id)
    }
  })

  yield* endRechargesElsewhere(database, processor.name)
  yield* makeWatch(needs, {
    ...pursuit,
    // a recharge that was in doubt may have been given up, and nobody calls while the balance is used up
    pursue: (payment) =>
      Effect.tap(pursuit.pursue(payment), () =>
        Effect.sync(() => payment.kind === "auto_recharge" && recharge.mark(payment.account_id))
      )
  })
  yield* recharge.run

  const payNow = Effect.fnUntraced(function* (asked: TopUp) {
    const { id, url } = yield* topUp(asked)
    if (url !== undefined) return { redirect: url }
    // it has just been written
    return { payment: yield* Effect.catchTag(known(asked.account_id, id), "UnknownPayment", Effect.die) }
  })

  return Billing.of({
    topUp: (asked) => told(payNow(asked)),
    payment: (account_id, id) => told(payment(account_id, id)),
    payments: (account_id, page) => told(payments(account_id, page)),
    receipt: (account_id, id) => told(receipt(account_id, id)),
    settings: (account_id) => told(settings(account_id)),
    saveRecharge: (account_id, choice) =>
      told(Effect.tap(save(account_id, choice), () => Effect.sync(() => recharge.mark(account_id)))),
    removeCard: (account_id) => told(removeCard(account_id)),
    webhook: (body, header) => told(webhook(body, header)),
    charged: recharge.mark
  })
})

export const billing = (processor: CardProcessor) => Layer.effect(Billing, openBilling(processor))
