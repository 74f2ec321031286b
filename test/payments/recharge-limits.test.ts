/** What limits auto-recharge: the pause between two requests, the ceilings per day and month, and the amounts. */
import { assert, describe, it } from "@effect/vitest"
import { maxCeiling } from "@larder/serve/billing"
import { pauseMs } from "@larder/serve/billing/recharges/limits.ts"
import { Effect } from "effect"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { advanceToNoon, begin, readRecharge, spendAndMark } from "./recharging.ts"
import { inEachSetup, until, withSleepsByClock } from "./setup.ts"

inEachSetup((name, within) => {
  describe.concurrent(`the limits of auto-recharge with ${name}`, () => {
    it.live("leaves a minute between two requests, even on two servers", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          setup.withBilling((other) =>
            Effect.gen(function* () {
              yield* advanceToNoon(setup)
              yield* begin(setup, billing, { trigger_credits: 50_000 })
              yield* until(Effect.map(setup.balance, (balance) => balance === 35_000))
              for (const server of [billing, other, other]) yield* spendAndMark(setup, server, 100)
              yield* setup.evaluated
              assert.strictEqual(yield* setup.harness.paid, 2)
              const { limit, requested } = yield* readRecharge(setup, billing)
              assert.deepStrictEqual(
                [limit?.by, requested.today_cents, requested.this_month_cents],
                ["pause", 20_00, 20_00]
              )
              assert.strictEqual(limit?.until, Date.parse(requested.last_at ?? "") + pauseMs)
              yield* setup.advanceClock(pauseMs)
              yield* until(Effect.map(setup.balance, (balance) => balance === 54_700)) // without another call
              yield* setup.evaluated
              assert.strictEqual(yield* setup.harness.paid, 3)
              yield* setup.checkBooks
            })
          )
        )
      )
    )

    it.live("charges no card of a suspended account, and sells it no credits, until it is resumed", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const { account_id, administration } = setup
            yield* advanceToNoon(setup)
            yield* setup.buy(billing, 10_00, "good")
            yield* administration.suspendAccount({ account_id, note: "unpaid" })
            const choice = rechargeChoice({ cents: 20_00, trigger_credits: 30_000 })
            yield* saveRecharge(billing, account_id, choice)
            yield* setup.evaluated
            assert.strictEqual(yield* setup.harness.paid, 1)
            const error = yield* Effect.flip(billing.topUp(setup.form(20_00).request))
            assert.match(error.message, /This account is suspended, and cannot buy credits. Nothing was charged./)
            yield* administration.resumeAccount({ account_id, note: "paid" })
            yield* saveRecharge(billing, account_id, choice)
            yield* until(Effect.map(setup.balance, (balance) => balance === 35_000))
            yield* setup.checkBooks
          })
        )
      )
    )

    it.live.each([
      ["day", { daily_ceiling_cents: 39_99 }],
      ["month", { monthly_ceiling_cents: 39_99 }]
    ] as const)(
      "charges nothing at the ceiling of a %s, while calls go on, and recharges once a person raises it",
      ([by, ceiling]) =>
        within((setup) =>
          setup.withBilling((billing) =>
            Effect.gen(function* () {
              yield* advanceToNoon(setup)
              const choice = rechargeChoice({ cents: 20_00, trigger_credits: 5_000 })
              yield* setup.buy(billing, 10_00, "good")
              yield* saveRecharge(billing, setup.account_id, { ...choice, ...ceiling })
              yield* spendAndMark(setup, billing, 14_000)
              yield* until(Effect.map(setup.balance, (balance) => balance === 21_000))
              const [paid] = yield* billing.payments(setup.account_id, { before: null, limit: 1 })
              assert.strictEqual(paid?.kind, "auto_recharge")
              yield* setup.advanceClock(pauseMs)
              yield* spendAndMark(setup, billing, 20_990)
              yield* setup.evaluated
              assert.strictEqual(yield* setup.harness.paid, 2)
              assert.strictEqual(yield* setup.spend(10), "charged")
              assert.strictEqual(yield* setup.spend(10), "insufficient_balance")
              const { is_on, limit } = yield* readRecharge(setup, billing)
              assert.deepStrictEqual([is_on, limit?.by], [true, by])
              yield* saveRecharge(billing, setup.account_id, choice)
              yield* until(Effect.map(setup.balance, (balance) => balance === 20_000))
              yield* setup.checkBooks
            })
          )
        )
    )

    it.live("charges again when the day of a ceiling has ended, and counts refunded recharges until then", () =>
      within((setup) =>
        withSleepsByClock(
          setup.withBilling((billing) =>
            Effect.gen(function* () {
              yield* advanceToNoon(setup)
              const choice = rechargeChoice({ cents: 20_00, trigger_credits: 5_000, daily_ceiling_cents: 20_00 })
              yield* setup.buy(billing, 10_00, "good")
              yield* saveRecharge(billing, setup.account_id, choice)
              yield* spendAndMark(setup, billing, 14_000)
              yield* until(Effect.map(setup.balance, (balance) => balance === 21_000))
              const [paid] = yield* billing.payments(setup.account_id, { before: null, limit: 1 })
              yield* setup.harness.refund(paid?.id ?? "", null)
              const { body, header } = yield* setup.harness.event(paid?.id ?? "")
              yield* billing.webhook(body, header)
              yield* saveRecharge(billing, setup.account_id, choice) // a person switches it on again
              yield* setup.advanceClock(pauseMs)
              yield* spendAndMark(setup, billing, 100)
              yield* setup.evaluated
              assert.strictEqual(yield* setup.harness.paid, 2)
              const { limit, requested } = yield* readRecharge(setup, billing)
              assert.deepStrictEqual([limit?.by, requested.today_cents], ["day", 20_00])
              yield* setup.advanceClock(86_400_000)
              yield* until(Effect.map(setup.balance, (balance) => balance === 20_900))
              yield* setup.checkBooks
            })
          )
        )
      )
    )

    it.live("accepts amounts of 10 to 50,000 USD, triggers of 1 to 50,000 USD, and ceilings from one amount on", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const valid = { is_on: false, cents: 10_00, trigger_credits: 5_000 }
            for (const [field, value] of [
              ["cents", 9_99],
              ["cents", 50_000_01],
              ["trigger_credits", 999],
              ["trigger_credits", 50_000_001],
              ["trigger_credits", 1_000.5],
              ["daily_ceiling_cents", 9_99],
              ["daily_ceiling_cents", maxCeiling + 1],
              ["monthly_ceiling_cents", 9_99],
              ["monthly_ceiling_cents", 10_00.5]
            ] as const) {
              const error = yield* Effect.flip(
                saveRecharge(billing, setup.account_id, rechargeChoice({ ...valid, [field]: value }))
              )
              assert.deepStrictEqual([error._tag, "field" in error && error.field], ["InvalidChoice", field])
            }
            for (const [cents, trigger_credits] of [
              [10_00, 1_000],
              [50_000_00, 50_000_000]
            ] as const) {
              const { recharge } = yield* saveRecharge(
                billing,
                setup.account_id,
                rechargeChoice({ is_on: false, cents, trigger_credits })
              )
              assert.deepInclude(recharge, { cents, trigger_credits, is_on: false, off_reason: null })
            }
          })
        )
      )
    )
  })
})
