/** Recharges whose outcome is not known for a while: outages, lost and slow answers, and cards that are replaced meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { type Billing, type CardProcessor, ProcessorUnavailable } from "@larder/serve/billing"
import { Clock, Deferred, Effect, Fiber, type Scope } from "effect"
import { aWhile, begin, paidTimes, settingsOf, spendAndTell } from "./recharging.ts"
import { inEachShop, type Shop, until } from "./shop.ts"

type Open = Billing["Service"]

const underWay = (shop: Shop, billing: Open) =>
  until(Effect.map(settingsOf(shop, billing), ({ is_recharging }) => is_recharging))
const settled = (shop: Shop, billing: Open) =>
  until(Effect.map(settingsOf(shop, billing), ({ is_recharging }) => !is_recharging))
const balanceIs = (shop: Shop, credits: number) => until(Effect.map(shop.balance, (balance) => balance === credits))

/** With 15,000 credits, of which 14,000 are spent while the processor is away. */
const beginInOutage = Effect.fnUntraced(function* (shop: Shop, billing: Open) {
  yield* begin(shop, billing)
  yield* shop.stand.outage(true)
  yield* spendAndTell(shop, billing, 14_000)
  yield* underWay(shop, billing)
})

/** Until the processor has refused it: nothing is on its way any more when the outage ends. */
const refusedInOutage = (shop: Shop) => {
  const { processor } = shop.stand
  let isRefused = false
  const charge: CardProcessor["charge"] = (asked) =>
    Effect.tapError(processor.charge(asked), () =>
      Effect.sync(() => {
        isRefused = true
      })
    )
  return shop.visit((billing) => Effect.andThen(beginInOutage(shop, billing), until(Effect.sync(() => isRefused))), {
    processor: { ...processor, charge }
  })
}

