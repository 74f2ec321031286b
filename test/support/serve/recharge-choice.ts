/** Settings of auto-recharge, as a person saves them on a page that was opened now. */
import { type Billing, maxCeiling, type RechargeChoice } from "@larder/serve/billing"
import { Effect } from "effect"

/** The ceilings are so high that no test reaches them by chance. */
export const rechargeChoice = (
  choice: Pick<RechargeChoice, "cents" | "trigger_credits"> & Partial<RechargeChoice>
): RechargeChoice => ({
  is_on: true,
  daily_ceiling_cents: maxCeiling,
  monthly_ceiling_cents: maxCeiling,
  ...choice
})

export const saveRecharge = (billing: Billing["Service"], account_id: string, choice: RechargeChoice) =>
  Effect.flatMap(billing.settings(account_id), ({ recharge }) =>
    billing.saveRecharge(account_id, choice, recharge.position)
  )
