/**
 * In-doubt payments: the answer was lost, the server was killed, the customer is still on the processor's page, or an
 * event never arrived. Billing retrieves such a payment before it charges again, always under the same id. Open
 * payments are reconciled each minute, older ones less often; settled ones that can still change in turn, some each
 * hour.
 */
import { Clock, Duration, Effect } from "effect"
import type { BillingNeeds } from "./book.ts"
import { expireOpen, type PaymentRow, paymentsInDoubt, pickRandomPayment, settledPayments } from "./payment-rows.ts"
import { endRecharge, findRecharge } from "./recharge-rows.ts"
import type { Reconcile } from "./reconcile.ts"
import { cardsToForget, findCustomer, forget } from "./saved-card.ts"

/**
 * Billing repeats a recharge that the processor does not know for this long, then expires it. A new recharge may follow
 * under another id: a processor may store its own failure under the first id and repeat it.
 */
const rechargeRetryMs = Duration.toMillis("15 minutes")
/** After this time no request is still on its way to the processor: it is far longer than all time-outs. */
export const maxRequestMs = Duration.toMillis("15 minutes")

const notReceived = "The payment did not reach the card processor. Nothing was charged."

/** Reconciles an open payment. If the processor does not know it, charges it again or expires it. */
export const makeResolve = (
  { administration, database, mark, processor }: BillingNeeds,
  { charge, reconcile }: Reconcile
) => {
  /** Whether it is still the running recharge, with auto-recharge on, a low balance, the same card and amount. */
  const isStillDue = Effect.fnUntraced(function* ({ account_id, card, cents, id }: PaymentRow) {
    const recharge = yield* findRecharge(database, account_id)
    if (recharge?.running !== id || !recharge.is_on || recharge.cents !== cents) return false
    if ((yield* findCustomer(database, processor.name, account_id))?.card !== card) return false
    const { balance_credits } = yield* administration.account({ account_id })
    return balance_credits < recharge.trigger_credits
  })

  return Effect.fn("Billing.resolve")(function* (payment: PaymentRow) {
    const isKnown = yield* reconcile(payment)
    if (isKnown || payment.state !== "open") return
    const { account_id, created_at, id, kind } = payment
    const now = yield* Clock.currentTimeMillis
    const isRecent = now - Date.parse(created_at) < rechargeRetryMs
    // billing never repeats a person's payment on its own
    if (kind === "auto_recharge" && isRecent && (yield* isStillDue(payment))) return yield* charge(payment)
    const before = new Date(now - maxRequestMs).toISOString()
    yield* database.transaction(
      Effect.fnUntraced(function* (db) {
        if (!(yield* expireOpen(db, id, before, notReceived, new Date(now).toISOString()))) return
        yield* endRecharge(db, account_id, id)
      })
    )
    mark(account_id)
  })
}
export type Resolve = ReturnType<typeof makeResolve>

const openInterval = "1 minute"
const cardsInterval = "1 minute"
const settledInterval = "1 hour"
const openPerPage = 1_000
const settledPerRound = 500
const maxConcurrency = 4
/** After this many failures the rest of a round is skipped: the processor seems to be unavailable. */
const maxFailures = 5
const maxRetryMs = Duration.toMillis("1 hour")
/** The longest period in which banks accept a dispute; refunds come earlier. */
const reversibleMs = Duration.toMillis("540 days")
/** Within this period banks decide a dispute, and a failing refund fails. */
const undecidedMs = Duration.toMillis("365 days")
/** Within this period it becomes known that an abandoned payment was paid. */
const lateMs = Duration.toMillis("3 days")

interface Pending {
  readonly id: string
  readonly created_at: string
}

