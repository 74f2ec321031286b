/** Helpers for tests of auto-recharge. */
import { assert } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { Clock, Effect } from "effect"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import type { Setup } from "./setup.ts"

type OpenBilling = Billing["Service"]

const dayMs = 86_400_000

/** For tests of days: until the next noon in UTC, so that none begins by chance. */
export const advanceToNoon = ({ advanceClock }: Setup) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => advanceClock(dayMs - ((now + dayMs / 2) % dayMs)))

/** After the grant of 5,000 credits and 10 USD by card the account has 15,000 credits. */
export const begin = Effect.fnUntraced(function* (
  setup: Setup,
  billing: OpenBilling,
  {
    card = "good",
    trigger_credits = 5_000
  }: { readonly card?: Parameters<Setup["buy"]>[2]; readonly trigger_credits?: number } = {}
) {
  yield* setup.buy(billing, 10_00, card)
  return yield* saveRecharge(billing, setup.account_id, rechargeChoice({ cents: 20_00, trigger_credits }))
})

export const spendAndMark = ({ account_id, spend }: Setup, billing: OpenBilling, credits: number) =>
  Effect.map(spend(credits), (outcome) => {
    assert.strictEqual(outcome, "charged")
    billing.charged(account_id)
  })

export const readRecharge = ({ account_id }: Setup, billing: OpenBilling) =>
  Effect.map(billing.settings(account_id), ({ recharge }) => recharge)

export const isOff = (setup: Setup, billing: OpenBilling) =>
  Effect.map(readRecharge(setup, billing), ({ is_on }) => !is_on)
export const hasPaidAtLeast = ({ harness }: Setup, times: number) => Effect.map(harness.paid, (paid) => paid >= times)
