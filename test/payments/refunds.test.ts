/** Refunds: credits are deducted once, and returned once. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { inEachSetup, until } from "./setup.ts"

inEachSetup((name, within) => {
  describe(`refunds with ${name}`, () => {
    it.live("deduct credits once for each refund, even if it is reported repeatedly and in a different order", () =>
      within(({ account_id, balance, buy, checkBooks, movements, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "good")
            const early = yield* harness.event(id)
            yield* harness.refund(id, 10_00)
            const first = yield* harness.event(id)
            yield* harness.refund(id, 15_00)
            const second = yield* harness.event(id)
            for (const { body, header } of [second, first, first, early, second]) yield* billing.webhook(body, header)
            assert.deepStrictEqual(yield* movements, [
              ["top_up", 50_000],
              ["refund", -10_000],
              ["refund", -15_000]
            ])
            assert.strictEqual(yield* balance, 5_000 + 25_000)
            const { reversals, state } = yield* billing.payment(account_id, id)
            assert.strictEqual(state, "succeeded")
            assert.deepStrictEqual(reversals.map(({ cents, kind, state }) => [kind, cents, state]).toSorted(), [
              ["refund", 10_00, "taken"],
              ["refund", 15_00, "taken"]
            ])
            yield* checkBooks
          })
        )
      )
    )

    it.live("deduct credits that were already spent: the balance becomes negative, and calls are refused", () =>
      within(({ balance, buy, checkBooks, movements, spend, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "good")
            yield* spend(54_000)
            yield* harness.refund(id, null)
            const { body, header } = yield* harness.event(id)
            yield* billing.webhook(body, header)
            assert.strictEqual(yield* balance, 1_000 - 50_000)
            assert.strictEqual(yield* spend(10), "insufficient_balance")
            yield* buy(billing, 100_00, "good")
            assert.strictEqual(yield* balance, 51_000)
            assert.strictEqual(yield* spend(10), "charged")
            assert.deepStrictEqual(yield* movements, [
              ["top_up", 50_000],
              ["refund", -50_000],
              ["top_up", 100_000]
            ])
            yield* checkBooks
          })
        )
      )
    )

    it.live("return the credits when a refund fails", () =>
      within(({ account_id, buy, checkBooks, movements, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "good")
            const refund = yield* harness.refund(id, 20_00)
            const taken = yield* harness.event(id)
            yield* billing.webhook(taken.body, taken.header)
            yield* harness.failRefund(id, refund)
            const failed = yield* harness.event(id)
            for (const { body, header } of [failed, taken, failed]) yield* billing.webhook(body, header)
            assert.deepStrictEqual(yield* movements, [
              ["top_up", 50_000],
              ["refund", -20_000],
              ["refund", 20_000]
            ])
            const { reversals } = yield* billing.payment(account_id, id)
            assert.deepStrictEqual(
              reversals.map(({ cents, id, kind, state }) => [id, kind, cents, state]),
              [[refund, "refund", 20_00, "returned"]]
            )
            yield* checkBooks
          })
        )
      )
    )

    it.live("return the credits when a refund fails after more than a year, even without an event", () =>
      within(({ account_id, buy, checkBooks, movements, advanceClock, harness, withBilling }) =>
        Effect.gen(function* () {
          const id = yield* withBilling((billing) => buy(billing, 50_00, "good"))
          yield* advanceClock(400 * 86_400_000)
          const refund = yield* harness.refund(id, 20_00)
          yield* withBilling((billing) =>
            until(Effect.map(billing.payment(account_id, id), ({ reversals }) => reversals.length === 1))
          )
          yield* advanceClock(200 * 86_400_000)
          yield* harness.failRefund(id, refund)
          yield* withBilling(() => until(Effect.map(movements, ({ length }) => length === 3)))
          assert.deepStrictEqual((yield* movements).at(-1), ["refund", 20_000])
          yield* checkBooks
        })
      )
    )

    it.live("deduct credits even without an event", () =>
      within(({ buy, checkBooks, movements, harness, withBilling }) =>
        Effect.gen(function* () {
          const id = yield* withBilling((billing) => buy(billing, 50_00, "good"))
          yield* harness.refund(id, 20_00)
          yield* withBilling(() => until(Effect.map(movements, ({ length }) => length === 2)))
          assert.deepStrictEqual(yield* movements, [
            ["top_up", 50_000],
            ["refund", -20_000]
          ])
          yield* checkBooks
        })
      )
    )
  })
})
