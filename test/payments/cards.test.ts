/** Which card is saved, and which cards the processor forgets, in any order of events and during outages. */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { type CardProcessor, ProcessorUnavailable } from "@larder/serve/billing/processor.ts"
import { Actor } from "@larder/serve/persistence"
import { Effect, type Scope } from "effect"
import { collectLog } from "../support/collect-log.ts"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { inEachSetup, type Setup, until, withoutLongSleeps } from "./setup.ts"

type OpenBilling = Billing["Service"]

const findBrand = ({ account_id }: Setup, billing: OpenBilling) =>
  Effect.map(billing.settings(account_id), ({ card }) => card?.brand ?? null)

/** The customer pays on the processor's page; no event has arrived yet. */
const payWithoutEvent = Effect.fnUntraced(function* (
  { form, harness }: Setup,
  billing: OpenBilling,
  card: Parameters<Setup["harness"]["pay"]>[1]
) {
  const { request, sent } = form(20_00)
  yield* billing.topUp(request)
  yield* harness.pay(sent.payment_id, card)
  return sent.payment_id
})

const sendEvent = ({ harness }: Setup, billing: OpenBilling, id: string) =>
  Effect.flatMap(harness.event(id), ({ body, header }) => billing.webhook(body, header))

/** The processor, which fails when it has to forget a card. */
const withFailingDetach = (processor: CardProcessor): CardProcessor => ({
  ...processor,
  detachCard: () => Effect.fail(new ProcessorUnavailable({ processor: processor.name, cause: new Error("503") }))
})

