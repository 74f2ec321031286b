/** Recharges with an unknown outcome: outages, lost and slow responses, and cards that are replaced in the meantime. */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { type CardProcessor, ProcessorUnavailable } from "@larder/serve/billing/processor.ts"
import { pauseMs } from "@larder/serve/billing/recharges/limits.ts"
import { Clock, Deferred, Effect, Fiber, type Scope } from "effect"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { advanceToNoon, begin, hasPaidAtLeast, readRecharge, spendAndMark } from "./recharging.ts"
import { inEachSetup, type Setup, until, withQuickSleeps } from "./setup.ts"

type OpenBilling = Billing["Service"]

const untilRunning = (setup: Setup, billing: OpenBilling) =>
  until(Effect.map(readRecharge(setup, billing), ({ is_recharging }) => is_recharging))
const untilEnded = (setup: Setup, billing: OpenBilling) =>
  until(Effect.map(readRecharge(setup, billing), ({ is_recharging }) => !is_recharging))
const untilBalance = (setup: Setup, credits: number) =>
  until(Effect.map(setup.balance, (balance) => balance === credits))

/** With 15,000 credits, of which 14,000 are spent during an outage of the processor. */
const beginInOutage = Effect.fnUntraced(function* (setup: Setup, billing: OpenBilling) {
  yield* begin(setup, billing)
  yield* setup.harness.outage(true)
  yield* spendAndMark(setup, billing, 14_000)
  yield* untilRunning(setup, billing)
})

/** Waits until the charge has failed, so that no request is in progress when the outage ends. */
const failInOutage = (setup: Setup) => {
  const { processor } = setup.harness
  let hasFailed = false
  const charge: CardProcessor["charge"] = (request) =>
    Effect.tapError(processor.charge(request), () =>
      Effect.sync(() => {
        hasFailed = true
      })
    )
  return setup.withBilling(
    (billing) => Effect.andThen(beginInOutage(setup, billing), until(Effect.sync(() => hasFailed))),
    {
      processor: { ...processor, charge }
    }
  )
}

