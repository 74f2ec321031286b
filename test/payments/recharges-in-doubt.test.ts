/** Recharges whose outcome is not known for a while: outages, lost and slow answers, and cards that are replaced meanwhile. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { aWhile, begin, paidTimes, settingsOf, spendAndTell } from "./recharging.ts"
import { inEachShop, until } from "./shop.ts"

inEachShop((name, within) => {
  describe.concurrent(`a recharge with ${name}`, () => {
    it.live("is not switched off by an outage, and two servers charge once when that is over", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing)
              yield* shop.stand.outage(true)
              yield* spendAndTell(shop, billing, 14_000)
              yield* until(Effect.map(settingsOf(shop, billing), ({ running }) => running))
              yield* aWhile
              assert.isTrue((yield* settingsOf(shop, billing)).is_on)
            })
          )
          yield* shop.stand.outage(false)
          yield* shop.visit((billing) =>
            shop.visit(() =>
              Effect.gen(function* () {
                yield* until(Effect.map(settingsOf(shop, billing), ({ is_on, running }) => is_on && !running))
                yield* aWhile
              })
            )
          )
          assert.strictEqual(yield* shop.stand.paid, 2)
          assert.strictEqual(yield* shop.balance, 21_000)
          yield* shop.checkBooks
        })
      )
    )

    it.live("that was under way in an outage is given up where it is not needed any more", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing)
              yield* shop.stand.outage(true)
              yield* spendAndTell(shop, billing, 14_000)
              yield* until(Effect.map(settingsOf(shop, billing), ({ running }) => running))
            })
          )
          yield* shop.administration.creditAccount({ account_id: shop.account_id, credits: 100_000, note: "by hand" })
          yield* shop.stand.outage(false)
          yield* shop.putForward(16 * 60_000)
          yield* shop.visit((billing) => until(Effect.map(settingsOf(shop, billing), ({ running }) => !running)))
          assert.strictEqual(yield* shop.stand.paid, 1)
          yield* shop.checkBooks
        })
      )
    )

    it.live("begins anew where the processor never took it up", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing)
              yield* shop.stand.outage(true)
              yield* spendAndTell(shop, billing, 14_000)
              yield* until(Effect.map(settingsOf(shop, billing), ({ running }) => running))
            })
          )
          yield* shop.stand.outage(false)
          yield* shop.putForward(16 * 60_000)
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* until(Effect.map(shop.balance, (balance) => balance === 21_000))
              yield* aWhile
              const payments = yield* billing.payments(shop.account_id, { before: null, limit: 10 })
              assert.deepStrictEqual(
                payments.map(({ state }) => state),
                ["succeeded", "expired", "succeeded"]
              )
            })
          )
          assert.strictEqual(yield* shop.stand.paid, 2)
          yield* shop.checkBooks
        })
      )
    )

    it.live("books once where an event overtakes a slow answer", () =>
      within((shop) =>
        Effect.gen(function* () {
          const { processor } = shop.stand
          const slow = {
            ...processor,
            charge: (asked: Parameters<typeof processor.charge>[0]) =>
              Effect.tap(processor.charge(asked), () => Effect.sleep("3 seconds"))
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
                yield* Effect.sleep("3500 millis")
                assert.strictEqual(yield* shop.balance, 21_000)
              }),
            { processor: slow }
          )
          yield* shop.checkBooks
        })
      )
    )

    it.live("charges once where the answer was lost", () =>
      within((shop) =>
        shop.visit((billing) =>
          Effect.gen(function* () {
            yield* begin(shop, billing)
            yield* shop.stand.loseNextAnswer
            yield* spendAndTell(shop, billing, 14_000)
            yield* until(Effect.map(shop.balance, (balance) => balance === 21_000))
            yield* aWhile
            assert.strictEqual(yield* shop.stand.paid, 2)
            yield* shop.checkBooks
          })
        )
      )
    )

    it.live("books what was given up and turns out to have been paid", () =>
      within((shop) =>
        Effect.gen(function* () {
          const { processor } = shop.stand
          const deaf = { ...processor, look: () => Effect.sync(() => undefined) }
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
                yield* until(Effect.map(settingsOf(shop, billing), ({ running }) => running))
                yield* until(paidTimes(shop, 2))
                yield* billing.saveRecharge(shop.account_id, { is_on: false, cents: 20_00, trigger_credits: 5_000 })
              }),
            { processor: deaf }
          )
          yield* shop.putForward(16 * 60_000)
          yield* shop.visit((billing) => until(Effect.map(settingsOf(shop, billing), ({ running }) => !running)), {
            processor: deaf
          })
          assert.strictEqual(yield* shop.balance, 1_000)
          yield* shop.visit(() => until(Effect.map(shop.balance, (balance) => balance === 21_000)))
          yield* shop.checkBooks
        })
      )
    )

    it.live("stays on where the card that failed was replaced meanwhile, and charges the new one", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing)
              yield* shop.stand.outage(true)
              yield* spendAndTell(shop, billing, 14_000)
              yield* until(Effect.map(settingsOf(shop, billing), ({ running }) => running))
              yield* aWhile
              yield* shop.stand.outage(false)
              yield* billing.saveRecharge(shop.account_id, { is_on: true, cents: 20_00, trigger_credits: 20_000 })
              yield* shop.buy(billing, 10_00, "mastercard") // the first card is forgotten
            })
          )
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* until(Effect.map(shop.balance, (balance) => balance === 31_000))
              yield* until(Effect.map(settingsOf(shop, billing), ({ running }) => !running))
              assert.deepInclude(yield* settingsOf(shop, billing), { is_on: true, off_reason: null })
              const [payment] = yield* billing.payments(shop.account_id, { before: null, limit: 1 })
              assert.deepInclude(payment, { state: "succeeded", card: { brand: "mastercard", last4: "4444" } })
            })
          )
          yield* shop.checkBooks
        })
      )
    )
  })
})
