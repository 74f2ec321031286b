/** What the tests of auto-recharge begin with, and wait for. */
import { assert } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { Effect } from "effect"
import type { Shop } from "./shop.ts"

type Open = Billing["Service"]

/** After the grant of 5,000 credits and 10 USD by card the account has 15,000 credits. */
export const begin = Effect.fnUntraced(function* (
  shop: Shop,
  billing: Open,
  {
    card = "good",
    trigger_credits = 5_000
  }: { readonly card?: Parameters<Shop["buy"]>[2]; readonly trigger_credits?: number } = {}
) {
  yield* shop.buy(billing, 10_00, card)
  return yield* billing.saveRecharge(shop.account_id, { is_on: true, cents: 20_00, trigger_credits })
})

export const spendAndTell = ({ account_id, spend }: Shop, billing: Open, credits: number) =>
  Effect.map(spend(credits), (answer) => {
    assert.strictEqual(answer, "charged")
    billing.charged(account_id)
  })

export const settingsOf = ({ account_id }: Shop, billing: Open) =>
  Effect.map(billing.settings(account_id), ({ recharge }) => recharge)

export const isOff = (shop: Shop, billing: Open) => Effect.map(settingsOf(shop, billing), ({ is_on }) => !is_on)
export const paidTimes = ({ stand }: Shop, times: number) => Effect.map(stand.paid, (paid) => paid >= times)
/** A recharge would have been seen by then: accounts are evaluated four times a second. */
export const aWhile = Effect.sleep("1500 millis")
