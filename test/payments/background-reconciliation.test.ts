/** Payments that nobody tells of are looked at again, whatever stands beside them. Half a minute. */
import { assert, describe, it } from "@effect/vitest"
import { type CardProcessor, ProcessorUnavailable } from "@larder/serve/billing"
import { Clock, Effect, Logger, References } from "effect"
import { inEachShop, inHaste, type Shop, until } from "./shop.ts"

/** Payments that the processor never made, before all others in the order of ids and newer than those. */
const addOthers = ({ account_id, database, stand }: Shop, count: number, state: "open" | "succeeded") =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    database.run(
      `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${count})
       insert into console.payment (id, account_id, kind, cents, state, processor, reference, created_at)
       select 'pay_0000' || number, $1, 'top_up', 1000, $2, $3, 'another', $4
       from numbers
       returning id`,
      [account_id, state, stand.processor.name, new Date(now + 1000).toISOString()]
    )
  )

/** The processor, with what it says of those others. */
const withOthers = ({ processor }: Shop["stand"], retrieve: ReturnType<CardProcessor["retrieve"]>): CardProcessor => ({
  ...processor,
  retrieve: (query) => (query.payment_id.startsWith("pay_0000") ? retrieve : processor.retrieve(query))
})
const open = Effect.succeed({
  state: "open",
  reference: "another",
  cents: 0,
  problem: null,
  customer: null,
  card: null,
  reversed: []
} as const)
const failing = Effect.fail(new ProcessorUnavailable({ processor: "another", cause: "of another account" }))

/** A payment that is paid on its page, and nobody comes back. */
const pay = ({ form, stand, visit }: Shop) =>
  Effect.gen(function* () {
    const { asked, sent } = form(50_00)
    yield* visit((billing) => billing.topUp(asked))
    yield* stand.pay(sent.payment_id, "good")
    return sent.payment_id
  })

inEachShop((name, within) => {
  describe(`the repeated check of payments with ${name}`, () => {
    it.live("finds a payment behind 1,001 abandoned pages", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* pay(shop)
          assert.strictEqual(yield* addOthers(shop, 1_001, "open"), 1_001)
          const processor = withOthers(shop.stand, open)
          yield* shop.visit(() => until(Effect.map(shop.moved, ({ length }) => length === 1)), { processor })
          yield* shop.checkBooks
        })
      )
    )

    it.live("logs once that a payment is booked when four servers look at once", () =>
      within((shop) =>
        Effect.gen(function* () {
          const told: Array<string> = []
          const logger = Logger.make(({ message }) => told.push(String([message].flat()[0])))
          const id = yield* pay(shop)
          const look = shop.visit((billing) => billing.payment(shop.account_id, id))
          yield* Effect.all([look, look, look, look], { concurrency: "unbounded" }).pipe(
            Effect.provide(Logger.layer([logger])),
            Effect.provideService(References.MinimumLogLevel, "Info")
          )
          const booked = told.filter((message) => message === "payment booked")
          assert.strictEqual(booked.length, 1)
          assert.deepStrictEqual(yield* shop.moved, [["top_up", 50_000]])
        })
      )
    )

    it.live("reaches an open payment behind eight others that always fail", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* pay(shop)
          yield* addOthers(shop, 8, "open")
          yield* shop.putForward(11 * 3_600_000) // looked at every hour
          const processor = withOthers(shop.stand, failing)
          yield* inHaste(shop.visit(() => until(Effect.map(shop.moved, ({ length }) => length === 1)), { processor }))
          yield* shop.checkBooks
        })
      )
    )

    it.live("reaches a refund behind 600 other payments, although each server stops after 499 of them", () =>
      within((shop) =>
        Effect.gen(function* () {
          const id = yield* shop.visit((billing) => shop.buy(billing, 50_00, "good"))
          yield* shop.stand.refund(id, null)
          yield* addOthers(shop, 600, "succeeded")
          let looks = 0
          let isBegun = false
          const counted = Effect.suspend(() => {
            looks++
            return open
          })
          const { retrieve, ...processor } = withOthers(shop.stand, counted)
          const isFound = Effect.map(shop.moved, ({ length }) => length === 2)
          // who has begun to look at the refund is let finish
          const isDone = Effect.suspend(() => (isBegun ? isFound : Effect.succeed(looks >= 499)))
          const run = Effect.suspend(() => {
            looks = 0
            isBegun = false
            return shop.visit(() => until(isDone), {
              processor: {
                ...processor,
                retrieve: (query) => {
                  isBegun ||= query.payment_id === id
                  return retrieve(query)
                }
              }
            })
          })
          yield* until(Effect.andThen(run, isFound))
          assert.strictEqual((yield* shop.bookings).at(-1)?.credits, -50_000)
        })
      )
    )

    it.live("reaches a refund behind eight payments that always fail", () =>
      within((shop) =>
        Effect.gen(function* () {
          const id = yield* shop.visit((billing) => shop.buy(billing, 50_00, "good"))
          yield* shop.stand.refund(id, null)
          yield* addOthers(shop, 8, "succeeded")
          const processor = withOthers(shop.stand, failing)
          yield* inHaste(shop.visit(() => until(Effect.map(shop.moved, ({ length }) => length === 2)), { processor }))
          assert.strictEqual((yield* shop.bookings).at(-1)?.credits, -50_000)
        })
      )
    )
  })
})