inEachSetup((name, within) => {
  const test = <A, E>(name: string, work: (setup: Setup) => Effect.Effect<A, E, Scope.Scope>) =>
    it.live(name, () => within((setup) => Effect.andThen(work(setup), setup.checkBooks)))

  describe.concurrent(`a saved card with ${name}`, () => {
    test("is the card of the latest payment, even if an earlier payment is reported later", (setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          const early = yield* payWithoutEvent(setup, billing, "good")
          yield* setup.buy(billing, 20_00, "mastercard")
          yield* sendEvent(setup, billing, early)
          assert.strictEqual(yield* findBrand(setup, billing), "mastercard")
          assert.strictEqual((yield* setup.movements).length, 2)
          yield* setup.checkCards
          yield* setup.buy(billing, 20_00, "amex")
          assert.strictEqual(yield* findBrand(setup, billing), "amex")
          yield* setup.checkCards
        })
      ))

    test("stays removed when a payment that began before the removal is booked", (setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          yield* setup.buy(billing, 20_00, "good")
          const early = yield* payWithoutEvent(setup, billing, "mastercard")
          yield* billing.removeCard(setup.account_id)
          yield* sendEvent(setup, billing, early)
          assert.isNull(yield* findBrand(setup, billing))
          assert.strictEqual((yield* setup.movements).length, 2)
          yield* setup.checkCards
          yield* setup.buy(billing, 20_00, "amex")
          assert.strictEqual(yield* findBrand(setup, billing), "amex")
          yield* setup.checkCards
        })
      ))

    test("is forgotten later if it was replaced while the processor did not respond", (setup) =>
      Effect.gen(function* () {
        yield* setup.withBilling(
          (billing) =>
            Effect.gen(function* () {
              yield* setup.buy(billing, 20_00, "good")
              yield* setup.buy(billing, 20_00, "mastercard")
              assert.strictEqual((yield* setup.harness.savedCards).length, 2)
            }),
          { processor: withFailingDetach(setup.harness.processor) }
        )
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* setup.checkCards
            assert.strictEqual(yield* findBrand(setup, billing), "mastercard")
          })
        )
      }))

    test("is removed immediately during an outage, and forgotten by the processor afterwards", (setup) =>
      Effect.gen(function* () {
        yield* setup.withBilling((billing) =>
          Effect.gen(function* () {
            yield* setup.buy(billing, 20_00, "good")
            yield* saveRecharge(billing, setup.account_id, rechargeChoice({ cents: 20_00, trigger_credits: 5_000 }))
            yield* setup.harness.outage(true)
            const { card, recharge } = yield* billing.removeCard(setup.account_id)
            assert.deepStrictEqual([card, recharge.is_on], [null, false])
            yield* setup.harness.outage(false)
            assert.strictEqual((yield* setup.harness.savedCards).length, 1)
          })
        )
        yield* setup.withBilling(() => setup.checkCards)
        assert.deepStrictEqual(yield* setup.harness.savedCards, [])
      }))

    test("and settings of auto-recharge are logged once when a person changes them, with the values before", (setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          const { account_id: account } = setup
          yield* setup.buy(billing, 20_00, "good")
          const [on, off] = [true, false].map((is_on) =>
            rechargeChoice({ is_on, cents: 20_00, trigger_credits: 5_000 })
          )
          const { lines } = yield* collectLog(
            Effect.gen(function* () {
              for (const choice of [on, off]) if (choice !== undefined) yield* saveRecharge(billing, account, choice)
              yield* billing.removeCard(account)
              yield* billing.removeCard(account)
            }).pipe(Effect.provideService(Actor, "pers_a"))
          )
          const about = { who: "pers_a", account }
          assert.deepStrictEqual(lines, [
            { event: "auto-recharge saved", ...about, before: null, after: on },
            { event: "auto-recharge saved", ...about, before: on, after: off },
            { event: "card removed", ...about, before: { brand: "visa", last4: "4242" }, after: null }
          ])
        })
      ))

    test("is forgotten even if the processor fails to forget twelve others", (setup) =>
      Effect.gen(function* () {
        const { processor } = setup.harness
        yield* setup.withBilling((billing) => setup.buy(billing, 20_00, "good"), { processor })
        yield* setup.withBilling((billing) => setup.buy(billing, 20_00, "mastercard"), {
          processor: withFailingDetach(processor)
        })
        yield* setup.database.run(
          `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < 12)
           insert into console.card_to_forget (card, processor, since)
           select 'card_' || number, $1, '2026-01-01T00:00:00.000Z'
           from numbers
           returning card`,
          [processor.name]
        )
        const refusing: CardProcessor = {
          ...processor,
          detachCard: (card) =>
            /^card_\d+$/.test(card) ? withFailingDetach(processor).detachCard(card) : processor.detachCard(card)
        }
        yield* withoutLongSleeps(
          setup.withBilling(() => until(Effect.map(setup.harness.savedCards, ({ length }) => length === 1)), {
            processor: refusing
          })
        )
        yield* setup.withBilling(() => setup.checkCards)
      }))

    test("is charged only by a form that showed this card", (setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          yield* setup.buy(billing, 10_00, "good")
          const { request } = yield* setup.formWithSavedCard(billing, 20_00)
          yield* setup.buy(billing, 10_00, "mastercard")
          const refused = yield* Effect.flip(billing.topUp(request))
          assert.strictEqual(
            refused.message,
            "Nothing was charged: another card was saved since this page was opened, Mastercard ending in 4444."
          )
          assert.strictEqual(yield* setup.harness.paid, 2)
          const { request: reloaded } = yield* setup.formWithSavedCard(billing, 20_00)
          const resubmitted = { ...request, card: reloaded.card }
          assert.isTrue("payment" in (yield* billing.topUp(resubmitted)))
          yield* setup.buy(billing, 10_00, "good")
          yield* billing.topUp(resubmitted) // the same form is the same payment
          assert.strictEqual(yield* setup.harness.paid, 4)
          assert.strictEqual(yield* setup.balance, 55_000)
        })
      ))

    test("is named by the payment that fails because the processor no longer has the card", (setup) =>
      setup.withBilling((billing) =>
        Effect.gen(function* () {
          yield* setup.buy(billing, 20_00, "good")
          for (const card of yield* setup.harness.savedCards) yield* setup.harness.processor.detachCard(card)
          const result = yield* billing.topUp((yield* setup.formWithSavedCard(billing, 30_00)).request)
          assert.deepInclude("payment" in result && result.payment, {
            state: "failed",
            card: { brand: "visa", last4: "4242" }
          })
        })
      ))
  })
})
