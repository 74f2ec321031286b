/**
 * `Billing` over a card processor. Background work ends with the scope. The next server finishes work that a killed
 * server began.
 */
import { Effect } from "effect"
import { Administration } from "../ledger/index.ts"
import { ConsoleDatabase } from "../persistence/index.ts"
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
import { type BillingNeeds, makeBook, nowText } from "./book.ts"
import { makeResolve, reconcileInBackground } from "./in-doubt.ts"
import { isSimulated, makePaymentHistory } from "./payment-history.ts"
import { type CardProcessor, ForgedEvent } from "./processor.ts"
import { startRecharges } from "./recharge.ts"
import { endRechargesElsewhere, findRecharge, leaveOff, saveRecharge } from "./recharge-rows.ts"
import { makeReconcile } from "./reconcile.ts"
import { findCustomer, forgetNow, removeCard, savedCardOf } from "./saved-card.ts"
import { makeTopUp, payable } from "./top-up.ts"
import { makeWebhook } from "./webhook.ts"

/** Proposed until a person has chosen. */
const firstChoice: RechargeChoice = { is_on: false, cents: 100_00, trigger_credits: 10_000 }

const notNow =
  "Payments are not available at the moment. Payments that have begun are completed automatically; try again in a moment."

type ForCallers = InvalidChoice | NoSavedCard | UnknownPayment | ForgedEvent | BillingUnavailable
const isForCallers = <E>(error: E): error is Extract<E, ForCallers> =>
  error instanceof InvalidChoice ||
  error instanceof NoSavedCard ||
  error instanceof UnknownPayment ||
  error instanceof ForgedEvent ||
  error instanceof BillingUnavailable

/** Callers get a sentence for the customer; the operator finds the cause in the log. */
const forCallers = <A, E extends Error>(
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
        problem: `The balance that starts a recharge must be from ${usdText(lowestTrigger / creditsPerCent)} to ${usdText(highestTrigger / creditsPerCent)}.`
      })

/** The saved card and the settings of auto-recharge. */
const makeSettings = (needs: BillingNeeds) => {
  const { database, processor } = needs
  const settings = Effect.fnUntraced(function* (account_id: string) {
    const card = savedCardOf(yield* findCustomer(database, processor.name, account_id))
    const recharge = yield* findRecharge(database, account_id)
    const { cents, is_on, trigger_credits } = recharge ?? firstChoice
    return {
      card,
      is_simulated: isSimulated(processor.name),
      recharge: {
        is_on,
        cents,
        trigger_credits,
        was_chosen: recharge !== undefined,
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
    /** After the first step, the card is never charged again, even if the processor does not answer the second step. */
    remove: Effect.fn("Billing.removeCard")(function* (account_id: string) {
      const card = (yield* findCustomer(database, processor.name, account_id))?.card
      if (card != null) {
        const now = yield* nowText
        yield* database.transaction((db) =>
          Effect.andThen(leaveOff(db, account_id, now), removeCard(db, processor.name, account_id, card, now))
        )
        yield* forgetNow(needs, card)
      }
      return yield* settings(account_id)
    }, Effect.uninterruptible)
  }
}

export const openBilling = Effect.fn("Billing.open")(function* (processor: CardProcessor) {
  const database = yield* ConsoleDatabase
  const administration = yield* Administration
  const marked = new Set<string>()
  const mark = (account_id: string) => {
    marked.add(account_id)
  }
  const needs = { administration, database, processor, mark }
  const reconciling = makeReconcile(needs, makeBook(needs))
  const { charge, leave, reconcile } = reconciling
  const resolve = makeResolve(needs, reconciling)
  const { remove, save, settings } = makeSettings(needs)
  const { known, payments, receipt, reconciled } = makePaymentHistory(needs)
  const topUp = makeTopUp(needs, charge, resolve)
  const { events, webhook } = makeWebhook(needs, reconcile)

  yield* endRechargesElsewhere(database, processor.name)
  yield* reconcileInBackground(needs, reconcile, resolve)
  yield* startRecharges(needs, marked, charge)

  const payNow = Effect.fnUntraced(function* (asked: TopUp) {
    const { id, url } = yield* topUp(asked)
    if (url !== undefined) return { redirect: url }
    // the payment has just been written
    return { payment: yield* Effect.catchTag(known(asked.account_id, id), "UnknownPayment", Effect.die) }
  })

  return Billing.of({
    topUp: (asked) => forCallers(payNow(asked)),
    payment: (account_id, id) => forCallers(reconciled(account_id, id, reconcile)),
    leave: (account_id, id) => forCallers(reconciled(account_id, id, leave)),
    payments: (account_id, page) => forCallers(payments(account_id, page)),
    receipt: (account_id, id) => forCallers(receipt(account_id, id)),
    settings: (account_id) => forCallers(settings(account_id)),
    saveRecharge: (account_id, choice) =>
      forCallers(Effect.tap(save(account_id, choice), () => Effect.sync(() => mark(account_id)))),
    removeCard: (account_id) => forCallers(remove(account_id)),
    webhook: (body, header) => forCallers(webhook(body, header)),
    events,
    charged: mark
  })
})
