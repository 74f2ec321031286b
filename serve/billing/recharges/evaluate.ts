/**
 * Auto-recharge. Charged calls mark their account, and marked accounts are evaluated four times a second; all accounts
 * with auto-recharge are evaluated at the start and at the beginning of each UTC day. A balance strictly below the trigger
 * starts a payment, unless the account is suspended, a limit forbids it or the ledger has an entry that stops auto-recharge. The payment and the
 * claim that it is the account's only running recharge are committed in one transaction before the card is charged. An
 * account that is marked while its recharge is running, or during the pause after one, is evaluated again afterwards.
 */
import { type Cause, Clock, Effect, Semaphore } from "effect"
import { randomString } from "../../ledger/index.ts"
import { charge } from "../charge.ts"
import type { BillingNeeds } from "../needs.ts"
import { deleteUnrequested, insertPayment, newPayment, type PaymentRow } from "../payment-rows.ts"
import { findCustomer } from "../saved-card.ts"
import { nowText } from "../times.ts"
import { isStillDue } from "./due.ts"
import { findLimit, millisecondsToNextDay, sumRequested } from "./limits.ts"
import {
  claimRecharge,
  endRecharge,
  findActiveRecharges,
  listAutoRechargeAccounts,
  type RechargeRow,
  switchOff
} from "./rows.ts"

const roundInterval = "250 millis"
const maxConcurrentCharges = 8
/** The other marked accounts follow in the next rounds. */
const maxAccountsPerRound = 1_000

/** For a failure that a retry may solve: the ledger, the tables or the processor is unavailable. */
const logAndWait = (message: string, cause: Cause.Cause<unknown>) =>
  Effect.andThen(Effect.logError(message, cause), Effect.sleep("5 seconds"))

export const startRecharges = Effect.fnUntraced(function* (needs: BillingNeeds, marked: Set<string>) {
  const { administration, database, processor } = needs
  const scope = yield* Effect.scope
  const evaluating = new Set<string>()
  /** When the pause after the last recharge ends, by account. */
  const pausedUntil = new Map<string, number>()
  const chargeSlots = yield* Semaphore.make(maxConcurrentCharges)

  /** At a ceiling, the account waits for its next charged call or the next day. */
  const isLimited = Effect.fnUntraced(function* (recharge: RechargeRow) {
    const { account_id } = recharge
    const now = yield* Clock.currentTimeMillis
    const limit = findLimit(recharge, yield* sumRequested(database, account_id, now), now)
    if (limit?.by === "pause") {
      pausedUntil.set(account_id, limit.until)
      marked.add(account_id)
    }
    return limit !== undefined
  })

  /** Undefined if there is no card, or if auto-recharge is off or running by now. */
  const claim = Effect.fnUntraced(function* (account_id: string) {
    const id = `pay_${randomString(20)}` // 119 random bits
    const now = yield* nowText
    return yield* database.transaction(
      Effect.fnUntraced(function* (db) {
        const customer = yield* findCustomer(db, processor.name, account_id)
        if (customer === undefined || customer.card === null) {
          yield* switchOff(db, account_id, "There is no longer a saved card.", now)
          return undefined
        }
        const recharge = yield* claimRecharge(db, account_id, id)
        if (recharge === undefined) return undefined
        const columns = { id, account_id, processor: processor.name, created_by: null, created_at: now }
        const payment = newPayment({ ...columns, cents: recharge.cents, kind: "auto_recharge" }, customer)
        yield* insertPayment(db, payment)
        return payment
      })
    )
  })

  const undoClaim = ({ account_id, id }: PaymentRow) =>
    database.transaction(
      Effect.fnUntraced(function* (db) {
        if (yield* deleteUnrequested(db, id)) yield* endRecharge(db, account_id, id)
      })
    )

  /** Checks everything again after the claim, because another recharge may have ended in the meantime. */
  const evaluate = Effect.fn("Billing.evaluate")(function* (recharge: RechargeRow) {
    const { account_id, trigger_credits } = recharge
    const { balance_credits, suspended_at } = yield* administration.account({ account_id })
    if (suspended_at !== null || balance_credits >= trigger_credits || (yield* isLimited(recharge))) return
    const payment = yield* claim(account_id)
    if (payment === undefined) return
    if (yield* isStillDue(needs, payment)) return yield* charge(needs, payment)
    yield* undoClaim(payment)
    marked.add(account_id)
  })

  /** In the background, because a slow card would delay other accounts. A failed evaluation is repeated. */
  const evaluateInBackground = (recharge: RechargeRow) => {
    const { account_id } = recharge
    evaluating.add(account_id)
    return evaluate(recharge).pipe(
      Effect.catchTag("ProcessorUnavailable", (error) =>
        Effect.logWarning(`${error.message}. The recharge is reconciled later.`, { account: account_id })
      ),
      Effect.catchCause((cause) =>
        logAndWait("a recharge could not be evaluated and is retried", cause).pipe(
          Effect.annotateLogs({ account: account_id }),
          Effect.andThen(Effect.sync(() => marked.add(account_id)))
        )
      ),
      chargeSlots.withPermit,
      Effect.ensuring(Effect.sync(() => evaluating.delete(account_id))),
      Effect.forkIn(scope)
    )
  }

  const evaluateMarked = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const [account_id, until] of pausedUntil) if (until <= now) pausedUntil.delete(account_id)
    const accounts = [...marked].filter((account_id) => !pausedUntil.has(account_id)).slice(0, maxAccountsPerRound)
    if (accounts.length === 0) return
    // before the query, so that an account marked in the meantime is evaluated again
    for (const account_id of accounts) marked.delete(account_id)
    const markAgain = Effect.sync(() => {
      for (const account_id of accounts) marked.add(account_id)
    })
    const active = yield* Effect.onError(findActiveRecharges(database, accounts), () => markAgain)
    const byAccount = new Map(active.map((recharge) => [recharge.account_id, recharge]))
    for (const account_id of accounts) {
      const recharge = byAccount.get(account_id)
      if (recharge === undefined) continue
      if (recharge.running === null && !evaluating.has(account_id)) yield* evaluateInBackground(recharge)
      else marked.add(account_id)
    }
  }).pipe(Effect.catchCause((cause) => logAndWait("recharges cannot be evaluated", cause)))

  const markAll: Effect.Effect<void> = Effect.gen(function* () {
    for (const account_id of yield* listAutoRechargeAccounts(database)) marked.add(account_id)
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.andThen(
        logAndWait("the daily evaluation of all recharges failed and is retried", cause),
        Effect.suspend(() => markAll)
      )
    )
  )

  const untilNextDay = Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(millisecondsToNextDay(now)))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(markAll, untilNextDay)))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(evaluateMarked, Effect.sleep(roundInterval))))
})
