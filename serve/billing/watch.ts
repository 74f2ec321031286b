/**
 * Looks at payments again where nobody told us of them: open ones each minute, the older the rarer; settled ones that may
 * still be refunded or disputed in turn, some each hour, for events that never arrived. Cards that the processor has not
 * forgotten yet are asked for like open payments.
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
/** Failed looks after which the rest of a round waits for the next one: the processor is away. */
const mostFailures = 5
const longestInterval = Duration.toMillis("1 hour")
/** The longest that banks let a purchase be disputed; refunds come earlier. */
const reversibleFor = Duration.toMillis("540 days")
/** Banks have decided on a dispute, and refunds have failed, within this time. */
const undecidedFor = Duration.toMillis("365 days")
/** What was given up and has been paid all the same shows within this time. */
const lateFor = Duration.toMillis("3 days")

const later = {
  payment_id: "a payment is looked at again later",
  card: "a card that was replaced or removed is still saved at the processor, which is asked again later"
}

/** What is looked at until it is done. */
interface Pending {
  readonly id: string
  readonly created_at: string
}

/** A tenth of its age after the last look; at least every hour. */
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

  /** In their order. Answers with those that were looked at: the first ones, where it was broken off. */
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

  /** All of them, a page at a time. What a round that was broken off did not come to is due in the next one. */
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
    // servers that start often begin anywhere, or they would never come to the last ones
    const next = yield* after(last ?? (yield* anyPayment(background)), mostSettled)
    const ids = new Set(next.map(({ id }) => id))
    // the first ones follow the last
    const first = next.length < mostSettled ? yield* after("", mostSettled - next.length) : []
    const looked = yield* each([...next, ...first.filter(({ id }) => !ids.has(id))], look)
    last = looked.at(-1)?.id
  })

  /** A card that the processor refuses to forget does not keep the others waiting: it is due again later than they are. */
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

  /** Until the scope ends. The first looks come at once: what a killed server has left is finished at the start. */
  return Effect.gen(function* () {
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(told(lookAtOpen), Effect.sleep(opensEvery))))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(told(lookAtSettled), Effect.sleep(settledEvery))))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(told(forgetCards), Effect.sleep(forgetsEvery))))
  })
}