inEachSetup((name, within) => {
  /** At the end, the money received equals the credits granted. */
  const testInRealTime = <A, E>(name: string, work: (setup: Setup) => Effect.Effect<A, E, Scope.Scope>) =>
    it.live(name, () => within((setup) => Effect.andThen(work(setup), setup.checkBooks)))
  const test: typeof testInRealTime = (name, work) => testInRealTime(name, (setup) => withQuickSleeps(work(setup)))

  describe.concurrent(`a recharge in doubt with ${name}`, () => {
    // first, because its ten seconds pass beside the other tests: the time-out of Stripe's library is real time
    testInRealTime("is charged and booked once, like a concurrent top-up, if the responses come too late", (setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          yield* begin(setup, billing)
          yield* setup.harness.slow(true)
          const started = yield* Clock.currentTimeMillis
          yield* spendAndMark(setup, billing, 14_000)
          const topUp = yield* Effect.forkScoped(
            billing.topUp((yield* setup.formWithSavedCard(billing, 30_00)).request)
          )
          yield* until(hasPaidAtLeast(setup, 3))
          yield* setup.harness.slow(false) // for later requests
          assert.strictEqual(yield* setup.balance, 1_000)
          const result = yield* Fiber.join(topUp)
          assert.isAtLeast((yield* Clock.currentTimeMillis) - started, 10_000)
          assert.isTrue("payment" in result && result.payment.state === "succeeded")
          yield* untilBalance(setup, 51_000)
          yield* untilEnded(setup, billing)
          yield* Effect.sleep("2 seconds") // by now the late responses have arrived, and are ignored
          assert.strictEqual(yield* setup.harness.paid, 3)
          assert.deepStrictEqual(
            (yield* setup.movements).toSorted(([, a], [, b]) => a - b),
            [
              ["top_up", 10_000],
              ["auto_recharge", 20_000],
              ["top_up", 30_000]
            ]
          )
        })
      )
    )

    test("leaves auto-recharge on during an outage, and is charged once by two servers after it", (setup) =>
      Effect.gen(function* () {
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* beginInOutage(setup, billing)
            yield* setup.evaluated
            assert.isTrue((yield* readRecharge(setup, billing)).is_on)
          })
        )
        yield* setup.harness.outage(false)
        yield* setup.withBilling((billing) =>
          setup.withBilling(() =>
            Effect.gen(function* () {
              yield* until(
                Effect.map(readRecharge(setup, billing), ({ is_on, is_recharging }) => is_on && !is_recharging)
              )
              yield* setup.evaluated
            })
          )
        )
        assert.strictEqual(yield* setup.harness.paid, 2)
        assert.strictEqual(yield* setup.balance, 21_000)
      }))

    test("counts on the day of its last request, if it is requested again after midnight", (setup) =>
      Effect.gen(function* () {
        yield* advanceToNoon(setup)
        yield* setup.advanceClock(12 * 3_600_000 - 600_000) // ten minutes before midnight
        yield* failInOutage(setup)
        yield* setup.advanceClock(840_000)
        yield* setup.harness.outage(false)
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* untilBalance(setup, 21_000)
            yield* untilEnded(setup, billing)
            const choice = rechargeChoice({ cents: 20_00, trigger_credits: 5_000, daily_ceiling_cents: 20_00 })
            const { recharge } = yield* saveRecharge(billing, setup.account_id, choice)
            assert.deepStrictEqual([recharge.requested.today_cents, recharge.limit?.by], [20_00, "day"])
            yield* spendAndMark(setup, billing, 17_000)
            yield* setup.advanceClock(pauseMs)
            yield* setup.evaluated
            assert.strictEqual(yield* setup.harness.paid, 2)
          })
        )
      }))

    test("is not requested again above a ceiling that was lowered in the meantime", (setup) =>
      Effect.gen(function* () {
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* begin(setup, billing)
            yield* spendAndMark(setup, billing, 14_000)
            yield* untilBalance(setup, 21_000)
            yield* untilEnded(setup, billing)
            yield* setup.advanceClock(pauseMs)
            yield* setup.harness.outage(true)
            yield* spendAndMark(setup, billing, 20_000)
            yield* untilRunning(setup, billing)
            yield* setup.evaluated
            const choice = rechargeChoice({ cents: 20_00, trigger_credits: 5_000, daily_ceiling_cents: 20_00 })
            yield* saveRecharge(billing, setup.account_id, choice)
          })
        )
        yield* setup.harness.outage(false)
        yield* setup.withBilling(() => setup.evaluated)
        assert.strictEqual(yield* setup.harness.paid, 2)
        assert.strictEqual(yield* setup.balance, 1_000)
      }))

    test("is not requested again while the account is suspended, and is once it is resumed", (setup) =>
      Effect.gen(function* () {
        const { account_id, administration, harness } = setup
        yield* failInOutage(setup)
        yield* administration.suspendAccount({ account_id, note: "unpaid" })
        yield* harness.outage(false)
        yield* setup.withBilling(() => setup.evaluated)
        assert.strictEqual(yield* harness.paid, 1)
        assert.strictEqual(yield* setup.balance, 1_000)
        yield* administration.resumeAccount({ account_id, note: "paid" })
        yield* setup.withBilling((billing) => Effect.andThen(untilBalance(setup, 21_000), untilEnded(setup, billing)))
        assert.strictEqual(yield* harness.paid, 2)
      }))

    test("expires after an outage if the balance no longer requires it", (setup) =>
      Effect.gen(function* () {
        yield* failInOutage(setup)
        yield* setup.administration.creditAccount({ account_id: setup.account_id, credits: 100_000, note: "manual" })
        yield* setup.harness.outage(false)
        yield* setup.advanceClock(16 * 60_000)
        yield* setup.withBilling((billing) => untilEnded(setup, billing))
        assert.strictEqual(yield* setup.harness.paid, 1)
      }))

    test("begins again if the processor never received it", (setup) =>
      Effect.gen(function* () {
        yield* failInOutage(setup)
        yield* setup.harness.outage(false)
        yield* setup.advanceClock(16 * 60_000)
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* untilBalance(setup, 21_000)
            yield* setup.evaluated
            const payments = yield* billing.payments(setup.account_id, { before: null, limit: 10 })
            assert.deepStrictEqual(
              payments.map(({ state }) => state),
              ["succeeded", "expired", "succeeded"]
            )
          })
        )
        assert.strictEqual(yield* setup.harness.paid, 2)
      }))

    test("is booked once if an event arrives before a slow response", (setup) =>
      Effect.gen(function* () {
        const { processor } = setup.harness
        const eventHandled = yield* Deferred.make<void>()
        let hasResponded = false
        const slow = {
          ...processor,
          charge: (request: Parameters<typeof processor.charge>[0]) =>
            Effect.tap(processor.charge(request), () =>
              Effect.andThen(
                Deferred.await(eventHandled),
                Effect.sync(() => {
                  hasResponded = true
                })
              )
            )
        }
        yield* setup.withBilling(
          (billing) =>
            Effect.gen(function* () {
              yield* begin(setup, billing)
              yield* spendAndMark(setup, billing, 14_000)
              yield* until(hasPaidAtLeast(setup, 2))
              const [payment] = yield* billing.payments(setup.account_id, { before: null, limit: 1 })
              const { body, header } = yield* setup.harness.event(payment?.id ?? "")
              yield* billing.webhook(body, header)
              assert.strictEqual(yield* setup.balance, 21_000)
              yield* Deferred.succeed(eventHandled, undefined)
              yield* until(Effect.sync(() => hasResponded))
              yield* setup.evaluated
              assert.strictEqual(yield* setup.balance, 21_000)
            }),
          { processor: slow }
        )
      }))

    test("is charged once if the response is lost", (setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          yield* begin(setup, billing)
          yield* setup.harness.loseNextResponse
          yield* spendAndMark(setup, billing, 14_000)
          yield* untilBalance(setup, 21_000)
          yield* setup.evaluated
          assert.strictEqual(yield* setup.harness.paid, 2)
        })
      ))

    test("is booked if it was expired and turns out to be paid", (setup) =>
      Effect.gen(function* () {
        const { processor } = setup.harness
        const withoutRetrieve = { ...processor, retrieve: () => Effect.sync(() => undefined) }
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* begin(setup, billing)
            yield* setup.harness.loseNextResponse
            yield* setup.spend(14_000)
          })
        )
        yield* setup.withBilling(
          (billing) =>
            Effect.gen(function* () {
              yield* untilRunning(setup, billing)
              yield* until(hasPaidAtLeast(setup, 2))
              yield* saveRecharge(
                billing,
                setup.account_id,
                rechargeChoice({ is_on: false, cents: 20_00, trigger_credits: 5_000 })
              )
            }),
          { processor: withoutRetrieve }
        )
        yield* setup.advanceClock(16 * 60_000)
        yield* setup.withBilling((billing) => untilEnded(setup, billing), {
          processor: withoutRetrieve
        })
        assert.strictEqual(yield* setup.balance, 1_000)
        yield* setup.withBilling(() => untilBalance(setup, 21_000))
      }))

    test("is not repeated with a replaced card, and begins again with the new card", (setup) =>
      Effect.gen(function* () {
        const { processor } = setup.harness
        const withoutDetach: CardProcessor = { ...processor, detachCard: () => Effect.void }
        yield* setup.withBilling(
          (billing) =>
            Effect.gen(function* () {
              yield* beginInOutage(setup, billing)
              yield* setup.evaluated
              yield* setup.harness.outage(false)
              yield* saveRecharge(billing, setup.account_id, rechargeChoice({ cents: 20_00, trigger_credits: 20_000 }))
              yield* setup.buy(billing, 10_00, "mastercard")
            }),
          { processor: withoutDetach }
        )
        yield* setup.withBilling(() => setup.evaluated, { processor: withoutDetach })
        assert.strictEqual(yield* setup.balance, 11_000)
        yield* setup.advanceClock(16 * 60_000)
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* untilBalance(setup, 31_000)
            yield* untilEnded(setup, billing)
            const payments = yield* billing.payments(setup.account_id, { before: null, limit: 3 })
            assert.deepStrictEqual(
              payments.map(({ card, kind, state }) => [kind, state, card?.brand]),
              [
                ["auto_recharge", "succeeded", "mastercard"],
                ["top_up", "succeeded", "mastercard"],
                ["auto_recharge", "expired", "visa"]
              ]
            )
          })
        )
      }))

    test("is not repeated with an earlier amount, and begins again with the new amount", (setup) =>
      Effect.gen(function* () {
        const choice = rechargeChoice({ cents: 10_00, trigger_credits: 5_000 })
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* beginInOutage(setup, billing)
            yield* setup.evaluated
            yield* saveRecharge(billing, setup.account_id, choice)
          })
        )
        yield* setup.harness.outage(false)
        yield* setup.withBilling(() => setup.evaluated)
        assert.strictEqual(yield* setup.balance, 1_000)
        yield* setup.advanceClock(16 * 60_000)
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* untilBalance(setup, 11_000)
            yield* untilEnded(setup, billing)
            const payments = yield* billing.payments(setup.account_id, { before: null, limit: 2 })
            assert.deepStrictEqual(
              payments.map(({ cents, state }) => [cents, state]),
              [
                [10_00, "succeeded"],
                [20_00, "expired"]
              ]
            )
          })
        )
      }))

    test("leaves auto-recharge on if the failed card was replaced, and begins again with the new card", (setup) =>
      Effect.gen(function* () {
        const { processor } = setup.harness
        const lost = new ProcessorUnavailable({ processor: processor.name, cause: new Error("the response is lost") })
        const withoutRetrieve: CardProcessor = {
          ...processor,
          charge: (request) => Effect.andThen(processor.charge(request), Effect.fail(lost)),
          retrieve: (query) => (query.card !== null ? Effect.sync(() => undefined) : processor.retrieve(query))
        }
        yield* setup.withBilling(
          (billing) =>
            Effect.gen(function* () {
              yield* begin(setup, billing, { card: "declined_later" })
              yield* spendAndMark(setup, billing, 14_000)
              yield* untilRunning(setup, billing)
              yield* setup.evaluated
              yield* saveRecharge(billing, setup.account_id, rechargeChoice({ cents: 20_00, trigger_credits: 20_000 }))
              yield* setup.buy(billing, 10_00, "mastercard")
            }),
          { processor: withoutRetrieve }
        )
        yield* setup.advanceClock(pauseMs)
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* untilBalance(setup, 31_000)
            yield* untilEnded(setup, billing)
            assert.deepInclude(yield* readRecharge(setup, billing), { is_on: true, off_reason: null })
            const [payment] = yield* billing.payments(setup.account_id, { before: null, limit: 1 })
            assert.deepInclude(payment, { state: "succeeded", card: { brand: "mastercard", last4: "4444" } })
          })
        )
      }))
  })
})
