/** Refunds and disputes: credits go once, and come back once. */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { Effect } from "effect"
import { inEachShop, until } from "./shop.ts"

inEachShop((name, within) => {
  describe(`money that goes back with ${name}`, () => {
    it.live("takes credits once for each refund, even if it is reported repeatedly and in another order", () =>
      within(({ account_id, balance, buy, checkBooks, moved, stand, visit }) =>
        visit((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "good")
            const early = yield* stand.event(id)
            yield* stand.refund(id, 10_00)
            const first = yield* stand.event(id)
            yield* stand.refund(id, 15_00)
            const second = yield* stand.event(id)
            for (const { body, header } of [second, first, first, early, second]) yield* billing.webhook(body, header)
            assert.deepStrictEqual(yield* moved, [
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

    it.live("takes credits that were spent already: the balance is negative, and calls are refused", () =>
      within(({ balance, buy, checkBooks, moved, spend, stand, visit }) =>
        visit((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "good")
            yield* spend(54_000)
            yield* stand.refund(id, null)
            const { body, header } = yield* stand.event(id)
            yield* billing.webhook(body, header)
            assert.strictEqual(yield* balance, 1_000 - 50_000)
            assert.strictEqual(yield* spend(10), "insufficient_balance")
            yield* buy(billing, 100_00, "good")
            assert.strictEqual(yield* balance, 51_000)
            assert.strictEqual(yield* spend(10), "charged")
            assert.deepStrictEqual(yield* moved, [
              ["top_up", 50_000],
              ["refund", -50_000],
              ["top_up", 100_000]
            ])
            yield* checkBooks
          })
        )
      )
    )

    it.live("comes back when a refund fails", () =>
      within(({ account_id, buy, checkBooks, moved, stand, visit }) =>
        visit((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "good")
            const refund = yield* stand.refund(id, 20_00)
            const taken = yield* stand.event(id)
            yield* billing.webhook(taken.body, taken.header)
            yield* stand.failRefund(id, refund)
            const failed = yield* stand.event(id)
            for (const { body, header } of [failed, taken, failed]) yield* billing.webhook(body, header)
            assert.deepStrictEqual(yield* moved, [
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

    it.live.each(["won", "lost"] as const)(
      "is taken when a dispute opens, and comes back only if it is won: %s",
      (outcome) =>
        within(({ account_id, buy, checkBooks, moved, stand, visit }) =>
          visit((billing) =>
            Effect.gen(function* () {
              const id = yield* buy(billing, 50_00, "good")
              yield* billing.saveRecharge(account_id, { is_on: true, cents: 10_00, trigger_credits: 1_000 })
              const dispute = yield* stand.dispute(id)
              const opened = yield* stand.event(id)
              yield* billing.webhook(opened.body, opened.header)
              const taken = [
                ["top_up", 50_000],
                ["adjustment", -50_000]
              ] as const
              assert.deepStrictEqual(yield* moved, [...taken])
              const { recharge } = yield* billing.settings(account_id)
              assert.deepStrictEqual(
                [recharge.is_on, recharge.off_reason],
                [false, "A payment of $50.00 was disputed at the bank."]
              )
              yield* stand.closeDispute(id, dispute, outcome)
              const closed = yield* stand.event(id)
              for (const { body, header } of [closed, opened, closed]) yield* billing.webhook(body, header)
              assert.deepStrictEqual(yield* moved, outcome === "won" ? [...taken, ["adjustment", 50_000]] : [...taken])
              const { reversals } = yield* billing.payment(account_id, id)
              const ended = reversals.map(({ is_lost, state }) => ({ is_lost, state }))
              const expected = {
                won: { is_lost: false, state: "returned" },
                lost: { is_lost: true, state: "taken" }
              } as const
              assert.deepStrictEqual(ended, [expected[outcome]])
              yield* checkBooks
            })
          )
        )
    )

    it.live("is booked together with its payment when it went back before the payment was booked", () =>
      within(({ buy, checkBooks, form, moved, stand, visit }) =>
        visit((billing) =>
          Effect.gen(function* () {
            yield* buy(billing, 20_00, "disputed")
            const { asked, sent } = form(30_00)
            yield* billing.topUp(asked)
            yield* stand.pay(sent.payment_id, "good")
            const dispute = yield* stand.dispute(sent.payment_id)
            yield* stand.closeDispute(sent.payment_id, dispute, "won")
            const { body, header } = yield* stand.event(sent.payment_id)
            yield* billing.webhook(body, header)
            assert.deepStrictEqual(yield* moved, [
              ["top_up", 20_000],
              ["adjustment", -20_000],
              ["top_up", 30_000],
              ["adjustment", -30_000],
              ["adjustment", 30_000]
            ])
            yield* checkBooks
          })
        )
      )
    )

    it.live("takes no credits for a dispute about a payment that was refunded before", () =>
      within(({ account_id, buy, moved, stand, visit }) =>
        Effect.gen(function* () {
          const { processor } = stand
          const nothing = { id: "dp_nothing", kind: "dispute", cents: 0, state: "taken", is_lost: false } as const
          const looks = {
            ...processor,
            retrieve: (query: Parameters<typeof processor.retrieve>[0]) =>
              Effect.map(
                processor.retrieve(query),
                (retrieved) => retrieved && { ...retrieved, reversed: [nothing, ...retrieved.reversed] }
              )
          }
          yield* visit(
            (billing) =>
              Effect.gen(function* () {
                const id = yield* buy(billing, 50_00, "good")
                yield* stand.refund(id, null)
                const { body, header } = yield* stand.event(id)
                yield* billing.webhook(body, header)
                assert.strictEqual((yield* billing.payment(account_id, id)).reversals.length, 1)
                assert.deepStrictEqual(yield* moved, [
                  ["top_up", 50_000],
                  ["refund", -50_000]
                ])
              }),
            { processor: looks }
          )
        })
      )
    )

    it.live("comes back in full when an unrecorded dispute is won, even if a part was refunded since", () =>
      within(({ buy, checkBooks, database, moved, stand, visit }) =>
        Effect.gen(function* () {
          const id = yield* visit((billing) => buy(billing, 50_00, "good"))
          const dispute = yield* stand.dispute(id)
          const told = (billing: Billing["Service"]) =>
            Effect.flatMap(stand.event(id), ({ body, header }) => billing.webhook(body, header))
          const ended = { ...database, transaction: () => Effect.die("the server has ended") }
          const { _tag } = yield* visit((billing) => Effect.exit(told(billing)), { tables: ended })
          assert.strictEqual(_tag, "Failure")
          yield* stand.closeDispute(id, dispute, "won")
          yield* stand.refund(id, 20_00)
          yield* visit(told)
          assert.sameDeepMembers(
            [...(yield* moved)],
            [
              ["top_up", 50_000],
              ["adjustment", -50_000],
              ["refund", -20_000],
              ["adjustment", 50_000]
            ]
          )
          yield* checkBooks
        })
      )
    )

    it.live("comes back when a dispute is won after more than a year, even without an event", () =>
      within(({ account_id, buy, checkBooks, moved, putForward, stand, visit }) =>
        Effect.gen(function* () {
          const id = yield* visit((billing) => buy(billing, 50_00, "good"))
          yield* putForward(400 * 86_400_000)
          const dispute = yield* stand.dispute(id)
          // written down, too: what is not known to be in dispute is not looked at for ever
          yield* visit((billing) =>
            until(Effect.map(billing.payment(account_id, id), ({ reversals }) => reversals.length === 1))
          )
          yield* putForward(200 * 86_400_000)
          yield* stand.closeDispute(id, dispute, "won")
          yield* visit(() => until(Effect.map(moved, ({ length }) => length === 3)))
          assert.deepStrictEqual(yield* moved, [
            ["top_up", 50_000],
            ["adjustment", -50_000],
            ["adjustment", 50_000]
          ])
          yield* checkBooks
        })
      )
    )

    it.live("comes back when a refund fails after more than a year, even without an event", () =>
      within(({ account_id, buy, checkBooks, moved, putForward, stand, visit }) =>
        Effect.gen(function* () {
          const id = yield* visit((billing) => buy(billing, 50_00, "good"))
          yield* putForward(400 * 86_400_000)
          const refund = yield* stand.refund(id, 20_00)
          yield* visit((billing) =>
            until(Effect.map(billing.payment(account_id, id), ({ reversals }) => reversals.length === 1))
          )
          yield* putForward(200 * 86_400_000)
          yield* stand.failRefund(id, refund)
          yield* visit(() => until(Effect.map(moved, ({ length }) => length === 3)))
          assert.deepStrictEqual((yield* moved).at(-1), ["refund", 20_000])
          yield* checkBooks
        })
      )
    )

    it.live("takes its credits even without an event", () =>
      within(({ buy, checkBooks, moved, stand, visit }) =>
        Effect.gen(function* () {
          const id = yield* visit((billing) => buy(billing, 50_00, "good"))
          yield* stand.refund(id, 20_00)
          yield* visit(() => until(Effect.map(moved, ({ length }) => length === 2)))
          assert.deepStrictEqual(yield* moved, [
            ["top_up", 50_000],
            ["refund", -20_000]
          ])
          yield* checkBooks
        })
      )
    )
  })
})
