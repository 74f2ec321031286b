/** What only Stripe can do to a shop: `Billing` in front of its wire format. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger, References, type Scope } from "effect"
import { begin } from "./recharging.ts"
import { adjustableClock, openShop, places, type Shop, until } from "./shop.ts"
import { storesIn } from "./stores.ts"
import type { StripeHost } from "./stripe-host.ts"
import { stripeStandWithHost } from "./stripe-stand.ts"

const inShop = <A, E>(work: (shop: Shop & { readonly host: StripeHost }) => Effect.Effect<A, E, Scope.Scope>) =>
  Effect.gen(function* () {
    const { clock, putForward } = yield* adjustableClock
    yield* Effect.gen(function* () {
      const { host, stand } = yield* stripeStandWithHost
      yield* work({ ...(yield* openShop(stand, putForward)), host })
    }).pipe(
      Effect.provide(storesIn(yield* places["an embedded ledger"])),
      Effect.provideService(Clock.Clock, clock),
      Effect.provideService(References.MinimumLogLevel, "Fatal") // mishaps are logged, and are wanted here
    )
  }).pipe(Effect.scoped, Effect.orDie)

describe("a shop on Stripe", () => {
  it.live("books the payment of an event, although the answer was lost among 2,000 other pages", () =>
    inShop(({ checkBooks, form, host, moved, stand, visit }) =>
      visit((billing) =>
        Effect.gen(function* () {
          const { asked, sent } = form(50_00)
          yield* stand.loseNextAnswer
          assert.strictEqual((yield* Effect.flip(billing.topUp(asked)))._tag, "BillingUnavailable")
          yield* stand.pay(sent.payment_id, "good")
          const [session] = host.books.sessions.values()
          assert.isDefined(session)
          for (let i = 0; i < 2000; i++) {
            const id = `cs_test_other${i}`
            if (session) host.books.sessions.set(id, { ...session, id, metadata: {}, intent: null, status: "open" })
          }
          const { body, header } = yield* stand.event(sent.payment_id)
          yield* billing.webhook(body, header)
          assert.deepStrictEqual(yield* moved, [["top_up", 50_000]])
          yield* checkBooks
        })
      )
    )
  )

  it.live("fails for an event whose payment cannot be found, so that Stripe sends it again", () =>
    inShop(({ form, host, stand, visit }) =>
      visit((billing) =>
        Effect.gen(function* () {
          const { asked, sent } = form(50_00)
          yield* billing.topUp(asked)
          const { body, header } = yield* stand.event(sent.payment_id)
          host.books.sessions.clear()
          assert.strictEqual((yield* Effect.flip(billing.webhook(body, header)))._tag, "BillingUnavailable")
        })
      )
    )
  )

  it.live("logs that an event is about a payment of another processor, and requests nothing", () =>
    inShop(({ database, form, host, moved, stand, visit }) =>
      visit((billing) =>
        Effect.gen(function* () {
          const { asked, sent } = form(50_00)
          yield* billing.topUp(asked)
          const id = sent.payment_id
          yield* stand.pay(id, "good")
          yield* database.run("update console.payment set processor = 'simulator' where id = $1 returning id", [id])
          const { body, header } = yield* stand.event(id)
          host.asked()
          const said: Array<string> = []
          const logger = Logger.make(({ message }) => {
            said.push(String(message))
          })
          yield* billing
            .webhook(body, header)
            .pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Warn"))
          assert.deepStrictEqual(said, [
            `An event from stripe names payment ${id}, which was made with simulator: it is not reconciled while stripe is in use.`
          ])
          assert.deepStrictEqual([host.asked(), yield* moved], [[], []])
        })
      )
    )
  )

  it.live("ends a top-up with the saved card that Stripe created and never confirmed", () =>
    inShop(({ account_id, buy, checkBooks, host, putForward, savedForm, stand, visit }) =>
      Effect.gen(function* () {
        const id = yield* visit((billing) =>
          Effect.gen(function* () {
            yield* buy(billing, 10_00, "good")
            yield* stand.outage(true)
            const answer = yield* billing.topUp((yield* savedForm(billing, 20_00)).asked)
            yield* stand.outage(false)
            const [paid] = host.books.intents.values()
            if (paid === undefined || !("payment" in answer)) return yield* Effect.die("nothing was asked")
            const { payment } = answer
            assert.strictEqual(payment.state, "open")
            const metadata = { payment_id: payment.id }
            host.books.intents.set("pi_half", { ...paid, id: "pi_half", metadata, status: "requires_confirmation" })
            return payment.id
          })
        )
        yield* putForward(3_600_000)
        yield* visit((billing) =>
          Effect.gen(function* () {
            yield* until(Effect.map(billing.payment(account_id, id), ({ state }) => state !== "open"))
            const { problem, state } = yield* billing.payment(account_id, id)
            assert.deepStrictEqual(
              [state, problem],
              ["expired", "The card processor did not finish the payment. Nothing was charged."]
            )
          })
        )
        assert.strictEqual(host.books.intents.get("pi_half")?.status, "canceled")
        yield* checkBooks
      })
    )
  )

  it.live("recharges again at a balance of 0 when Stripe created a recharge and never confirmed it", () =>
    inShop((shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          const { checkBooks, host, putForward, spend, stand } = shop
          yield* begin(shop, billing)
          host.asked()
          yield* stand.outage(true)
          assert.strictEqual(yield* spend(15_000), "charged")
          billing.charged(shop.account_id)
          const payments = billing.payments(shop.account_id, { before: null, limit: 9 })
          yield* until(Effect.sync(() => host.asked().includes("POST /v1/payment_intents"))) // the payment is there before
          const [recharge] = yield* payments
          const [paid] = host.books.intents.values()
          if (paid === undefined || recharge === undefined) return yield* Effect.die("nothing was asked")
          const metadata = { payment_id: recharge.id }
          host.books.intents.set("pi_half", { ...paid, id: "pi_half", metadata, status: "requires_confirmation" })
          yield* stand.outage(false)
          yield* putForward(3_600_000)
          yield* billing.payment(shop.account_id, recharge.id)
          yield* until(Effect.map(shop.balance, (balance) => balance === 20_000))
          assert.deepStrictEqual(
            (yield* payments).map(({ state }) => state),
            ["succeeded", "expired", "succeeded"]
          )
          yield* checkBooks
        })
      )
    )
  )

  it.live("returns what a dispute took, even if the payment is refunded after the dispute was won", () =>
    inShop(({ buy, checkBooks, moved, stand, visit }) =>
      visit((billing) =>
        Effect.gen(function* () {
          const id = yield* buy(billing, 100_00, "good")
          const tell = Effect.flatMap(stand.event(id), ({ body, header }) => billing.webhook(body, header))
          const dispute = yield* stand.dispute(id)
          yield* tell
          yield* stand.closeDispute(id, dispute, "won")
          yield* stand.refund(id, null)
          yield* tell
          assert.deepStrictEqual((yield* moved).toSorted(), [
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

  it.live("ends a charge that Stripe refuses, and switches auto-recharge off with the reason", () =>
    inShop(({ account_id, buy, checkBooks, host, savedForm, stand, visit }) =>
      visit((billing) =>
        Effect.gen(function* () {
          yield* buy(billing, 10_00, "good")
          host.mishaps.refuses = "Your account cannot currently make live charges."
          const answer = yield* billing.topUp((yield* savedForm(billing, 20_00)).asked)
          const why = "The card processor refused the payment. Nothing was charged; the operator has been notified."
          assert.isTrue("payment" in answer)
          if ("payment" in answer)
            assert.deepStrictEqual([answer.payment.state, answer.payment.problem], ["failed", why])
          yield* billing.saveRecharge(account_id, { is_on: true, cents: 20_00, trigger_credits: 50_000 })
          const recharge = Effect.map(billing.settings(account_id), (settings) => settings.recharge)
          yield* until(Effect.map(recharge, ({ is_on }) => !is_on))
          assert.include((yield* recharge).off_reason, why)
          assert.strictEqual(yield* stand.paid, 1)
          yield* checkBooks
        })
      )
    )
  )

  it.live("ends a checkout that Stripe refuses with the reason, not as an outage, and logs an error", () =>
    inShop(({ account_id, checkBooks, form, host, stand, visit }) =>
      Effect.gen(function* () {
        const told: Array<string> = []
        const logger = Logger.make(({ logLevel, message }) => {
          told.push(`${logLevel} ${String(message)}`)
        })
        const why = "The card processor refused the payment. Nothing was charged; the operator has been notified."
        yield* visit((billing) =>
          Effect.gen(function* () {
            const { asked } = form(20_00)
            host.mishaps.refuses = "Your account cannot currently make live charges."
            const answer = yield* billing.topUp(asked)
            assert.deepInclude("payment" in answer && answer.payment, { state: "failed", problem: why })
            host.mishaps.refuses = undefined
            assert.deepStrictEqual(yield* billing.topUp(asked), answer) // the same form is the same payment
            host.mishaps.wrongKey = true
            const refused = yield* billing.topUp(form(30_00).asked)
            assert.deepInclude("payment" in refused && refused.payment, { state: "failed", problem: why })
            host.mishaps.wrongKey = false
            assert.property(yield* billing.topUp(form(30_00).asked), "redirect")
            const payments = yield* billing.payments(account_id, { before: null, limit: 9 })
            assert.deepStrictEqual(
              payments.map(({ state }) => state),
              ["open", "failed", "failed"]
            )
          })
        ).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Warn"))
        assert.strictEqual(told.length, 2, told.join("\n"))
        assert.match(
          told[0] ?? "",
          /^Error Stripe refuses payment pay_\w+ of account acct_\w+; nothing was charged: 400 .*live charges/
        )
        assert.match(told[1] ?? "", /^Error Stripe refuses payment .*the key in LARDER_STRIPE_KEY is refused \(401/)
        assert.strictEqual(yield* stand.paid, 0)
        yield* checkBooks
      })
    )
  )

  it.live("reports that another currency was received, and books nothing", () =>
    inShop(({ account_id, form, host, moved, stand, visit }) =>
      visit((billing) =>
        Effect.gen(function* () {
          const { asked, sent } = form(50_00)
          yield* billing.topUp(asked)
          yield* stand.pay(sent.payment_id, "good")
          for (const intent of host.books.intents.values()) intent.currency = "eur"
          const { problem, state } = yield* billing.payment(account_id, sent.payment_id)
          assert.deepStrictEqual(
            [state, problem],
            [
              "failed",
              "The payment was made in EUR, but only US dollars are accepted. No credits were added; the operator has been notified."
            ]
          )
          assert.deepStrictEqual(yield* moved, [])
        })
      )
    )
  )
})
