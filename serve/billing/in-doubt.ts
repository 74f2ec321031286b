/**
 * Payments in doubt: the answer was lost, the server was killed, the customer is still on the processor's page, or an
 * event never arrived. Billing always retrieves a payment from the processor before it charges again, and always uses
 * the same id.
 *
 * Open payments are reconciled each minute, older ones less often. Settled payments that can still be refunded or
 * disputed are reconciled in turn, some each hour. Requests to forget a card are retried like open payments.
 */
import { Clock, Duration, Effect } from "effect"
import type { BillingNeeds } from "./book.ts"
import { anyPayment, giveUp, type PaymentRow, paymentsInDoubt, settledPayments } from "./payment-rows.ts"
import { endRecharge, findRecharge } from "./recharge-rows.ts"
import type { Reconcile } from "./reconcile.ts"
import { cardsToForget, findCustomer, forget } from "./saved-card.ts"

/**
 * Billing repeats a recharge that the processor does not know for this long and then gives it up. A new recharge may
 * follow under another id: a processor may store its own failure under the first id and repeat it.
 */
const askedAgainFor = Duration.toMillis("15 minutes")
/**
 * After this time no request is still on its way to the processor. It is far longer than all time-outs of the
 * processors.
 */
export const longestInDoubt = Duration.toMillis("15 minutes")

const neverTaken = "The payment did not reach the card processor. Nothing was charged."

/** Reconciles an open payment. Then charges it again, or gives it up, if the processor does not know it. */
export const makeResolve = (
  { administration, database, mark, processor }: BillingNeeds,
  { charge, reconcile }: Reconcile
) => {
  /**
   * True if the payment is the running recharge, auto-recharge is still on, the balance is still below the trigger, and
   * the card and the amount are unchanged.
   */
  const isWanted = Effect.fnUntraced(function* ({ account_id, card, cents, id }: PaymentRow) {
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
    const isYoung = now - Date.parse(created_at) < askedAgainFor
    // Billing never repeats a person's payment on its own
    if (kind === "auto_recharge" && isYoung && (yield* isWanted(payment))) return yield* charge(payment)
    const before = new Date(now - longestInDoubt).toISOString()
    yield* database.transaction((db) =>
      Effect.gen(function* () {
        if (!(yield* giveUp(db, id, before, neverTaken, new Date(now).toISOString()))) return
        yield* endRecharge(db, account_id, id)
      })
    )
    mark(account_id)
  })
}
export type Resolve = ReturnType<typeof makeResolve>

const openEvery = "1 minute"
const cardsEvery = "1 minute"
const settledEvery = "1 hour"
const openPerPage = 1_000
const settledPerRound = 500
const maxConcurrency = 4
/** After this many failures the rest of a round is skipped, because the processor is unavailable. */
const maxFailures = 5
const longestInterval = Duration.toMillis("1 hour")
/** The longest period in which banks accept a dispute; refunds come earlier. */
const reversibleFor = Duration.toMillis("540 days")
/** Within this period banks have decided a dispute, and a failing refund has failed. */
const undecidedFor = Duration.toMillis("365 days")
/** Within this period an abandoned payment that was paid after all becomes known. */
const lateFor = Duration.toMillis("3 days")

const failedText = {
  payment_id: "a payment could not be reconciled and will be again later",
  card: "a card that was replaced or removed is still saved at the processor; the request to forget it is repeated later"
}

/** Work that is repeated until it is done. */
interface Pending {
  readonly id: string
  readonly created_at: string
}

/** When each pending item was last tried. */
const makeTries = () => {
  const triedAt = new Map<string, number>()
  return {
    /** Due when a tenth of its age, at most an hour, has passed since the last try. */
    isDue:
      (now: number) =>
      ({ created_at, id }: Pending) => {
        const before = triedAt.get(id)
        return before === undefined || now - before >= Math.min((now - Date.parse(created_at)) / 10, longestInterval)
      },
    tried: (items: ReadonlyArray<Pending>, now: number) => {
      for (const { id } of items) triedAt.set(id, now)
    },
    keepOnly: (ids: ReadonlySet<string>) => {
      for (const id of triedAt.keys()) if (!ids.has(id)) triedAt.delete(id)
    }
  }
}

