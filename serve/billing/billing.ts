/**
 * Card payments, auto-recharge and receipts for the console. Failures are sentences for the customer; causes are in the
 * log. A payment becomes `succeeded` only after its credits are in the ledger, and is `open` until its outcome is known.
 */
import { Clock, Context, Effect, Struct } from "effect"
import { Administration } from "../ledger/index.ts"
import { ConsoleDatabase, logChange } from "../persistence/index.ts"
import { findLowBalance, saveLowBalance } from "./alerts/low-balance.ts"
import {
  creditsToCents,
  formatCents,
  isValidCeiling,
  isValidTrigger,
  maxCeiling,
  maxTrigger,
  minTrigger,
  suggestCeilings
} from "./amounts.ts"
import { reconcileInBackground } from "./background-reconciliation.ts"
import type { BillingNeeds } from "./needs.ts"
import { isSimulated, makePaymentHistory } from "./payment-history.ts"
import {
  type BillingSettings,
  BillingUnavailable,
  InvalidChoice,
  NoSavedCard,
  type TopUp,
  type TopUpResult,
  UnknownPayment
} from "./payments.ts"
import { type CardProcessor, EventRejected, type HeaderReader } from "./processor.ts"
import { makeEventHandler } from "./processor-events.ts"
import { startRecharges } from "./recharges/evaluate.ts"
import { findLimit, sumRequested } from "./recharges/limits.ts"
import {
  endOtherProcessorsRecharges,
  findRecharge,
  type RechargeChoice,
  saveRecharge,
  switchOff
} from "./recharges/rows.ts"
import { findCurrentRecharge, findNewestPosition } from "./recharges/stops.ts"
import { leave } from "./reconcile.ts"
import { findCustomer, removeCard, toSavedCard, tryToDetachCard } from "./saved-card.ts"
import { nowText } from "./times.ts"
import { checkAmount, makeTopUp } from "./top-up.ts"

const proposedCents = 100_00
const proposedChoice: RechargeChoice = {
  is_on: false,
  cents: proposedCents,
  trigger_credits: 10_000,
  ...suggestCeilings(proposedCents)
}
const choiceNames = Struct.keys(proposedChoice)

const unavailableText =
  "Payments are not available at the moment. Payments that have begun are completed automatically; try again in a moment."

const shownErrors = [InvalidChoice, NoSavedCard, UnknownPayment, EventRejected, BillingUnavailable]
type ShownError = InstanceType<(typeof shownErrors)[number]>
const isShown = <E>(error: E): error is Extract<E, ShownError> =>
  shownErrors.some((errorClass) => error instanceof errorClass)

/** Callers get a sentence for the customer; the operator finds the cause in the log. */
const hideFailure = <A, E extends Error>(
  work: Effect.Effect<A, E>
): Effect.Effect<A, Extract<E, ShownError> | BillingUnavailable> =>
  Effect.catch(work, (error): Effect.Effect<never, Extract<E, ShownError> | BillingUnavailable> => {
    if (isShown(error)) return Effect.fail(error)
    return Effect.andThen(Effect.logWarning(error.message), new BillingUnavailable({ problem: unavailableText }))
  })

const checkTrigger = (credits: number) =>
  isValidTrigger(credits)
    ? Effect.void
    : new InvalidChoice({
        field: "trigger_credits",
        problem: `The balance that starts a recharge must be from ${formatCents(creditsToCents(minTrigger))} to ${formatCents(creditsToCents(maxTrigger))}.`
      })

const checkCeiling = (field: "daily_ceiling_cents" | "monthly_ceiling_cents", { cents, ...choice }: RechargeChoice) =>
  isValidCeiling(choice[field], cents)
    ? Effect.void
    : new InvalidChoice({
        field,
        problem: `The ceiling must be from the amount of one recharge, ${formatCents(cents)}, to ${formatCents(maxCeiling)}, in whole cents.`
      })

