/** Tables that an earlier version has left: without the columns and tables that came later. */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing/billing.ts"
import { Effect, References } from "effect"
import { places, type Shop, shopAt } from "./shop.ts"

const tell = ({ account_id, stand }: Shop, billing: Billing["Service"], id: string) =>
  Effect.gen(function* () {
    const { body, header } = yield* stand.event(id)
    yield* billing.webhook(body, header)
    const { reversals } = yield* billing.payment(account_id, id)
    return reversals.map(({ is_lost, state }) => ({ is_lost, state }))
  })

const brand = ({ account_id }: Shop, billing: Billing["Service"]) =>
  Effect.map(billing.settings(account_id), ({ card }) => card?.brand)

describe("an account of an earlier version", () => {
  it.live.each(Object.entries(places))(
    "loses its dispute once when the bank says so, and has its card forgotten when it is replaced: %s",
    ([, made]) =>
      Effect.gen(function* () {
        const inShop = shopAt(yield* made)
        const { account, dispute, id } = yield* inShop((shop, billing) =>
          Effect.gen(function* () {
            const id = yield* shop.buy(billing, 20_00, "good")
            const dispute = yield* shop.stand.dispute(id)
            assert.deepStrictEqual(yield* tell(shop, billing, id), [{ is_lost: false, state: "taken" }])
            yield* shop.database.run("alter table console.reversal drop column is_lost")
            yield* shop.database.run("alter table console.customer drop column card_since")
            yield* shop.database.run("drop table console.card_to_forget")
            return { account: shop, dispute, id }
          })
        )
        yield* inShop(
          (shop, billing) =>
            Effect.gen(function* () {
              assert.deepStrictEqual(yield* tell(shop, billing, id), [{ is_lost: false, state: "taken" }])
              yield* shop.stand.closeDispute(id, dispute, "lost")
              assert.deepStrictEqual(yield* tell(shop, billing, id), [{ is_lost: true, state: "taken" }])
              assert.deepStrictEqual(yield* shop.moved, [
                ["top_up", 20_000],
                ["adjustment", -20_000]
              ])
              assert.strictEqual(yield* brand(shop, billing), "visa")
              shop.form(20_00) // the first form of this account was sent before
              yield* shop.buy(billing, 20_00, "mastercard")
              assert.strictEqual(yield* brand(shop, billing), "mastercard")
              yield* shop.checkCards
              yield* shop.checkBooks
            }),
          account
        )
      }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Fatal"), Effect.orDie)
  )
})
