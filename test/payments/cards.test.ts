/** Which card is saved, and which ones the processor forgets: whatever is told when, and whoever does not answer. */
import { assert, describe, it } from "@effect/vitest"
import { type Billing, type CardProcessor, ProcessorUnavailable } from "@larder/serve/billing"
import { Effect, type Scope } from "effect"
import { inEachShop, inHaste, type Shop, until } from "./shop.ts"

type Open = Billing["Service"]

const brand = ({ account_id }: Shop, billing: Open) =>
  Effect.map(billing.settings(account_id), ({ card }) => card?.brand ?? null)

/** Paid on the processor's page; nobody has told of it yet. */
const payUntold = Effect.fnUntraced(function* (
  { form, stand }: Shop,
  billing: Open,
  card: Parameters<Shop["stand"]["pay"]>[1]
) {
  const { asked, sent } = form(20_00)
  yield* billing.topUp(asked)
  yield* stand.pay(sent.payment_id, card)
  return sent.payment_id
})

const tell = ({ stand }: Shop, billing: Open, id: string) =>
  Effect.flatMap(stand.event(id), ({ body, header }) => billing.webhook(body, header))

/** The processor, which does not take what is to be forgotten. */
const keeping = (processor: CardProcessor): CardProcessor => ({
  ...processor,
  forget: () => Effect.fail(new ProcessorUnavailable({ processor: processor.name, cause: new Error("503") }))
})

inEachShop((name, within) => {
  const plays = <A, E>(what: string, play: (shop: Shop) => Effect.Effect<A, E, Scope.Scope>) =>
    it.live(what, () => within((shop) => Effect.andThen(play(shop), shop.checkBooks)))

  describe.concurrent(`a saved card with ${name}`, () => {
    plays("is the card of the latest payment, even if an earlier payment is reported later", (shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          const early = yield* payUntold(shop, billing, "good")
          yield* shop.buy(billing, 20_00, "mastercard")
          yield* tell(shop, billing, early)
          assert.strictEqual(yield* brand(shop, billing), "mastercard")
          assert.strictEqual((yield* shop.moved).length, 2)
          yield* shop.checkCards
          yield* shop.buy(billing, 20_00, "amex")
          assert.strictEqual(yield* brand(shop, billing), "amex")
          yield* shop.checkCards
        })
      )
    )

    plays("does not come back after its removal with a payment that began before", (shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          yield* shop.buy(billing, 20_00, "good")
          const early = yield* payUntold(shop, billing, "mastercard")
          yield* billing.removeCard(shop.account_id)
          yield* tell(shop, billing, early)
          assert.isNull(yield* brand(shop, billing))
          assert.strictEqual((yield* shop.moved).length, 2)
          yield* shop.checkCards
          yield* shop.buy(billing, 20_00, "amex")
          assert.strictEqual(yield* brand(shop, billing), "amex")
          yield* shop.checkCards
        })
      )
    )

    plays("is forgotten later when it was replaced while the processor did not answer", (shop) =>
      Effect.gen(function* () {
        yield* shop.visit(
          (billing) =>
            Effect.gen(function* () {
              yield* shop.buy(billing, 20_00, "good")
              yield* shop.buy(billing, 20_00, "mastercard")
              assert.strictEqual((yield* shop.stand.savedCards).length, 2)
            }),
          { processor: keeping(shop.stand.processor) }
        )
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* shop.checkCards
            assert.strictEqual(yield* brand(shop, billing), "mastercard")
          })
        )
      })
    )

    plays("is removed at once during an outage, and forgotten by the processor after it", (shop) =>
      Effect.gen(function* () {
        yield* shop.visit((billing) =>
          Effect.gen(function* () {
            yield* shop.buy(billing, 20_00, "good")
            yield* billing.saveRecharge(shop.account_id, { is_on: true, cents: 20_00, trigger_credits: 5_000 })
            yield* shop.stand.outage(true)
            const { card, recharge } = yield* billing.removeCard(shop.account_id)
            assert.deepStrictEqual([card, recharge.is_on], [null, false])
            yield* shop.stand.outage(false)
            assert.strictEqual((yield* shop.stand.savedCards).length, 1)
          })
        )
        yield* shop.visit(() => shop.checkCards)
        assert.deepStrictEqual(yield* shop.stand.savedCards, [])
      })
    )

    plays("is forgotten although the processor refuses to forget twelve others", (shop) =>
      Effect.gen(function* () {
        const { processor } = shop.stand
        yield* shop.visit((billing) => shop.buy(billing, 20_00, "good"), { processor })
        yield* shop.visit((billing) => shop.buy(billing, 20_00, "mastercard"), { processor: keeping(processor) })
        yield* shop.database.run(
          `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < 12)
           insert into console.card_to_forget (card, processor, since)
           select 'card_' || number, $1, '2026-01-01T00:00:00.000Z'
           from numbers
           returning card`,
          [processor.name]
        )
        const refusing: CardProcessor = {
          ...processor,
          forget: (card) => (/^card_\d+$/.test(card) ? keeping(processor).forget(card) : processor.forget(card))
        }
        yield* inHaste(
          shop.visit(() => until(Effect.map(shop.stand.savedCards, ({ length }) => length === 1)), {
            processor: refusing
          })
        )
        yield* shop.visit(() => shop.checkCards)
      })
    )

    plays("is charged only by a form that has shown it", (shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          yield* shop.buy(billing, 10_00, "good")
          const { asked } = yield* shop.savedForm(billing, 20_00)
          yield* shop.buy(billing, 10_00, "mastercard")
          const refused = yield* Effect.flip(billing.topUp(asked))
          assert.strictEqual(
            refused.message,
            "Nothing was charged: another card was saved since this page was opened, Mastercard ending in 4444."
          )
          assert.strictEqual(yield* shop.stand.paid, 2)
          const { asked: anew } = yield* shop.savedForm(billing, 20_00)
          const shownAnew = { ...asked, card: anew.card }
          assert.isTrue("payment" in (yield* billing.topUp(shownAnew)))
          yield* shop.buy(billing, 10_00, "good")
          yield* billing.topUp(shownAnew) // sent again it is the same payment
          assert.strictEqual(yield* shop.stand.paid, 4)
          assert.strictEqual(yield* shop.balance, 55_000)
        })
      )
    )

    plays("is named by the payment that fails because the processor no longer knows the card", (shop) =>
      shop.visit((billing) =>
        Effect.gen(function* () {
          yield* shop.buy(billing, 20_00, "good")
          for (const card of yield* shop.stand.savedCards) yield* shop.stand.processor.forget(card)
          const answer = yield* billing.topUp((yield* shop.savedForm(billing, 30_00)).asked)
          assert.deepInclude("payment" in answer && answer.payment, {
            state: "failed",
            card: { brand: "visa", last4: "4242" }
          })
        })
      )
    )
  })
})