const makeSettings = (needs: BillingNeeds) => {
  const { database, processor } = needs
  const settings = Effect.fnUntraced(function* (account_id: string) {
    const position = yield* findNewestPosition(needs, account_id) // first: a later entry is not in what follows
    const recharge = yield* findCurrentRecharge(needs, account_id)
    const choice = Struct.pick(recharge ?? proposedChoice, choiceNames)
    const now = yield* Clock.currentTimeMillis
    const requested = yield* sumRequested(database, account_id, now)
    return {
      card: toSavedCard(yield* findCustomer(database, processor.name, account_id)),
      is_simulated: isSimulated(processor.name),
      low_balance_credits: (yield* findLowBalance(database, account_id))?.threshold_credits ?? null,
      recharge: {
        ...choice,
        position,
        requested,
        limit: findLimit(choice, requested, now),
        is_configured: recharge !== undefined,
        off_reason: recharge?.off_reason ?? null,
        is_recharging: recharge?.running != null
      }
    } satisfies BillingSettings
  })
  return {
    settings,
    save: Effect.fn("Billing.saveRecharge")(function* (account_id: string, choice: RechargeChoice, position: number) {
      yield* checkAmount(choice.cents)
      yield* checkTrigger(choice.trigger_credits)
      yield* checkCeiling("daily_ceiling_cents", choice)
      yield* checkCeiling("monthly_ceiling_cents", choice)
      const now = yield* nowText
      const write = database.transaction(
        Effect.fnUntraced(function* (db) {
          const card = toSavedCard(yield* findCustomer(db, processor.name, account_id))
          if (choice.is_on && card === null) return yield* new NoSavedCard()
          const before = yield* findRecharge(db, account_id)
          yield* saveRecharge(db, account_id, choice, position, now)
          const at = Date.parse(now)
          return { before, limit: findLimit(choice, yield* sumRequested(db, account_id, at), at) }
        })
      )
      const { limit } = yield* logChange(write, "auto-recharge saved", ({ before }) => ({
        account: account_id,
        before: before === undefined ? null : Struct.pick(before, choiceNames),
        after: Struct.pick(choice, choiceNames)
      }))
      const saved = yield* settings(account_id)
      // as of this change: a recharge may have begun since, because of it
      return { ...saved, recharge: { ...saved.recharge, limit } }
    }),
    /** The card is never charged again after the transaction, even if the processor does not respond. */
    remove: Effect.fn("Billing.removeCard")(function* (account_id: string) {
      const customer = yield* findCustomer(database, processor.name, account_id)
      if (customer !== undefined && customer.card !== null) {
        const { card, card_brand: brand, card_last4: last4 } = customer
        const now = yield* nowText
        const write = database.transaction((db) =>
          Effect.andThen(switchOff(db, account_id, null, now), removeCard(db, processor.name, account_id, card, now))
        )
        yield* logChange(write, "card removed", () => ({ account: account_id, before: { brand, last4 }, after: null }))
        yield* tryToDetachCard(needs, card)
      }
      return yield* settings(account_id)
    }, Effect.uninterruptible)
  }
}

/** Background work stops with the scope; the next server finishes it. */
export const openBilling = Effect.fn("Billing.open")(function* (processor: CardProcessor) {
  const database = yield* ConsoleDatabase
  const administration = yield* Administration
  const marked = new Set<string>()
  const requestEvaluation = (account_id: string) => {
    marked.add(account_id)
  }
  const needs = { administration, database, processor, requestEvaluation }
  const { remove, save, settings } = makeSettings(needs)
  const { find, findAndReconcile, list, receipt } = makePaymentHistory(needs)
  const topUp = makeTopUp(needs)
  const { counts, handleEvent } = makeEventHandler(needs)

  yield* endOtherProcessorsRecharges(database, processor.name)
  yield* reconcileInBackground(needs)
  yield* startRecharges(needs, marked)

  const payNow = Effect.fnUntraced(function* (request: TopUp) {
    const { id, url } = yield* topUp(request)
    if (url !== undefined) return { redirect: url }
    // the payment has just been written
    return { payment: yield* Effect.catchTag(find(request.account_id, id), "UnknownPayment", Effect.die) }
  })

  return {
    /**
     * With a new card, returns the page on which the customer pays. With the saved card, waits for the outcome; if it
     * is not known yet, the payment is `open`.
     */
    topUp: (request: TopUp): Effect.Effect<TopUpResult, InvalidChoice | NoSavedCard | BillingUnavailable> =>
      hideFailure(payNow(request)),
    /** Retrieves an open payment from the processor first. If the processor does not respond, the payment stays open. */
    payment: (account_id: string, id: string) => hideFailure(findAndReconcile(account_id, id)),
    /** The same after the customer left the payment page. Closes an unpaid page, so it can no longer be paid. */
    leave: (account_id: string, id: string) => hideFailure(findAndReconcile(account_id, id, leave)),
    /** Newest first. `before` is the id of the last payment on the previous page, or null. */
    payments: (account_id: string, page: { readonly before: string | null; readonly limit: number }) =>
      hideFailure(list(account_id, page)),
    receipt: (account_id: string, id: string) => hideFailure(receipt(account_id, id)),
    settings: (account_id: string) => hideFailure(settings(account_id)),
    /** Why the account's auto-recharge was stopped; undefined if it was not, or if a person has switched it on since. */
    rechargeStop: (account_id: string) =>
      hideFailure(Effect.map(findCurrentRecharge(needs, account_id), (recharge) => recharge?.off_reason ?? undefined)),
    /**
     * `position` is that of the settings that the person has seen: auto-recharge is stopped again by anything later in the
     * ledger. Evaluates the account immediately: if auto-recharge is on, a low balance is recharged within a second.
     */
    saveRecharge: (account_id: string, choice: RechargeChoice, position: number) =>
      hideFailure(
        Effect.tap(save(account_id, choice, position), () => Effect.sync(() => requestEvaluation(account_id)))
      ),
    /** `null` switches the mail off. */
    saveLowBalance: (account_id: string, threshold_credits: number | null) =>
      hideFailure(saveLowBalance(needs, account_id, threshold_credits)),
    /** Also switches auto-recharge off. Succeeds if there is no card to remove. */
    removeCard: (account_id: string) => hideFailure(remove(account_id)),
    /**
     * Handles an event of the processor, given its raw body, and returns once the payments in it are reconciled. The
     * route responds to `BillingUnavailable` with 503, so that the event is sent again, and to `EventRejected` with 400.
     */
    webhook: (body: string, header: HeaderReader) => hideFailure(handleEvent(body, header)),
    events: counts,
    /** Records that a call of the account was charged. Costs almost nothing, never waits and never throws. */
    charged: requestEvaluation
  }
})

export class Billing extends Context.Service<Billing, Effect.Success<ReturnType<typeof openBilling>>>()(
  "larder/serve/Billing"
) {}
