/** Auto-recharge: when it charges, that it charges once, and what switches it off. Most of a minute, and nearly all of it waiting. */
import { assert, describe, it } from "@effect/vitest"
import { consoleUnavailable } from "@larder/serve/persistence"
import { Effect } from "effect"
import { aWhile, begin, isOff, paidTimes, settingsOf, spendAndTell } from "./recharging.ts"
import { byTheClock, inEachShop, type Shop, until } from "./shop.ts"

inEachShop((name, within) => {
  describe.concurrent(`auto-recharge with ${name}`, () => {
    it.live("charges below the trigger, and not at the trigger", () =>
      within((shop) =>
        shop.visit((billing) =>
          Effect.gen(function* () {
            yield* begin(shop, billing)
            yield* spendAndTell(shop, billing, 10_000)
            yield* aWhile
            assert.strictEqual(yield* shop.balance, 5_000)
            yield* spendAndTell(shop, billing, 10)
            yield* until(Effect.map(shop.balance, (balance) => balance === 24_990))
            assert.deepStrictEqual(yield* shop.moved, [
              ["top_up", 10_000],
              ["auto_recharge", 20_000]
            ])
            yield* until(Effect.map(settingsOf(shop, billing), ({ is_recharging }) => !is_recharging))
            assert.isTrue((yield* settingsOf(shop, billing)).is_on)
            const [payment] = yield* billing.payments(shop.account_id, { before: null, limit: 1 })
            assert.deepInclude(payment, { kind: "auto_recharge", cents: 20_00, state: "succeeded" })
            assert.isNull((yield* billing.receipt(shop.account_id, payment?.id ?? "")).email)
            yield* shop.checkBooks
          })
        )
      )
    )

    it.live("checks the balance when it is switched on and when the server starts", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing, { trigger_credits: 16_000 })
              yield* until(Effect.map(shop.balance, (balance) => balance === 35_000))
              yield* until(Effect.map(settingsOf(shop, billing), ({ is_recharging }) => !is_recharging))
              yield* shop.spend(20_000) // and the server is killed before it hears of it
            })
          )
          yield* shop.visit(() => until(Effect.map(shop.balance, (balance) => balance === 35_000)))
          yield* shop.checkBooks
        })
      )
    )

    it.live("checks the balance at a start even if the tables cannot be read at first", () =>
      within((shop) =>
        Effect.gen(function* () {
          yield* shop.visit((billing) => begin(shop, billing))
          yield* shop.spend(14_000)
          let reads = 0
          const late: Shop["database"] = {
            ...shop.database,
            all: (row, sql, params) =>
              ++reads <= 3 ? Effect.fail(consoleUnavailable("not yet")) : shop.database.all(row, sql, params)
          }
          yield* shop.visit(() => until(Effect.map(shop.balance, (balance) => balance === 21_000)), { tables: late })
          yield* shop.checkBooks
        })
      )
    )

    it.live("charges once for 1,000 calls that finish together on two servers", () =>
      within((shop) =>
        shop.visit((billing) =>
          shop.visit((other) =>
            Effect.gen(function* () {
              yield* begin(shop, billing)
              yield* spendAndTell(shop, billing, 10_000)
              yield* aWhile
              assert.strictEqual(yield* shop.balance, 5_000) // not below the trigger before the first of them
              yield* Effect.forEach(
                Array.from({ length: 1_000 }, (_, call) => (call % 2 === 0 ? billing : other)),
                (server) => spendAndTell(shop, server, 1),
                { concurrency: "unbounded", discard: true }
              )
              yield* until(Effect.map(shop.balance, (balance) => balance > 4_000))
              yield* aWhile
              assert.strictEqual(yield* shop.stand.paid, 2)
              assert.strictEqual(yield* shop.balance, 24_000)
              assert.strictEqual((yield* shop.bookings).length, 2)
              yield* spendAndTell(shop, other, 19_000)
              yield* aWhile
              assert.strictEqual(yield* shop.balance, 5_000)
              yield* spendAndTell(shop, other, 1)
              yield* until(Effect.map(shop.balance, (balance) => balance === 24_999))
              assert.strictEqual(yield* shop.stand.paid, 3)
              yield* shop.checkBooks
            })
          )
        )
      )
    )

    it.live("leaves a key refused that has spent its budget, while another key of the account can spend", () =>
      within((shop) =>
        shop.visit((billing) =>
          Effect.gen(function* () {
            yield* begin(shop, billing)
            const spend = yield* shop.newSpender(12_000)
            assert.strictEqual(yield* spend(12_000), "charged")
            billing.charged(shop.account_id)
            yield* until(Effect.map(shop.balance, (balance) => balance === 23_000))
            assert.strictEqual(yield* spend(1), "monthly_spend_cap_reached")
            assert.strictEqual(yield* shop.spend(1), "charged")
            assert.strictEqual(yield* shop.balance, 22_999)
            yield* shop.checkBooks
          })
        )
      )
    )

    it.live("checks the balance after 24 hours without a call, and not after 23", () =>
      within((shop) =>
        byTheClock(
          shop.visit((billing) =>
            Effect.gen(function* () {
              const id = yield* shop.buy(billing, 10_00, "good")
              const choice = { is_on: true, cents: 20_00, trigger_credits: 10_000 }
              yield* billing.saveRecharge(shop.account_id, choice)
              yield* aWhile // with 15,000 credits
              yield* shop.stand.refund(id, null)
              const { body, header } = yield* shop.stand.event(id)
              yield* billing.webhook(body, header)
              assert.strictEqual(yield* shop.balance, 5_000)
              yield* shop.putForward(23 * 3_600_000)
              yield* aWhile
              assert.strictEqual(yield* shop.stand.paid, 1)
              yield* shop.putForward(3_600_000)
              yield* until(Effect.map(shop.balance, (balance) => balance === 25_000))
              assert.strictEqual(yield* shop.stand.paid, 2)
              yield* shop.checkBooks
            })
          )
        )
      )
    )

    it.live("charges once when two servers see the balance at the same time", () =>
      within((shop) =>
        Effect.gen(function* () {
          const { administration } = shop
          const together = {
            ...administration,
            account: (asked: { readonly account_id: string }) =>
              Effect.delay(administration.account(asked), "700 millis") // so both servers look before one has charged
          }
          yield* shop.visit(
            (billing) =>
              shop.visit(
                (other) =>
                  Effect.gen(function* () {
                    yield* begin(shop, billing)
                    yield* aWhile
                    yield* shop.spend(14_000)
                    for (const server of [billing, other]) server.charged(shop.account_id)
                    yield* until(paidTimes(shop, 2))
                    yield* Effect.andThen(aWhile, aWhile) // each look takes 700 ms more
                    assert.strictEqual(yield* shop.stand.paid, 2)
                    yield* shop.checkBooks
                  }),
                { ledger: together }
              ),
            { ledger: together }
          )
        })
      )
    )

    it.live("checks the balance again after its claim, because another server may have been faster", () =>
      within((shop) =>
        Effect.gen(function* () {
          const { administration } = shop
          let looks = 0
          const late = {
            ...administration,
            account: (asked: { readonly account_id: string }) =>
              // its first look is old by the time it has the claim: meanwhile the other server recharges
              Effect.tap(administration.account(asked), () => (looks++ === 0 ? Effect.sleep("2 seconds") : Effect.void))
          }
          yield* shop.visit((billing) =>
            Effect.gen(function* () {
              yield* begin(shop, billing)
              yield* aWhile
              yield* shop.spend(14_000)
              yield* shop.visit(
                () =>
                  Effect.gen(function* () {
                    yield* until(Effect.sync(() => looks > 0))
                    billing.charged(shop.account_id)
                    yield* until(Effect.map(shop.balance, (balance) => balance === 21_000))
                    yield* until(Effect.sync(() => looks > 1))
                    yield* aWhile
                  }),
                { ledger: late }
              )
              assert.strictEqual(yield* shop.stand.paid, 2)
              assert.isFalse((yield* settingsOf(shop, billing)).is_recharging)
              assert.strictEqual((yield* billing.payments(shop.account_id, { before: null, limit: 10 })).length, 2)
            })
          )
          yield* shop.checkBooks
        })
      )
    )

    it.live.each([
      ["declined_later", /declined/i],
      ["owner_always", /owner|confirm|bank|authentic/i]
    ] as const)("is switched off by a failing card, and keeps the reason until it is saved as off: %s", ([card, why]) =>
      within((shop) =>
        shop.visit((billing) =>
          Effect.gen(function* () {
            yield* begin(shop, billing, { card })
            yield* spendAndTell(shop, billing, 14_000)
            yield* until(isOff(shop, billing))
            const { is_recharging, off_reason } = yield* settingsOf(shop, billing)
            assert.isFalse(is_recharging)
            assert.match(
              off_reason ?? "",
              /^A recharge of \$20\.00 with Visa ending in \d{4} failed on \d{1,2} \w+ \d{4}, \d\d:\d\d UTC\. /
            )
            assert.match(off_reason ?? "", why)
            billing.charged(shop.account_id)
            yield* aWhile
            assert.deepStrictEqual(yield* shop.moved, [["top_up", 10_000]])
            const on = yield* billing.saveRecharge(shop.account_id, {
              is_on: false,
              cents: 30_00,
              trigger_credits: 1_000
            })
            assert.deepInclude(on.recharge, { off_reason: null, cents: 30_00 })
            yield* shop.checkBooks
          })
        )
      )
    )

    it.live("needs a saved card, and is switched off without a reason when the card is removed", () =>
      within((shop) =>
        shop.visit((billing) =>
          Effect.gen(function* () {
            const choice = { is_on: true, cents: 20_00, trigger_credits: 5_000 }
            const refused = yield* Effect.flip(billing.saveRecharge(shop.account_id, choice))
            assert.strictEqual(refused._tag, "NoSavedCard")
            yield* begin(shop, billing)
            const { card, recharge } = yield* billing.removeCard(shop.account_id)
            assert.isNull(card)
            assert.deepStrictEqual([recharge.is_on, recharge.off_reason], [false, null])
            yield* shop.spend(14_000)
            billing.charged(shop.account_id)
            yield* aWhile
            assert.strictEqual(yield* shop.stand.paid, 1)
            assert.strictEqual((yield* Effect.flip(billing.saveRecharge(shop.account_id, choice)))._tag, "NoSavedCard")
            yield* shop.buy(billing, 10_00, "mastercard")
            const on = yield* billing.saveRecharge(shop.account_id, choice)
            assert.deepStrictEqual(
              [on.card?.brand, on.recharge.is_on, on.recharge.off_reason],
              ["mastercard", true, null]
            )
          })
        )
      )
    )

    it.live("begins with the next charged call, not with a payment or a refund", () =>
      within((shop) =>
        shop.visit((billing) =>
          Effect.gen(function* () {
            yield* begin(shop, billing, { trigger_credits: 50_000 })
            const has = (credits: number) => until(Effect.map(shop.balance, (balance) => balance === credits))
            yield* has(35_000) // that it was switched on has been evaluated, too
            const [paid] = yield* billing.payments(shop.account_id, { before: null, limit: 1 })
            yield* shop.stand.refund(paid?.id ?? "", null)
            const { body, header } = yield* shop.stand.event(paid?.id ?? "")
            yield* billing.webhook(body, header)
            yield* has(15_000)
            yield* aWhile
            assert.strictEqual(yield* shop.stand.paid, 2)
            yield* spendAndTell(shop, billing, 100)
            yield* has(34_900)
            assert.strictEqual(yield* shop.stand.paid, 3)
            yield* shop.checkBooks
          })
        )
      )
    )

    it.live("reads the settings of the accounts with charged calls, here 2,501, and of no other account", () =>
      within((shop) =>
        Effect.gen(function* () {
          const read = new Set<unknown>()
          const watched: Shop["database"] = {
            ...shop.database,
            all: (row, sql, params) =>
              Effect.tap(shop.database.all(row, sql, params), (rows) =>
                Effect.sync(() => {
                  if (/from console\.recharge\b/.test(sql)) for (const one of rows) read.add(JSON.stringify(one))
                })
              )
          }
          yield* shop.visit(
            (billing) =>
              Effect.gen(function* () {
                yield* begin(shop, billing)
                yield* aWhile
                yield* shop.database.run(
                  `insert into console.recharge (account_id, is_on, cents, trigger_credits, changed_at)
                   values ('another', true, 2000, 5000, '2026-11-01T00:00:00.000Z')
                   returning account_id`
                )
                for (let number = 0; number < 2_500; number++) billing.charged(`acct_${number}`)
                yield* spendAndTell(shop, billing, 14_000)
                yield* until(Effect.map(shop.balance, (balance) => balance === 21_000))
                assert.isAbove(read.size, 0)
                assert.notInclude([...read].join(), '"another"')
              }),
            { tables: watched }
          )
        })
      )
    )

    it.live("accepts amounts of 10 to 50,000 USD and triggers of 1 to 50,000 USD", () =>
      within((shop) =>
        shop.visit((billing) =>
          Effect.gen(function* () {
            for (const [cents, trigger_credits, field] of [
              [9_99, 5_000, "cents"],
              [50_000_01, 5_000, "cents"],
              [10_00, 999, "trigger_credits"],
              [10_00, 50_000_001, "trigger_credits"],
              [10_00, 1_000.5, "trigger_credits"]
            ] as const) {
              const error = yield* Effect.flip(
                billing.saveRecharge(shop.account_id, { is_on: false, cents, trigger_credits })
              )
              assert.deepStrictEqual([error._tag, "field" in error && error.field], ["InvalidChoice", field])
            }
            for (const [cents, trigger_credits] of [
              [10_00, 1_000],
              [50_000_00, 50_000_000]
            ] as const) {
              const { recharge } = yield* billing.saveRecharge(shop.account_id, {
                is_on: false,
                cents,
                trigger_credits
              })
              assert.deepInclude(recharge, { cents, trigger_credits, is_on: false, off_reason: null })
            }
          })
        )
      )
    )
  })
})
