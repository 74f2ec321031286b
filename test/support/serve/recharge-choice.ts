/** Settings of auto-recharge with ceilings that no test reaches. */
import { maxCeiling, type RechargeChoice } from "@larder/serve/billing"

export const rechargeChoice = (
  choice: Pick<RechargeChoice, "cents" | "trigger_credits"> & Partial<RechargeChoice>
): RechargeChoice => ({
  is_on: true,
  daily_ceiling_cents: maxCeiling,
  monthly_ceiling_cents: maxCeiling,
  ...choice
})