inEachShop((name, within) => {
  /** Money in equals credits granted, whatever happened. */
  const plays = <A, E>(what: string, play: (shop: Shop) => Effect.Effect<A, E, Scope.Scope>) =>
    it.live(what, () => within((shop) => Effect.andThen(play(shop), shop.checkBooks)))

  describe.concurrent(`a recharge in doubt with ${name}`, () => {
    plays("stays on during an outage, and is charged once by two servers after it", (shop) =>
      Effect.gen(function* () {
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* beginInOutage(shop, billing)
            yield* aWhile
            assert.isTrue((yield* settingsOf(shop, billing)).is_on)
          })
        )
        yield* shop.stand.outage(false)
        yield* shop.visit((billing) =>
          shop.visit(() =>
            Effect.gen(function* () {
              yield* until(Effect.map(settingsOf(shop, billing), ({ is_on, is_recharging }) => is_on && !is_recharging))
              yield* aWhile
            })
          )
        )
        assert.strictEqual(yield* shop.stand.paid, 2)
        assert.strictEqual(yield* shop.balance, 21_000)
      })
    )

    plays("is given up after an outage when the balance no longer needs it", (shop) =>
      Effect.gen(function* () {
        yield* refusedInOutage(shop)
        yield* shop.administration.creditAccount({ account_id: shop.account_id, credits: 100_000, note: "by hand" })
        yield* shop.stand.outage(false)
        yield* shop.putForward(16 * 60_000)
        yield* shop.visit((billing) => settled(shop, billing))
        assert.strictEqual(yield* shop.stand.paid, 1)
      })
    )

    plays("begins again when the processor never received it", (shop) =>
      Effect.gen(function* () {
        yield* refusedInOutage(shop)
        yield* shop.stand.outage(false)
        yield* shop.putForward(16 * 60_000)
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* balanceIs(shop, 21_000)
            yield* aWhile
            const payments = yield* billing.payments(shop.account_id, { before: null, limit: 10 })
            assert.deepStrictEqual(
              payments.map(({ state }) => state),
              ["succeeded", "expired", "succeeded"]
            )
          })
        )
        assert.strictEqual(yield* shop.stand.paid, 2)
      })
    )

    plays("is booked once when an event arrives before a slow answer", (shop) =>
      Effect.gen(function* () {
        const { processor } = shop.stand
        const overtaken = yield* Deferred.make<void>()
        let isAnswered = false
        const slow = {
          ...processor,
          charge: (asked: Parameters<typeof processor.charge>[0]) =>
            Effect.tap(processor.charge(asked), () =>
              Effect.andThen(
                Deferred.await(overtaken),
                Effect.sync(() => {
                  isAnswered = true
                })
              )
            )
        }
        yield* shop.visit(
          (billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing)
              yield* spendAndTell(shop, billing, 14_000)
              yield* until(paidTimes(shop, 2))
              const [payment] = yield* billing.payments(shop.account_id, { before: null, limit: 1 })
              const { body, header } = yield* shop.stand.event(payment?.id ?? "")
              yield* billing.webhook(body, header)
              assert.strictEqual(yield* shop.balance, 21_000)
              yield* Deferred.succeed(overtaken, undefined)
              yield* until(Effect.sync(() => isAnswered))
              yield* aWhile
              assert.strictEqual(yield* shop.balance, 21_000)
            }),
          { processor: slow }
        )
      })
    )

    plays("is charged once when the answer is lost", (shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          yield* begin(shop, billing)
          yield* shop.stand.loseNextAnswer
          yield* spendAndTell(shop, billing, 14_000)
          yield* balanceIs(shop, 21_000)
          yield* aWhile
          assert.strictEqual(yield* shop.stand.paid, 2)
        })
      )
    )

    plays("is charged and booked once, like a top-up beside it, when the answers come too late", (shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          yield* begin(shop, billing)
          yield* shop.stand.slow(true)
          const asked = yield* Clock.currentTimeMillis
          yield* spendAndTell(shop, billing, 14_000)
          const topUp = yield* Effect.forkScoped(billing.topUp((yield* shop.savedForm(billing, 30_00)).asked))
          yield* until(paidTimes(shop, 3))
          yield* shop.stand.slow(false) // for what is asked from now on
          assert.strictEqual(yield* shop.balance, 1_000)
          const answer = yield* Fiber.join(topUp)
          assert.isAtLeast((yield* Clock.currentTimeMillis) - asked, 10_000)
          assert.isTrue("payment" in answer && answer.payment.state === "succeeded")
          yield* balanceIs(shop, 51_000)
          yield* settled(shop, billing)
          yield* Effect.sleep("2 seconds") // the answers have come by now, and nobody waits for them
          assert.strictEqual(yield* shop.stand.paid, 3)
          assert.deepStrictEqual(
            (yield* shop.moved).toSorted(([, one], [, other]) => one - other),
            [
              ["top_up", 10_000],
              ["auto_recharge", 20_000],
              ["top_up", 30_000]
            ]
          )
        })
      )
    )

    plays("is booked when it was given up and turns out to be paid", (shop) =>
      Effect.gen(function* () {
        const { processor } = shop.stand
        const deaf = { ...processor, retrieve: () => Effect.sync(() => undefined) }
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* begin(shop, billing)
            yield* shop.stand.loseNextAnswer
            yield* shop.spend(14_000)
          })
        )
        yield* shop.visit(
          (billing) =>
            Effect.gen(function* () {
              yield* underWay(shop, billing)
              yield* until(paidTimes(shop, 2))
              yield* billing.saveRecharge(shop.account_id, { is_on: false, cents: 20_00, trigger_credits: 5_000 })
            }),
          { processor: deaf }
        )
        yield* shop.putForward(16 * 60_000)
        yield* shop.visit((billing) => settled(shop, billing), {
          processor: deaf
        })
        assert.strictEqual(yield* shop.balance, 1_000)
        yield* shop.visit(() => balanceIs(shop, 21_000))
      })
    )

    plays("is not repeated with a card that was replaced, and begins again with the new card", (shop) =>
      Effect.gen(function* () {
        const { processor } = shop.stand
        const keeping: CardProcessor = { ...processor, forget: () => Effect.void }
        yield* shop.visit(
          (billing) =>
            Effect.gen(function* () {
              yield* beginInOutage(shop, billing)
              yield* aWhile
              yield* shop.stand.outage(false)
              yield* billing.saveRecharge(shop.account_id, { is_on: true, cents: 20_00, trigger_credits: 20_000 })
              yield* shop.buy(billing, 10_00, "mastercard")
            }),
          { processor: keeping }
        )
        yield* shop.visit(() => aWhile, { processor: keeping })
        assert.strictEqual(yield* shop.balance, 11_000)
        yield* shop.putForward(16 * 60_000)
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* balanceIs(shop, 31_000)
            yield* settled(shop, billing)
            const payments = yield* billing.payments(shop.account_id, { before: null, limit: 3 })
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
      })
    )

    plays("is not repeated with an amount that was changed, and begins again with the new amount", (shop) =>
      Effect.gen(function* () {
        const choice = { is_on: true, cents: 10_00, trigger_credits: 5_000 }
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* beginInOutage(shop, billing)
            yield* aWhile
            yield* billing.saveRecharge(shop.account_id, choice)
          })
        )
        yield* shop.stand.outage(false)
        yield* shop.visit(() => aWhile)
        assert.strictEqual(yield* shop.balance, 1_000)
        yield* shop.putForward(16 * 60_000)
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* balanceIs(shop, 11_000)
            yield* settled(shop, billing)
            const payments = yield* billing.payments(shop.account_id, { before: null, limit: 2 })
            assert.deepStrictEqual(
              payments.map(({ cents, state }) => [cents, state]),
              [
                [10_00, "succeeded"],
                [20_00, "expired"]
              ]
            )
          })
        )
      })
    )

    plays("stays on when the card that failed was replaced, and charges the new card", (shop) =>
      Effect.gen(function* () {
        const { processor } = shop.stand
        const lost = new ProcessorUnavailable({ processor: processor.name, cause: new Error("the answer is lost") })
        const deaf: CardProcessor = {
          ...processor,
          charge: (asked) => Effect.andThen(processor.charge(asked), Effect.fail(lost)),
          retrieve: (query) => (query.card !== null ? Effect.sync(() => undefined) : processor.retrieve(query))
        }
        yield* shop.visit(
          (billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing, { card: "declined_later" })
              yield* spendAndTell(shop, billing, 14_000)
              yield* underWay(shop, billing)
              yield* aWhile
              yield* billing.saveRecharge(shop.account_id, { is_on: true, cents: 20_00, trigger_credits: 20_000 })
              yield* shop.buy(billing, 10_00, "mastercard")
            }),
          { processor: deaf }
        )
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* balanceIs(shop, 31_000)
            yield* settled(shop, billing)
            assert.deepInclude(yield* settingsOf(shop, billing), { is_on: true, off_reason: null })
            const [payment] = yield* billing.payments(shop.account_id, { before: null, limit: 1 })
            assert.deepInclude(payment, { state: "succeeded", card: { brand: "mastercard", last4: "4444" } })
          })
        )
      })
    )
  })
})
