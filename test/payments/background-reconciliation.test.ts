/** Payments without an event are reconciled in the background, even if there are many others. Takes half a minute. */
import { assert, describe, it } from "@effect/vitest"
import { type CardProcessor, ProcessorUnavailable } from "@larder/serve/billing/processor.ts"
import { Clock, Effect, Logger, References } from "effect"
import { inEachSetup, type Setup, until, withoutLongSleeps } from "./setup.ts"

/** Payments that the processor never made: their ids sort before all others, and they are newer. */
const addOthers = ({ account_id, database, harness }: Setup, count: number, state: "open" | "succeeded") =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    database.run(
      `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${count})
       insert into console.payment (id, account_id, kind, cents, state, processor, reference, created_at)
       select 'pay_0000' || number, $1, 'top_up', 1000, $2, $3, 'another', $4
       from numbers
       returning id`,
      [account_id, state, harness.processor.name, new Date(now + 1000).toISOString()]
    )
  )

/** The processor, with the given result for the payments of `addOthers`. */
const withOthers = (
  { processor }: Setup["harness"],
  retrieve: ReturnType<CardProcessor["retrieve"]>
): CardProcessor => ({
  ...processor,
  retrieve: (query) => (query.payment_id.startsWith("pay_0000") ? retrieve : processor.retrieve(query))
})
const asOpen = Effect.succeed({
  state: "open",
  reference: "another",
  cents: 0,
  problem: null,
  customer: null,
  card: null,
  reversed: []
} as const)
const asUnavailable = Effect.fail(new ProcessorUnavailable({ processor: "another", cause: "of another account" }))

/** The customer pays on the page and does not return to the console. */
const payWithoutReturn = ({ form, harness, withBilling }: Setup) =>
  Effect.gen(function* () {
    const { request, sent } = form(50_00)
    yield* withBilling((billing) => billing.topUp(request))
    yield* harness.pay(sent.payment_id, "good")
    return sent.payment_id
  })

inEachSetup((name, within) => {
  describe(`background reconciliation with ${name}`, () => {
    it.live("finds a payment behind 1,001 abandoned pages", () =>
      within((setup) =>
        Effect.gen(function* () {
          yield* payWithoutReturn(setup)
          assert.strictEqual(yield* addOthers(setup, 1_001, "open"), 1_001)
          const processor = withOthers(setup.harness, asOpen)
          yield* setup.withBilling(() => until(Effect.map(setup.movements, ({ length }) => length === 1)), {
            processor
          })
          yield* setup.checkBooks
        })
      )
    )

    it.live("logs a booked payment once when four servers reconcile it concurrently", () =>
      within((setup) =>
        Effect.gen(function* () {
          const logs: Array<string> = []
          const logger = Logger.make(({ message }) => logs.push(String([message].flat()[0])))
          const id = yield* payWithoutReturn(setup)
          const reconcile = setup.withBilling((billing) => billing.payment(setup.account_id, id))
          yield* Effect.all([reconcile, reconcile, reconcile, reconcile], { concurrency: "unbounded" }).pipe(
            Effect.provide(Logger.layer([logger])),
            Effect.provideService(References.MinimumLogLevel, "Info")
          )
          const booked = logs.filter((message) => message === "payment booked")
          assert.strictEqual(booked.length, 1)
          assert.deepStrictEqual(yield* setup.movements, [["top_up", 50_000]])
        })
      )
    )

    it.live("reaches an open payment behind eight others that always fail", () =>
      within((setup) =>
        Effect.gen(function* () {
          yield* payWithoutReturn(setup)
          yield* addOthers(setup, 8, "open")
          yield* setup.advanceClock(11 * 3_600_000) // reconciled once an hour
          const processor = withOthers(setup.harness, asUnavailable)
          yield* withoutLongSleeps(
            setup.withBilling(() => until(Effect.map(setup.movements, ({ length }) => length === 1)), { processor })
          )
          yield* setup.checkBooks
        })
      )
    )

    it.live("reaches a refund behind 600 other payments, although each server stops after 499 payments", () =>
      within((setup) =>
        Effect.gen(function* () {
          const id = yield* setup.withBilling((billing) => setup.buy(billing, 50_00, "good"))
          yield* setup.harness.refund(id, null)
          yield* addOthers(setup, 600, "succeeded")
          let retrievals = 0
          let hasBegun = false
          const countedRetrieval = Effect.suspend(() => {
            retrievals++
            return asOpen
          })
          const { retrieve, ...processor } = withOthers(setup.harness, countedRetrieval)
          const isFound = Effect.map(setup.movements, ({ length }) => length === 2)
          // a server that has begun to retrieve the refunded payment may finish
          const isDone = Effect.suspend(() => (hasBegun ? isFound : Effect.succeed(retrievals >= 499)))
          const run = Effect.suspend(() => {
            retrievals = 0
            hasBegun = false
            return setup.withBilling(() => until(isDone), {
              processor: {
                ...processor,
                retrieve: (query) => {
                  hasBegun ||= query.payment_id === id
                  return retrieve(query)
                }
              }
            })
          })
          yield* until(Effect.andThen(run, isFound))
          assert.strictEqual((yield* setup.bookings).at(-1)?.credits, -50_000)
        })
      )
    )

    it.live("reaches a refund behind eight payments that always fail", () =>
      within((setup) =>
        Effect.gen(function* () {
          const id = yield* setup.withBilling((billing) => setup.buy(billing, 50_00, "good"))
          yield* setup.harness.refund(id, null)
          yield* addOthers(setup, 8, "succeeded")
          const processor = withOthers(setup.harness, asUnavailable)
          yield* withoutLongSleeps(
            setup.withBilling(() => until(Effect.map(setup.movements, ({ length }) => length === 2)), { processor })
          )
          assert.strictEqual((yield* setup.bookings).at(-1)?.credits, -50_000)
        })
      )
    )
  })
})
