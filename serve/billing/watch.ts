/**
 * Reconciles payments whose events never arrived. Open payments are checked each minute, older ones less often. Settled
 * payments that can still be refunded or disputed are checked in turn, some each hour. Requests to forget a card are
 * retried like open payments.
 */
import { Clock, Duration, Effect } from "effect"
import { cardsToForget } from "./card-rows.ts"
import { forget } from "./forget.ts"
import { anyPayment, openPayments, type PaymentRow, settledPayments } from "./payment-rows.ts"
import type { Pursue } from "./pursue.ts"
import type { BillingNeeds } from "./settle.ts"

const opensEvery = "1 minute"
const forgetsEvery = "1 minute"
const settledEvery = "1 hour"
const openAtOnce = 1_000
const mostSettled = 500
const mostAtOnce = 4
/** After this many failures the rest of a round is skipped, because the processor is unavailable. */
const mostFailures = 5
const longestInterval = Duration.toMillis("1 hour")
/** The longest period in which banks accept a dispute; refunds come earlier. */
const reversibleFor = Duration.toMillis("540 days")
/** Within this period banks have decided a dispute, and a failing refund has failed. */
const undecidedFor = Duration.toMillis("365 days")
/** Within this period an abandoned payment that was paid after all becomes known. */
const lateFor = Duration.toMillis("3 days")

const later = {
  payment_id: "a payment is looked at again later",
  card: "a card that was replaced or removed is still saved at the processor, which is asked again later"
}

/** Work that is retried until it is done. */
interface Pending {
  readonly id: string
  readonly created_at: string
}

/** Due when a tenth of its age, at most an hour, has passed since the last check. */
const isDue =
  (lookedAt: ReadonlyMap<string, number>, now: number) =>
  ({ created_at, id }: Pending) => {
    const before = lookedAt.get(id)
    return before === undefined || now - before >= Math.min((now - Date.parse(created_at)) / 10, longestInterval)
  }

export const makeWatch = (needs: BillingNeeds, { look, pursue }: Pursue) => {
  const { database, processor } = needs
  const lookedAt = new Map<string, number>()
  const cardLookedAt = new Map<string, number>()
  let last: string | undefined

  /** Works through them in order. Returns the items that were begun: if the round stopped early, the first ones. */
  const each = <P extends Pending, A, E extends Error>(
    pending: ReadonlyArray<P>,
    work: (one: P) => Effect.Effect<A, E>,
    what: keyof typeof later = "payment_id"
  ) => {
    let failures = 0
    let begun = 0
    const looks = Effect.forEach(
      pending,
      (one) =>
        Effect.suspend((): Effect.Effect<unknown, E> => {
          if (failures >= mostFailures) return Effect.void
          begun++
          return work(one)
        }).pipe(
          Effect.catchCause((cause) => {
            failures++
            return Effect.annotateLogs(Effect.logWarning(later[what], cause), { [what]: one.id })
          })
        ),
      { concurrency: mostAtOnce, discard: true }
    )
    return Effect.map(looks, () => pending.slice(0, begun))
  }

  /** All open payments, one page at a time. The rest of a round that stopped early is due in the next round. */
  const lookAtOpen = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const ids = new Set<string>()
    let page: ReadonlyArray<PaymentRow> = []
    do {
      page = yield* openPayments(database, processor.name, page.at(-1), openAtOnce)
      const due = page.filter(isDue(lookedAt, now))
      const looked = yield* each(due, pursue)
      for (const { id } of looked) lookedAt.set(id, now)
      if (looked.length < due.length) return
      for (const { id } of page) ids.add(id)
    } while (page.length === openAtOnce)
    for (const id of lookedAt.keys()) if (!ids.has(id)) lookedAt.delete(id)
  })

  const lookAtSettled = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const since = {
      succeeded: new Date(now - reversibleFor).toISOString(),
      reversed: new Date(now - undecidedFor).toISOString(),
      others: new Date(now - lateFor).toISOString()
    }
    const { background } = database
    const after = (id: string, limit: number) => settledPayments(background, processor.name, { ...since, id }, limit)
    // start at a random payment: a server that restarts often would otherwise never reach the last ones
    const next = yield* after(last ?? (yield* anyPayment(background)), mostSettled)
    const ids = new Set(next.map(({ id }) => id))
    // continue at the beginning after the last payment
    const first = next.length < mostSettled ? yield* after("", mostSettled - next.length) : []
    const looked = yield* each([...next, ...first.filter(({ id }) => !ids.has(id))], look)
    last = looked.at(-1)?.id
  })

  /** A card that the processor refuses to forget does not delay the others: it is due again later than they are. */
  const forgetCards = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const cards = (yield* cardsToForget(database, processor.name)).map(({ card, since }) => ({
      id: card,
      created_at: since
    }))
    const asked = yield* each(cards.filter(isDue(cardLookedAt, now)), ({ id }) => forget(needs, id), "card")
    for (const { id } of asked) cardLookedAt.set(id, now)
    const ids = new Set(cards.map(({ id }) => id))
    for (const id of cardLookedAt.keys()) if (!ids.has(id)) cardLookedAt.delete(id)
  })

  const told = Effect.catchCause((cause) => Effect.logError("payments cannot be looked at", cause))

  /**
   * Runs until the scope ends. The first round starts immediately, so work left by a killed server is finished at the
   * start.
   */
  return Effect.gen(function* () {
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(told(lookAtOpen), Effect.sleep(opensEvery))))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(told(lookAtSettled), Effect.sleep(settledEvery))))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(told(forgetCards), Effect.sleep(forgetsEvery))))
  })
}