/** Tries the items in order and logs failures. Returns the tried items: the first ones if it stopped early. */
const tryEach = <P extends Pending, A, E extends Error>(
  items: ReadonlyArray<P>,
  work: (item: P) => Effect.Effect<A, E>,
  message: string,
  idName: string
) => {
  let failures = 0
  let begunCount = 0
  const tryItem = (item: P) =>
    Effect.suspend((): Effect.Effect<unknown, E> => {
      if (failures >= maxFailures) return Effect.void
      begunCount++
      return work(item)
    }).pipe(
      Effect.catchCause((cause) => {
        failures++
        return Effect.annotateLogs(Effect.logWarning(message, cause), { [idName]: item.id })
      })
    )
  return Effect.forEach(items, tryItem, { concurrency: maxConcurrency, discard: true }).pipe(
    Effect.map(() => items.slice(0, begunCount))
  )
}
const tryPayments = <A, E extends Error>(
  payments: ReadonlyArray<PaymentRow>,
  work: (payment: PaymentRow) => Effect.Effect<A, E>
) => tryEach(payments, work, "a payment could not be reconciled and is retried later", "payment_id")

const makeRetries = () => {
  const triedAt = new Map<string, number>()
  return {
    /** An item is due when a tenth of its age, at most an hour, has passed since the last try. */
    selectDue: <P extends Pending>(items: ReadonlyArray<P>, now: number) =>
      items.filter(({ created_at, id }) => {
        const lastTry = triedAt.get(id)
        return lastTry === undefined || now - lastTry >= Math.min((now - Date.parse(created_at)) / 10, maxRetryMs)
      }),
    record: (tried: ReadonlyArray<Pending>, now: number) => {
      for (const { id } of tried) triedAt.set(id, now)
    },
    keepOnly: (ids: ReadonlySet<string>) => {
      for (const id of triedAt.keys()) if (!ids.has(id)) triedAt.delete(id)
    }
  }
}

/** Runs until the scope ends. The first round starts immediately and finishes what a killed server left. */
export const reconcileInBackground = Effect.fnUntraced(function* (
  needs: BillingNeeds,
  reconcile: Reconcile["reconcile"],
  resolve: Resolve
) {
  const { database, processor } = needs
  const paymentRetries = makeRetries()
  const cardRetries = makeRetries()
  let lastSettled: string | undefined

  /** All open payments, one page at a time. The rest of a round that stopped early is due in the next round. */
  const reconcileOpen = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const ids = new Set<string>()
    let page: ReadonlyArray<PaymentRow> = []
    do {
      page = yield* paymentsInDoubt(database, processor.name, page.at(-1), openPerPage)
      const due = paymentRetries.selectDue(page, now)
      const tried = yield* tryPayments(due, resolve)
      paymentRetries.record(tried, now)
      if (tried.length < due.length) return
      for (const { id } of page) ids.add(id)
    } while (page.length === openPerPage)
    paymentRetries.keepOnly(ids)
  })

  const reconcileSettled = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = {
      succeeded: new Date(now - reversibleMs).toISOString(),
      reversed: new Date(now - undecidedMs).toISOString(),
      others: new Date(now - lateMs).toISOString()
    }
    const { background } = database
    const after = (id: string, limit: number) => settledPayments(background, processor.name, { ...since, id }, limit)
    // start at a random payment: a server that restarts often would otherwise never reach the last ones
    const next = yield* after(lastSettled ?? (yield* pickRandomPayment(background))?.id ?? "", settledPerRound)
    const ids = new Set(next.map(({ id }) => id))
    // continue at the beginning after the last payment
    const first = next.length < settledPerRound ? yield* after("", settledPerRound - next.length) : []
    const tried = yield* tryPayments([...next, ...first.filter(({ id }) => !ids.has(id))], reconcile)
    lastSettled = tried.at(-1)?.id
  })

  /** A card that the processor refuses to forget does not delay the others: it is due later than they are. */
  const forgetCards = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const pending = yield* cardsToForget(database, processor.name)
    const message =
      "a card that was replaced or removed is still saved at the processor; the request to forget it is repeated later"
    const due = cardRetries.selectDue(pending, now)
    cardRetries.record(yield* tryEach(due, ({ id }) => forget(needs, id), message, "card"), now)
    cardRetries.keepOnly(new Set(pending.map(({ id }) => id)))
  })

  const logFailure = Effect.catchCause((cause) => Effect.logError("payments cannot be reconciled", cause))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(logFailure(reconcileOpen), Effect.sleep(openInterval))))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(logFailure(reconcileSettled), Effect.sleep(settledInterval))))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(logFailure(forgetCards), Effect.sleep(cardsInterval))))
})
