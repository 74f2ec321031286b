/**
 * `Billing` over a card processor. Background work ends with the scope. The next server finishes work that a killed
 * server began.
 */
import { Effect, Layer } from "effect"
import { Administration } from "../ledger/administration.ts"
import { ConsoleDatabase } from "../persistence/console-database.ts"
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
  endRechargesElsewhere,
  findCustomer,
  findRecharge,
  leaveOff,
  removeCard,
  savedCardOf,
  saveRecharge
} from "./card-rows.ts"
import { forgetNow } from "./forget.ts"
import { findPaymentOf, isSimulated, payerOf, paymentsBefore, paymentsOfAccount, shown } from "./payment-rows.ts"
import { type CardProcessor, ForgedEvent } from "./processor.ts"
import { makePursue, type Pursue } from "./pursue.ts"
import { startRecharges } from "./recharge.ts"
import { type BillingNeeds, makeSettle, nowText } from "./settle.ts"
import { makeTopUp, payable } from "./top-up.ts"
import { makeWatch } from "./watch.ts"
import { makeWebhook } from "./webhook.ts"

/** Proposed until a person has chosen. */
const firstChoice: RechargeChoice = { is_on: false, cents: 100_00, trigger_credits: 10_000 }

const notNow = "Payments cannot be looked at now. What was begun is finished by itself; try again in a moment."

type ForCallers = InvalidChoice | NoSavedCard | UnknownPayment | ForgedEvent | BillingUnavailable
const isForCallers = <E>(error: E): error is Extract<E, ForCallers> =>
  error instanceof InvalidChoice ||
  error instanceof NoSavedCard ||
  error instanceof UnknownPayment ||
  error instanceof ForgedEvent ||
  error instanceof BillingUnavailable

/** Callers get a sentence for the customer; the operator finds the cause in the log. */
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
  const settle = makeSettle(needs)
  const pursuit = makePursue(needs, settle)
  const { remove, save, settings } = makeSettings(needs)
  const topUp = makeTopUp(needs, pursuit)
  const { events, webhook } = makeWebhook(needs, pursuit)

  const find = Effect.fnUntraced(function* (account_id: string, id: string) {
    return (yield* findPaymentOf(database, account_id, id)) ?? (yield* new UnknownPayment({ id }))
  })

  const known = Effect.fnUntraced(function* (account_id: string, id: string) {
    const [payment] = yield* shown(database, [yield* find(account_id, id)])
    return payment ?? (yield* new UnknownPayment({ id }))
  })

  /**
   * The payment after retrieving it from the processor. A payment whose outcome is unknown now is open; this is no
   * failure.
   */
  const payment = Effect.fn("Billing.payment")(function* (account_id: string, id: string, ask: Pursue["look"]) {
    const before = yield* find(account_id, id)
    if (before.state === "open" && before.processor === processor.name) {
      yield* ask(before).pipe(
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

  yield* endRechargesElsewhere(database, processor.name)
  yield* makeWatch(needs, pursuit)
  yield* startRecharges(needs, marked, pursuit)

  const payNow = Effect.fnUntraced(function* (asked: TopUp) {
    const { id, url } = yield* topUp(asked)
    if (url !== undefined) return { redirect: url }
    // the payment has just been written
    return { payment: yield* Effect.catchTag(known(asked.account_id, id), "UnknownPayment", Effect.die) }
  })

  return Billing.of({
    topUp: (asked) => told(payNow(asked)),
    payment: (account_id, id) => told(payment(account_id, id, pursuit.look)),
    leave: (account_id, id) => told(payment(account_id, id, pursuit.leave)),
    payments: (account_id, page) => told(payments(account_id, page)),
    receipt: (account_id, id) => told(receipt(account_id, id)),
    settings: (account_id) => told(settings(account_id)),
    saveRecharge: (account_id, choice) =>
      told(Effect.tap(save(account_id, choice), () => Effect.sync(() => mark(account_id)))),
    removeCard: (account_id) => told(remove(account_id)),
    webhook: (body, header) => told(webhook(body, header)),
    events,
    charged: mark
  })
})

export const billing = (processor: CardProcessor) => Layer.effect(Billing, openBilling(processor))
