/**
 * Reconciles payments in the background, in case a response was lost, the server was killed, the customer is still on
 * the processor's page, or an event never arrived. Open payments are reconciled each minute, older ones less often; up
 * to 500 settled payments that can still change are reconciled each hour.
 */
import { Clock, Duration, Effect } from "effect"
import { timestampOf } from "../ledger/index.ts"
import type { BillingNeeds } from "./needs.ts"
import { listOpenPayments, listSettledPayments, type PaymentRow, pickRandomPayment } from "./payment-rows.ts"
import { reconcile } from "./reconcile.ts"
import { retryOrExpire } from "./retry-or-expire.ts"
import { detachCard, listCardsToDetach } from "./saved-card.ts"

const openPerPage = 1_000
const settledPerRound = 500
const maxConcurrency = 4
/** After this many failures the rest of a round is skipped: the processor seems to be unavailable. */
const maxFailures = 5
const maxRetryMs = Duration.toMillis("1 hour")
/** The longest period in which banks accept a dispute; refunds come earlier. */
const reversibleMs = Duration.toMillis("540 days")
/** A bank decides a dispute within this period, and a refund that fails does so within it. */
const undecidedMs = Duration.toMillis("365 days")
/** Within this period, an unpaid payment can still turn out to be paid. */
const latePaymentMs = Duration.toMillis("3 days")

interface Pending {
  readonly id: string
  readonly created_at: string
}

/** Tries the items in order and logs failures. Returns the items that it tried before it stopped. */
const tryEach = <P extends Pending, A, E extends Error>(
  items: ReadonlyArray<P>,
  work: (item: P) => Effect.Effect<A, E>,
  message: string,
  idName: "payment_id" | "card"
) => {
  let failures = 0
  let startedCount = 0
  const tryItem = (item: P) =>
    Effect.suspend((): Effect.Effect<unknown, E> => {
      if (failures >= maxFailures) return Effect.void
      startedCount++
      return work(item)
    }).pipe(
      Effect.catchCause((cause) => {
        failures++
        return Effect.annotateLogs(Effect.logWarning(message, cause), { [idName]: item.id })
      })
    )
  return Effect.forEach(items, tryItem, { concurrency: maxConcurrency, discard: true }).pipe(
    Effect.map(() => items.slice(0, startedCount))
  )
}
const tryPayments = <A, E extends Error>(
  payments: ReadonlyArray<PaymentRow>,
  work: (payment: PaymentRow) => Effect.Effect<A, E>
) => tryEach(payments, work, "a payment could not be reconciled and is retried later", "payment_id")

const makeRetries = () => {
  const triedAt = new Map<string, number>()
  return {
    /**
     * An item is due when a tenth of its age, at most an hour, has passed since the last try. Returns false if
     * `tryAll` stopped early: the rest is due in the next round.
     */
    tryDue: Effect.fnUntraced(function* <P extends Pending>(
      items: ReadonlyArray<P>,
      tryAll: (due: ReadonlyArray<P>) => Effect.Effect<ReadonlyArray<P>>
    ) {
      const now = yield* Clock.currentTimeMillis
      const due = items.filter(({ created_at, id }) => {
        const lastTry = triedAt.get(id)
        return lastTry === undefined || now - lastTry >= Math.min((now - Date.parse(created_at)) / 10, maxRetryMs)
      })
      const tried = yield* tryAll(due)
      for (const { id } of tried) triedAt.set(id, now)
      return tried.length === due.length
    }),
    keepOnly: (ids: ReadonlySet<string>) => {
      for (const id of triedAt.keys()) if (!ids.has(id)) triedAt.delete(id)
    }
  }
}

/** Runs until the scope ends. The first round starts immediately and finishes what a killed server left. */
export const reconcileInBackground = Effect.fnUntraced(function* (needs: BillingNeeds) {
  const { database, processor } = needs
  const paymentRetries = makeRetries()
  const cardRetries = makeRetries()
  let lastSettled: string | undefined

  /** All open payments, one page at a time. */
  const reconcileOpen = Effect.gen(function* () {
    const ids = new Set<string>()
    let page: ReadonlyArray<PaymentRow> = []
    do {
      page = yield* listOpenPayments(database, processor.name, page.at(-1), openPerPage)
      if (!(yield* paymentRetries.tryDue(page, (due) => tryPayments(due, (payment) => retryOrExpire(needs, payment)))))
        return
      for (const { id } of page) ids.add(id)
    } while (page.length === openPerPage)
    paymentRetries.keepOnly(ids)
  })

  const reconcileSettled = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = {
      succeeded: timestampOf(now - reversibleMs),
      reversed: timestampOf(now - undecidedMs),
      unpaid: timestampOf(now - latePaymentMs)
    }
    const { background } = database
    const listAfter = (id: string, limit: number) => listSettledPayments(background, processor.name, id, since, limit)
    // start at a random payment: a server that restarts often would otherwise never reach the last ones
    const next = yield* listAfter(lastSettled ?? (yield* pickRandomPayment(background))?.id ?? "", settledPerRound)
    const ids = new Set(next.map(({ id }) => id))
    // continue at the beginning after the last payment
    const first = next.length < settledPerRound ? yield* listAfter("", settledPerRound - next.length) : []
    const tried = yield* tryPayments([...next, ...first.filter(({ id }) => !ids.has(id))], (payment) =>
      reconcile(needs, payment)
    )
    lastSettled = tried.at(-1)?.id
  })

  /** A card that cannot be detached does not delay the others: it is tried less and less often. */
  const detachPendingCards = Effect.gen(function* () {
    const pending = yield* listCardsToDetach(database, processor.name)
    const message = "a card that was replaced or removed is still saved at the processor; detaching it is retried later"
    yield* cardRetries.tryDue(pending, (due) => tryEach(due, ({ id }) => detachCard(needs, id), message, "card"))
    cardRetries.keepOnly(new Set(pending.map(({ id }) => id)))
  })

  const repeat = <E>(work: Effect.Effect<void, E>, interval: Duration.Input) =>
    work.pipe(
      Effect.catchCause((cause) => Effect.logError("payments cannot be reconciled", cause)),
      Effect.andThen(Effect.sleep(interval)),
      Effect.forever,
      Effect.forkScoped
    )
  yield* repeat(reconcileOpen, "1 minute")
  yield* repeat(reconcileSettled, "1 hour")
  yield* repeat(detachPendingCards, "1 minute")
})
