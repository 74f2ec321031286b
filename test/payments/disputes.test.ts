/** Disputes, alone and together with refunds: credits are deducted once, and returned once. */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { Effect } from "effect"
import { inEachStripeSetup, until } from "./setup.ts"

inEachStripeSetup((name, within) => {
  describe(`disputes with ${name}`, () => {
    it.live.each(["won", "lost"] as const)(
      "deduct credits when a dispute opens, and return them only if it is won: %s",
      (outcome) =>
        within(({ account_id, buy, checkBooks, movements, harness, withBilling }) =>
          withBilling((billing) =>
            Effect.gen(function* () {
              const id = yield* buy(billing, 50_00, "good")
              const dispute = yield* harness.dispute(id)
              const opened = yield* harness.event(id)
              yield* billing.webhook(opened.body, opened.header)
              const taken = [
                ["top_up", 50_000],
                ["adjustment", -50_000]
              ] as const
              assert.deepStrictEqual(yield* movements, [...taken])
              yield* harness.closeDispute(dispute, outcome)
              const closed = yield* harness.event(id)
              for (const { body, header } of [closed, opened, closed]) yield* billing.webhook(body, header)
              assert.deepStrictEqual(
                yield* movements,
                outcome === "won" ? [...taken, ["adjustment", 50_000]] : [...taken]
              )
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

    it.live("are booked together with their payment if they came before the payment was booked", () =>
      within(({ checkBooks, form, movements, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const { request, sent } = form(30_00)
            yield* billing.topUp(request)
            yield* harness.pay(sent.payment_id, "good")
            const dispute = yield* harness.dispute(sent.payment_id)
            yield* harness.closeDispute(dispute, "won")
            const { body, header } = yield* harness.event(sent.payment_id)
            yield* billing.webhook(body, header)
            assert.deepStrictEqual(yield* movements, [
              ["top_up", 30_000],
              ["adjustment", -30_000],
              ["adjustment", 30_000]
            ])
            yield* checkBooks
          })
        )
      )
    )

    it.live(
      "deduct and return exact cents: three partial refunds that fail, and a dispute of the rest that is won",
      () =>
        within(({ balance, buy, checkBooks, movements, harness, withBilling }) =>
          withBilling((billing) =>
            Effect.gen(function* () {
              const id = yield* buy(billing, 10_01, "good")
              const sendEvent = Effect.flatMap(harness.event(id), ({ body, header }) => billing.webhook(body, header))
              const refunds: Array<string> = []
              for (let refund = 0; refund < 3; refund++) {
                refunds.push(yield* harness.refund(id, 3_33))
                yield* sendEvent
              }
              const dispute = yield* harness.dispute(id)
              yield* sendEvent
              assert.strictEqual(yield* balance, 5_000)
              yield* harness.closeDispute(dispute, "won")
              for (const refund of refunds) {
                yield* harness.failRefund(id, refund)
                yield* sendEvent
              }
              assert.strictEqual(yield* balance, 5_000 + 10_010)
              assert.sameDeepMembers(
                [...(yield* movements)],
                [
                  ["top_up", 10_010],
                  ...[-3_330, 3_330].flatMap((credits) =>
                    Array.from({ length: 3 }, () => ["refund", credits] as const)
                  ),
                  ["adjustment", -20],
                  ["adjustment", 20]
                ]
              )
              yield* checkBooks
            })
          )
        )
    )

    it.live("deduct no credits for a dispute of a payment that was already refunded", () =>
      within(({ account_id, buy, movements, harness, withBilling }) =>
        Effect.gen(function* () {
          const { processor } = harness
          const emptyDispute = { id: "dp_empty", kind: "dispute", cents: 0, state: "taken", is_lost: false } as const
          const withEmptyDispute = {
            ...processor,
            retrieve: (query: Parameters<typeof processor.retrieve>[0]) =>
              Effect.map(
                processor.retrieve(query),
                (retrieved) => retrieved && { ...retrieved, reversed: [emptyDispute, ...retrieved.reversed] }
              )
          }
          yield* withBilling(
            (billing) =>
              Effect.gen(function* () {
                const id = yield* buy(billing, 50_00, "good")
                yield* harness.refund(id, null)
                const { body, header } = yield* harness.event(id)
                yield* billing.webhook(body, header)
                assert.strictEqual((yield* billing.payment(account_id, id)).reversals.length, 1)
                assert.deepStrictEqual(yield* movements, [
                  ["top_up", 50_000],
                  ["refund", -50_000]
                ])
              }),
            { processor: withEmptyDispute }
          )
        })
      )
    )

    it.live("return all credits of an unrecorded dispute that was won, even if a part was refunded since", () =>
      within(({ buy, checkBooks, database, movements, harness, withBilling }) =>
        Effect.gen(function* () {
          const id = yield* withBilling((billing) => buy(billing, 50_00, "good"))
          const dispute = yield* harness.dispute(id)
          const sendEvent = (billing: Billing["Service"]) =>
            Effect.flatMap(harness.event(id), ({ body, header }) => billing.webhook(body, header))
          const ended = { ...database, transaction: () => Effect.die("the server has ended") }
          const { _tag } = yield* withBilling((billing) => Effect.exit(sendEvent(billing)), { tables: ended })
          assert.strictEqual(_tag, "Failure")
          yield* harness.closeDispute(dispute, "won")
          yield* harness.refund(id, 20_00)
          yield* withBilling(sendEvent)
          assert.sameDeepMembers(
            [...(yield* movements)],
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

    it.live("return the credits when a dispute is won after more than a year, even without an event", () =>
      within(({ account_id, buy, checkBooks, movements, advanceClock, harness, withBilling }) =>
        Effect.gen(function* () {
          const id = yield* withBilling((billing) => buy(billing, 50_00, "good"))
          yield* advanceClock(400 * 86_400_000)
          const dispute = yield* harness.dispute(id)
          // wait until it is recorded: only a recorded dispute is reconciled after this time
          yield* withBilling((billing) =>
            until(Effect.map(billing.payment(account_id, id), ({ reversals }) => reversals.length === 1))
          )
          yield* advanceClock(200 * 86_400_000)
          yield* harness.closeDispute(dispute, "won")
          yield* withBilling(() => until(Effect.map(movements, ({ length }) => length === 3)))
          assert.deepStrictEqual(yield* movements, [
            ["top_up", 50_000],
            ["adjustment", -50_000],
            ["adjustment", 50_000]
          ])
          yield* checkBooks
        })
      )
    )
  })
})
