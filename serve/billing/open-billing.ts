/** `Billing` over a card processor. Background work ends with the scope; the next server finishes what is left. */
import { Effect, Struct } from "effect"
import { Administration } from "../ledger/index.ts"
import { ConsoleDatabase } from "../persistence/index.ts"
import { creditsToCents, formatCents, isValidTrigger, maxTrigger, minTrigger } from "./amounts.ts"
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
import { type BillingNeeds, nowText } from "./book.ts"
import { makeResolve, reconcileInBackground } from "./in-doubt.ts"
import { isSimulated, makePaymentHistory } from "./payment-history.ts"
import { type CardProcessor, EventRejected } from "./processor.ts"
import { makeEventHandler } from "./processor-events.ts"
import { startRecharges } from "./recharge.ts"
import { endOtherProcessorsRecharges, findRecharge, saveRecharge, switchOffByPerson } from "./recharge-rows.ts"
import { makeReconcile } from "./reconcile.ts"
import { findCustomer, forgetNow, removeCard, toSavedCard } from "./saved-card.ts"
import { checkAmount, makeTopUp } from "./top-up.ts"

const proposedChoice: RechargeChoice = { is_on: false, cents: 100_00, trigger_credits: 10_000 }

const unavailableText =
  "Payments are not available at the moment. Payments that have begun are completed automatically; try again in a moment."

const errorsForCallers = [InvalidChoice, NoSavedCard, UnknownPayment, EventRejected, BillingUnavailable]
type ForCallers = InstanceType<(typeof errorsForCallers)[number]>
const isForCallers = <E>(error: E): error is Extract<E, ForCallers> =>
  errorsForCallers.some((errorClass) => error instanceof errorClass)

/** Callers get a sentence for the customer; the operator finds the cause in the log. */
const hideFailure = <A, E extends Error>(
  work: Effect.Effect<A, E>
): Effect.Effect<A, Extract<E, ForCallers> | BillingUnavailable> =>
  Effect.catch(work, (error): Effect.Effect<never, Extract<E, ForCallers> | BillingUnavailable> => {
    if (isForCallers(error)) return Effect.fail(error)
    return Effect.andThen(Effect.logWarning(error.message), new BillingUnavailable({ problem: unavailableText }))
  })

const checkTrigger = (credits: number) =>
  isValidTrigger(credits)
    ? Effect.void
    : new InvalidChoice({
        field: "trigger_credits",
        problem: `The balance that starts a recharge must be from ${formatCents(creditsToCents(minTrigger))} to ${formatCents(creditsToCents(maxTrigger))}.`
      })

const makeSettings = (needs: BillingNeeds) => {
  const { database, processor } = needs
  const settings = Effect.fnUntraced(function* (account_id: string) {
    const recharge = yield* findRecharge(database, account_id)
    return {
      card: toSavedCard(yield* findCustomer(database, processor.name, account_id)),
      is_simulated: isSimulated(processor.name),
      recharge: {
        ...Struct.pick(recharge ?? proposedChoice, ["is_on", "cents", "trigger_credits"]),
        is_configured: recharge !== undefined,
        off_reason: recharge?.off_reason ?? null,
        is_recharging: recharge?.running != null
      }
    } satisfies BillingSettings
  })
  return {
    settings,
    save: Effect.fn("Billing.saveRecharge")(function* (account_id: string, choice: RechargeChoice) {
      yield* checkAmount(choice.cents)
      yield* checkTrigger(choice.trigger_credits)
      const now = yield* nowText
      yield* database.transaction(
        Effect.fnUntraced(function* (db) {
          const card = toSavedCard(yield* findCustomer(db, processor.name, account_id))
          if (choice.is_on && card === null) return yield* new NoSavedCard()
          yield* saveRecharge(db, account_id, choice, now)
        })
      )
      return yield* settings(account_id)
    }),
    /** The card is never charged again after the transaction, even if the processor does not answer. */
    remove: Effect.fn("Billing.removeCard")(function* (account_id: string) {
      const card = (yield* findCustomer(database, processor.name, account_id))?.card
      if (card != null) {
        const now = yield* nowText
        yield* database.transaction((db) =>
          Effect.andThen(switchOffByPerson(db, account_id, now), removeCard(db, processor.name, account_id, card, now))
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
  const reconciling = makeReconcile(needs)
  const { charge, leave, reconcile } = reconciling
  const resolve = makeResolve(needs, reconciling)
  const { remove, save, settings } = makeSettings(needs)
  const { payments, receipt, reconcileAndShow, show } = makePaymentHistory(needs)
  const topUp = makeTopUp(needs, charge, resolve)
  const { counts, handleEvent } = makeEventHandler(needs, reconcile)

  yield* endOtherProcessorsRecharges(database, processor.name)
  yield* reconcileInBackground(needs, reconcile, resolve)
  yield* startRecharges(needs, marked, charge)

  const payNow = Effect.fnUntraced(function* (request: TopUp) {
    const { id, url } = yield* topUp(request)
    if (url !== undefined) return { redirect: url }
    // the payment has just been written
    return { payment: yield* Effect.catchTag(show(request.account_id, id), "UnknownPayment", Effect.die) }
  })

  return Billing.of({
    topUp: (request) => hideFailure(payNow(request)),
    payment: (account_id, id) => hideFailure(reconcileAndShow(account_id, id, reconcile)),
    leave: (account_id, id) => hideFailure(reconcileAndShow(account_id, id, leave)),
    payments: (account_id, page) => hideFailure(payments(account_id, page)),
    receipt: (account_id, id) => hideFailure(receipt(account_id, id)),
    settings: (account_id) => hideFailure(settings(account_id)),
    saveRecharge: (account_id, choice) =>
      hideFailure(Effect.tap(save(account_id, choice), () => Effect.sync(() => mark(account_id)))),
    removeCard: (account_id) => hideFailure(remove(account_id)),
    webhook: (body, header) => hideFailure(handleEvent(body, header)),
    events: counts,
    charged: mark
  })
})
