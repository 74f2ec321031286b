/** Auto-recharge: when it charges, that it charges once, and what switches it off. Takes a minute, mostly waiting. */
import { assert, describe, it } from "@effect/vitest"
import { pauseMs } from "@larder/serve/billing/recharges/limits.ts"
import { consoleUnavailable } from "@larder/serve/persistence"
import { Clock, Effect } from "effect"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { begin, hasPaidAtLeast, isOff, readRecharge, spendAndMark } from "./recharging.ts"
import { inEachSetup, type Setup, until, withSleepsByClock } from "./setup.ts"

inEachSetup((name, within) => {
  describe.concurrent(`auto-recharge with ${name}`, () => {
    it.live("charges below the trigger, and not at the trigger", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* begin(setup, billing)
            yield* spendAndMark(setup, billing, 10_000)
            yield* setup.evaluated
            assert.strictEqual(yield* setup.balance, 5_000)
            yield* spendAndMark(setup, billing, 10)
            yield* until(Effect.map(setup.balance, (balance) => balance === 24_990))
            assert.deepStrictEqual(yield* setup.movements, [
              ["top_up", 10_000],
              ["auto_recharge", 20_000]
            ])
            yield* until(Effect.map(readRecharge(setup, billing), ({ is_recharging }) => !is_recharging))
            assert.isTrue((yield* readRecharge(setup, billing)).is_on)
            const [payment] = yield* billing.payments(setup.account_id, { before: null, limit: 1 })
            assert.deepInclude(payment, { kind: "auto_recharge", cents: 20_00, state: "succeeded" })
            assert.isNull((yield* billing.receipt(setup.account_id, payment?.id ?? "")).email)
            yield* setup.checkBooks
          })
        )
      )
    )

    it.live("checks the balance when it is switched on and when the server starts", () =>
      within((setup) =>
        Effect.gen(function* () {
          yield* setup.withBilling((billing) =>
            Effect.gen(function* () {
              yield* begin(setup, billing, { trigger_credits: 16_000 })
              yield* until(Effect.map(setup.balance, (balance) => balance === 35_000))
              yield* until(Effect.map(readRecharge(setup, billing), ({ is_recharging }) => !is_recharging))
              yield* setup.spend(20_000) // and the server is killed before it is marked
            })
          )
          yield* setup.advanceClock(pauseMs)
          yield* setup.withBilling(() => until(Effect.map(setup.balance, (balance) => balance === 35_000)))
          yield* setup.checkBooks
        })
      )
    )

    it.live("checks the balance at a start even if the tables cannot be read at first", () =>
      within((setup) =>
        Effect.gen(function* () {
          yield* setup.withBilling((billing) => begin(setup, billing))
          yield* setup.spend(14_000)
          let reads = 0
          const failingAtFirst: Setup["database"] = {
            ...setup.database,
            all: (row, sql, params) =>
              ++reads <= 3 ? Effect.fail(consoleUnavailable("not yet")) : setup.database.all(row, sql, params)
          }
          yield* setup.withBilling(() => until(Effect.map(setup.balance, (balance) => balance === 21_000)), {
            tables: failingAtFirst
          })
          yield* setup.checkBooks
        })
      )
    )

    it.live("charges once for 1,000 calls that finish together on two servers", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          setup.withBilling((other) =>
            Effect.gen(function* () {
              yield* begin(setup, billing)
              yield* spendAndMark(setup, billing, 10_000)
              yield* setup.evaluated
              assert.strictEqual(yield* setup.balance, 5_000) // not below the trigger before the first call
              yield* Effect.forEach(
                Array.from({ length: 1_000 }, (_, call) => (call % 2 === 0 ? billing : other)),
                (server) => spendAndMark(setup, server, 1),
                { concurrency: "unbounded", discard: true }
              )
              yield* until(Effect.map(setup.balance, (balance) => balance > 4_000))
              yield* setup.evaluated
              assert.strictEqual(yield* setup.harness.paid, 2)
              assert.strictEqual(yield* setup.balance, 24_000)
              assert.strictEqual((yield* setup.bookings).length, 2)
              yield* setup.advanceClock(pauseMs)
              yield* spendAndMark(setup, other, 19_000)
              yield* setup.evaluated
              assert.strictEqual(yield* setup.balance, 5_000)
              yield* spendAndMark(setup, other, 1)
              yield* until(Effect.map(setup.balance, (balance) => balance === 24_999))
              assert.strictEqual(yield* setup.harness.paid, 3)
              yield* setup.checkBooks
            })
          )
        )
      )
    )

    it.live("does not raise the budget of a key that has spent it, while another key of the account can spend", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* begin(setup, billing)
            const spend = yield* setup.newSpender(12_000)
            assert.strictEqual(yield* spend(12_000), "charged")
            billing.charged(setup.account_id)
            yield* until(Effect.map(setup.balance, (balance) => balance === 23_000))
            assert.strictEqual(yield* spend(1), "monthly_spend_cap_reached")
            assert.strictEqual(yield* setup.spend(1), "charged")
            assert.strictEqual(yield* setup.balance, 22_999)
            yield* setup.checkBooks
          })
        )
      )
    )

    it.live("checks the balance when a UTC day begins, without a call", () =>
      within((setup) =>
        withSleepsByClock(
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            const toNextDay = 86_400_000 - (now % 86_400_000)
            yield* setup.advanceClock(toNextDay - 3_600_000)
            yield* setup.withBilling((billing) =>
              Effect.gen(function* () {
                yield* begin(setup, billing)
                yield* setup.evaluated
                yield* setup.spend(14_000) // and no call marks the account
                yield* setup.advanceClock(3_500_000)
                yield* setup.evaluated
                assert.strictEqual(yield* setup.harness.paid, 1)
                yield* setup.advanceClock(100_000)
                yield* until(Effect.map(setup.balance, (balance) => balance === 21_000))
                yield* setup.checkBooks
              })
            )
          })
        )
      )
    )

    it.live("charges once when two servers read the balance at the same time", () =>
      within((setup) =>
        Effect.gen(function* () {
          const { administration } = setup
          const slowAdministration = {
            ...administration,
            account: (request: { readonly account_id: string }) =>
              Effect.delay(administration.account(request), "700 millis") // so both servers read the balance before one has charged
          }
          yield* setup.withBilling(
            (billing) =>
              setup.withBilling(
                (other) =>
                  Effect.gen(function* () {
                    yield* begin(setup, billing)
                    yield* setup.evaluated
                    yield* setup.spend(14_000)
                    for (const server of [billing, other]) server.charged(setup.account_id)
                    yield* until(hasPaidAtLeast(setup, 2))
                    yield* setup.evaluated
                    assert.strictEqual(yield* setup.harness.paid, 2)
                    yield* setup.checkBooks
                  }),
                { ledger: slowAdministration }
              ),
            { ledger: slowAdministration }
          )
        })
      )
    )

    it.live("checks the balance again after its claim, because another server may have been faster", () =>
      within((setup) =>
        Effect.gen(function* () {
          const { administration } = setup
          let reads = 0
          const slowAtFirst = {
            ...administration,
            account: (request: { readonly account_id: string }) =>
              // its first balance is outdated when it makes the claim: the other server has recharged
              Effect.tap(administration.account(request), () =>
                reads++ === 0 ? Effect.sleep("2 seconds") : Effect.void
              )
          }
          yield* setup.withBilling((billing) =>
            Effect.gen(function* () {
              yield* begin(setup, billing)
              yield* setup.evaluated
              yield* setup.spend(14_000)
              yield* setup.withBilling(
                () =>
                  Effect.gen(function* () {
                    yield* until(Effect.sync(() => reads > 0))
                    billing.charged(setup.account_id)
                    yield* until(Effect.map(setup.balance, (balance) => balance === 21_000))
                    yield* setup.advanceClock(pauseMs) // so that the balance alone keeps it from charging
                    yield* until(Effect.sync(() => reads > 1))
                    yield* setup.evaluated
                  }),
                { ledger: slowAtFirst }
              )
              assert.strictEqual(yield* setup.harness.paid, 2)
              assert.isFalse((yield* readRecharge(setup, billing)).is_recharging)
              assert.strictEqual((yield* billing.payments(setup.account_id, { before: null, limit: 10 })).length, 2)
            })
          )
          yield* setup.checkBooks
        })
      )
    )

    it.live.each([
      ["declined_later", /declined/i],
      ["owner_always", /owner|confirm|bank|authentic/i]
    ] as const)(
      "is switched off by a failing card, and shows the reason until a person switches it on: %s",
      ([card, reason]) =>
        within((setup) =>
          setup.withBilling((billing) =>
            Effect.gen(function* () {
              yield* begin(setup, billing, { card })
              yield* spendAndMark(setup, billing, 14_000)
              yield* until(isOff(setup, billing))
              const { is_recharging, off_reason } = yield* readRecharge(setup, billing)
              assert.isFalse(is_recharging)
              assert.match(
                off_reason ?? "",
                /^A recharge of \$20\.00 with Visa ending in \d{4} failed on \d{1,2} \w+ \d{4}, \d\d:\d\d UTC\. /
              )
              assert.match(off_reason ?? "", reason)
              billing.charged(setup.account_id)
              yield* setup.evaluated
              assert.deepStrictEqual(yield* setup.movements, [["top_up", 10_000]])
              const choice = rechargeChoice({ cents: 30_00, trigger_credits: 1_000 })
              const saved = yield* saveRecharge(billing, setup.account_id, { ...choice, is_on: false })
              assert.deepInclude(saved.recharge, { off_reason, cents: 30_00 })
              const on = yield* saveRecharge(billing, setup.account_id, choice)
              assert.deepInclude(on.recharge, { is_on: true, off_reason: null })
              yield* setup.checkBooks
            })
          )
        )
    )

    it.live("requires a saved card, and is switched off without a reason when the card is removed", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const choice = rechargeChoice({ cents: 20_00, trigger_credits: 5_000 })
            const refused = yield* Effect.flip(saveRecharge(billing, setup.account_id, choice))
            assert.strictEqual(refused._tag, "NoSavedCard")
            yield* begin(setup, billing)
            const { card, recharge } = yield* billing.removeCard(setup.account_id)
            assert.isNull(card)
            assert.deepStrictEqual([recharge.is_on, recharge.off_reason], [false, null])
            yield* setup.spend(14_000)
            billing.charged(setup.account_id)
            yield* setup.evaluated
            assert.strictEqual(yield* setup.harness.paid, 1)
            assert.strictEqual(
              (yield* Effect.flip(saveRecharge(billing, setup.account_id, choice)))._tag,
              "NoSavedCard"
            )
            yield* setup.buy(billing, 10_00, "mastercard")
            const saved = yield* saveRecharge(billing, setup.account_id, choice)
            assert.deepStrictEqual(
              [saved.card?.brand, saved.recharge.is_on, saved.recharge.off_reason],
              ["mastercard", true, null]
            )
          })
        )
      )
    )

    it.live("stays off if a refund is recorded between the opening and the saving of its settings", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const id = yield* setup.buy(billing, 10_00, "good")
            const opened = yield* billing.settings(setup.account_id)
            yield* setup.harness.refund(id, null)
            const { body, header } = yield* setup.harness.event(id)
            yield* billing.webhook(body, header)
            const choice = rechargeChoice({ cents: 20_00, trigger_credits: 20_000 })
            const saved = yield* billing.saveRecharge(setup.account_id, choice, opened.recharge.position)
            assert.isFalse(saved.recharge.is_on)
            assert.match(saved.recharge.off_reason ?? "", /^A payment was refunded: \$10\.00, recorded on /)
            yield* setup.evaluated
            assert.strictEqual(yield* setup.harness.paid, 1)
          })
        )
      )
    )

    it.live("reads the settings of the accounts with charged calls, here 2,501, and of no other account", () =>
      within((setup) =>
        Effect.gen(function* () {
          const read = new Set<unknown>()
          const watched: Setup["database"] = {
            ...setup.database,
            all: (schema, sql, params) =>
              Effect.tap(setup.database.all(schema, sql, params), (rows) =>
                Effect.sync(() => {
                  if (/from console\.recharge\b/.test(sql)) for (const row of rows) read.add(JSON.stringify(row))
                })
              )
          }
          yield* setup.withBilling(
            (billing) =>
              Effect.gen(function* () {
                yield* begin(setup, billing)
                yield* setup.evaluated
                yield* setup.database.run(
                  `insert into console.recharge (account_id, is_on, cents, trigger_credits, daily_ceiling_cents,
                     monthly_ceiling_cents, after_position, changed_at)
                   values ('another', true, 2000, 5000, 10000, 200000, 0, '2026-11-01T00:00:00.000Z')
                   returning account_id`
                )
                for (let number = 0; number < 2_500; number++) billing.charged(`acct_${number}`)
                yield* spendAndMark(setup, billing, 14_000)
                yield* until(Effect.map(setup.balance, (balance) => balance === 21_000))
                assert.isAbove(read.size, 0)
                assert.notInclude([...read].join(), '"another"')
              }),
            { tables: watched }
          )
        })
      )
    )
  })
})
