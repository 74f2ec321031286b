/** `Billing` with situations that only Stripe can cause, over its wire format. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger, References, type Scope } from "effect"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { begin } from "./recharging.ts"
import { adjustableClock, locations, openSetup, type StripeSetup, until } from "./setup.ts"
import { storesIn } from "./stores.ts"
import { fillWithSessions, stripeHarnessWithHost } from "./stripe-harness.ts"
import type { StripeHost } from "./stripe-host.ts"

const inSetup = <A, E>(
  work: (setup: StripeSetup & { readonly host: StripeHost }) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.gen(function* () {
    const { clock, advanceClock } = yield* adjustableClock
    yield* Effect.gen(function* () {
      const { host, harness } = yield* stripeHarnessWithHost
      yield* work({ ...(yield* openSetup(harness, advanceClock)), harness, host })
    }).pipe(
      Effect.provide(storesIn(yield* locations["an embedded ledger"])),
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(References.MinimumLogLevel, "Fatal") // expected faults are logged as warnings and errors
    )
  }).pipe(Effect.scoped, Effect.orDie)

describe("billing with Stripe", () => {
  it.live("books the payment of an event, although the response was lost and there are 2,000 other pages", () =>
    inSetup(({ checkBooks, form, host, movements, harness, withBilling }) =>
      withBilling((billing) =>
        Effect.gen(function* () {
          const { request, sent } = form(50_00)
          yield* harness.loseNextResponse
          assert.strictEqual((yield* Effect.flip(billing.topUp(request)))._tag, "BillingUnavailable")
          yield* harness.pay(sent.payment_id, "good")
          fillWithSessions(host)
          const { body, header } = yield* harness.event(sent.payment_id)
          yield* billing.webhook(body, header)
          assert.deepStrictEqual(yield* movements, [["top_up", 50_000]])
          yield* checkBooks
        })
      )
    )
  )

  it.live("fails for an event whose payment cannot be found, so that Stripe sends it again", () =>
    inSetup(({ form, host, harness, withBilling }) =>
      withBilling((billing) =>
        Effect.gen(function* () {
          const { request, sent } = form(50_00)
          yield* billing.topUp(request)
          const { body, header } = yield* harness.event(sent.payment_id)
          host.state.sessions.clear()
          assert.strictEqual((yield* Effect.flip(billing.webhook(body, header)))._tag, "BillingUnavailable")
        })
      )
    )
  )

  it.live("logs that an event names a payment of another processor, and requests nothing", () =>
    inSetup(({ database, form, host, movements, harness, withBilling }) =>
      withBilling((billing) =>
        Effect.gen(function* () {
          const { request, sent } = form(50_00)
          yield* billing.topUp(request)
          const id = sent.payment_id
          yield* harness.pay(id, "good")
          yield* database.run("update console.payment set processor = 'simulator' where id = $1 returning id", [id])
          const { body, header } = yield* harness.event(id)
          host.takeRequests()
          const logs: Array<string> = []
          const logger = Logger.make(({ message }) => {
            logs.push(String(message))
          })
          yield* billing
            .webhook(body, header)
            .pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Warn"))
          assert.deepStrictEqual(logs, [
            `An event from stripe names payment ${id}, which was made with simulator: it is not reconciled while stripe is in use.`
          ])
          assert.deepStrictEqual([host.takeRequests(), yield* movements], [[], []])
        })
      )
    )
  )

  it.live("expires a top-up with the saved card if Stripe created the payment and never confirmed it", () =>
    inSetup(({ account_id, buy, checkBooks, host, advanceClock, formWithSavedCard, harness, withBilling }) =>
      Effect.gen(function* () {
        const id = yield* withBilling((billing) =>
          Effect.gen(function* () {
            yield* buy(billing, 10_00, "good")
            yield* harness.outage(true)
            const result = yield* billing.topUp((yield* formWithSavedCard(billing, 20_00)).request)
            yield* harness.outage(false)
            const [paid] = host.state.intents.values()
            if (paid === undefined || !("payment" in result)) return yield* Effect.die("nothing was requested")
            const { payment } = result
            assert.strictEqual(payment.state, "open")
            const metadata = { payment_id: payment.id }
            host.state.intents.set("pi_half", { ...paid, id: "pi_half", metadata, status: "requires_confirmation" })
            return payment.id
          })
        )
        yield* advanceClock(3_600_000)
        yield* withBilling((billing) =>
          Effect.gen(function* () {
            yield* until(Effect.map(billing.payment(account_id, id), ({ state }) => state !== "open"))
            const { problem, state } = yield* billing.payment(account_id, id)
            assert.deepStrictEqual(
              [state, problem],
              ["expired", "The card processor did not finish the payment. Nothing was charged."]
            )
          })
        )
        assert.strictEqual(host.state.intents.get("pi_half")?.status, "canceled")
        yield* checkBooks
      })
    )
  )

  it.live("recharges again if Stripe created a recharge and never confirmed it", () =>
    inSetup((setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          const { checkBooks, host, advanceClock, spend, harness } = setup
          yield* begin(setup, billing)
          host.takeRequests()
          yield* harness.outage(true)
          assert.strictEqual(yield* spend(15_000), "charged")
          billing.charged(setup.account_id)
          const payments = billing.payments(setup.account_id, { before: null, limit: 9 })
          yield* until(Effect.sync(() => host.takeRequests().includes("POST /v1/payment_intents"))) // the payment is recorded first
          const [recharge] = yield* payments
          const [paid] = host.state.intents.values()
          if (paid === undefined || recharge === undefined) return yield* Effect.die("nothing was requested")
          const metadata = { payment_id: recharge.id }
          host.state.intents.set("pi_half", { ...paid, id: "pi_half", metadata, status: "requires_confirmation" })
          yield* harness.outage(false)
          yield* advanceClock(3_600_000)
          yield* billing.payment(setup.account_id, recharge.id)
          yield* until(Effect.map(setup.balance, (balance) => balance === 20_000))
          assert.deepStrictEqual(
            (yield* payments).map(({ state }) => state),
            ["succeeded", "expired", "succeeded"]
          )
          yield* checkBooks
        })
      )
    )
  )

  it.live("returns the credits of a won dispute, even if the payment is refunded afterwards", () =>
    inSetup(({ buy, checkBooks, movements, harness, withBilling }) =>
      withBilling((billing) =>
        Effect.gen(function* () {
          const id = yield* buy(billing, 100_00, "good")
          const sendEvent = Effect.flatMap(harness.event(id), ({ body, header }) => billing.webhook(body, header))
          const dispute = yield* harness.dispute(id)
          yield* sendEvent
          yield* harness.closeDispute(dispute, "won")
          yield* harness.refund(id, null)
          yield* sendEvent
          assert.deepStrictEqual((yield* movements).toSorted(), [
            ["adjustment", -100_000],
            ["adjustment", 100_000],
            ["refund", -100_000],
            ["top_up", 100_000]
          ])
          yield* checkBooks
        })
      )
    )
  )

  it.live("fails a charge that Stripe refuses, and switches auto-recharge off with the reason", () =>
    inSetup(({ account_id, buy, checkBooks, host, formWithSavedCard, harness, withBilling }) =>
      withBilling((billing) =>
        Effect.gen(function* () {
          yield* buy(billing, 10_00, "good")
          host.faults.refusal = "Your account cannot currently make live charges."
          const result = yield* billing.topUp((yield* formWithSavedCard(billing, 20_00)).request)
          const reason = "The card processor refused the payment. Nothing was charged; the operator has been notified."
          assert.isTrue("payment" in result)
          if ("payment" in result)
            assert.deepStrictEqual([result.payment.state, result.payment.problem], ["failed", reason])
          yield* saveRecharge(billing, account_id, rechargeChoice({ cents: 20_00, trigger_credits: 50_000 }))
          const recharge = Effect.map(billing.settings(account_id), (settings) => settings.recharge)
          yield* until(Effect.map(recharge, ({ is_on }) => !is_on))
          assert.include((yield* recharge).off_reason, reason)
          assert.strictEqual(yield* harness.paid, 1)
          yield* checkBooks
        })
      )
    )
  )

  it.live("fails a checkout that Stripe refuses with the reason instead of as an outage, and logs an error", () =>
    inSetup(({ account_id, checkBooks, form, host, harness, withBilling }) =>
      Effect.gen(function* () {
        const logs: Array<string> = []
        const logger = Logger.make(({ logLevel, message }) => {
          logs.push(`${logLevel} ${String(message)}`)
        })
        const reason = "The card processor refused the payment. Nothing was charged; the operator has been notified."
        yield* withBilling((billing) =>
          Effect.gen(function* () {
            const { request } = form(20_00)
            host.faults.refusal = "Your account cannot currently make live charges."
            const result = yield* billing.topUp(request)
            assert.deepInclude("payment" in result && result.payment, { state: "failed", problem: reason })
            host.faults.refusal = undefined
            assert.deepStrictEqual(yield* billing.topUp(request), result) // the same form is the same payment
            host.faults.wrongKey = true
            const refused = yield* billing.topUp(form(30_00).request)
            assert.deepInclude("payment" in refused && refused.payment, { state: "failed", problem: reason })
            host.faults.wrongKey = false
            assert.property(yield* billing.topUp(form(30_00).request), "redirect")
            const payments = yield* billing.payments(account_id, { before: null, limit: 9 })
            assert.deepStrictEqual(
              payments.map(({ state }) => state),
              ["open", "failed", "failed"]
            )
          })
        ).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Error"))
        assert.strictEqual(logs.length, 2, logs.join("\n"))
        assert.match(
          logs[0] ?? "",
          /^Error Stripe refused payment pay_\w+ of account acct_\w+: 400 .*live charges.*Nothing was charged/
        )
        assert.match(logs[1] ?? "", /^Error Stripe refused payment .*the key in LARDER_STRIPE_KEY is refused \(401/)
        assert.strictEqual(yield* harness.paid, 0)
        yield* checkBooks
      })
    )
  )

  it.live("reports that the payment was made in another currency, and books nothing", () =>
    inSetup(({ account_id, form, host, movements, harness, withBilling }) =>
      withBilling((billing) =>
        Effect.gen(function* () {
          const { request, sent } = form(50_00)
          yield* billing.topUp(request)
          yield* harness.pay(sent.payment_id, "good")
          for (const intent of host.state.intents.values()) intent.currency = "eur"
          const { problem, state } = yield* billing.payment(account_id, sent.payment_id)
          assert.deepStrictEqual(
            [state, problem],
            [
              "failed",
              "The payment was made in EUR, but only US dollars are accepted. No credits were added; the operator has been notified."
            ]
          )
          assert.deepStrictEqual(yield* movements, [])
        })
      )
    )
  )
})