/**
 * Works through the items in order and returns those that were tried: if the round stopped early, the first ones. A
 * failure is logged.
 */
const tryEach = <P extends Pending, A, E extends Error>(
  items: ReadonlyArray<P>,
  work: (one: P) => Effect.Effect<A, E>,
  what: keyof typeof failedText = "payment_id"
) => {
  let failures = 0
  let begun = 0
  const all = Effect.forEach(
    items,
    (one) =>
      Effect.suspend((): Effect.Effect<unknown, E> => {
        if (failures >= maxFailures) return Effect.void
        begun++
        return work(one)
      }).pipe(
        Effect.catchCause((cause) => {
          failures++
          return Effect.annotateLogs(Effect.logWarning(failedText[what], cause), { [what]: one.id })
        })
      ),
    { concurrency: maxConcurrency, discard: true }
  )
  return Effect.map(all, () => items.slice(0, begun))
}

/**
 * Runs until the scope ends. The first round starts immediately, so work left by a killed server is finished at the
 * start.
 */
export const reconcileInBackground = Effect.fnUntraced(function* (
  needs: BillingNeeds,
  reconcile: Reconcile["reconcile"],
  resolve: Resolve
) {
  const { database, processor } = needs
  const payments = makeTries()
  const cards = makeTries()
  let last: string | undefined

  /** All open payments, one page at a time. The rest of a round that stopped early is due in the next round. */
  const reconcileOpen = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const ids = new Set<string>()
    let page: ReadonlyArray<PaymentRow> = []
    do {
      page = yield* paymentsInDoubt(database, processor.name, page.at(-1), openPerPage)
      const due = page.filter(payments.isDue(now))
      const tried = yield* tryEach(due, resolve)
      payments.tried(tried, now)
      if (tried.length < due.length) return
      for (const { id } of page) ids.add(id)
    } while (page.length === openPerPage)
    payments.keepOnly(ids)
  })

  const reconcileSettled = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = {
      succeeded: new Date(now - reversibleFor).toISOString(),
      reversed: new Date(now - undecidedFor).toISOString(),
      others: new Date(now - lateFor).toISOString()
    }
    const { background } = database
    const after = (id: string, limit: number) => settledPayments(background, processor.name, { ...since, id }, limit)
    // start at a random payment: a server that restarts often would otherwise never reach the last ones
    const next = yield* after(last ?? (yield* anyPayment(background)), settledPerRound)
    const ids = new Set(next.map(({ id }) => id))
    // continue at the beginning after the last payment
    const first = next.length < settledPerRound ? yield* after("", settledPerRound - next.length) : []
    const tried = yield* tryEach([...next, ...first.filter(({ id }) => !ids.has(id))], reconcile)
    last = tried.at(-1)?.id
  })

  /** A card that the processor refuses to forget does not delay the others: it is due again later than they are. */
  const forgetCards = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const pending = (yield* cardsToForget(database, processor.name)).map(({ card, since }) => ({
      id: card,
      created_at: since
    }))
    cards.tried(yield* tryEach(pending.filter(cards.isDue(now)), ({ id }) => forget(needs, id), "card"), now)
    cards.keepOnly(new Set(pending.map(({ id }) => id)))
  })

  const logged = Effect.catchCause((cause) => Effect.logError("payments cannot be reconciled", cause))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(logged(reconcileOpen), Effect.sleep(openEvery))))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(logged(reconcileSettled), Effect.sleep(settledEvery))))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(logged(forgetCards), Effect.sleep(cardsEvery))))
})
