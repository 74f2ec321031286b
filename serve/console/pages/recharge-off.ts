/** Why auto-recharge went off by itself, and where to go on: for the pages beside its own. */
import type { BillingSettings } from "../../billing/billing.ts"
import { html, notice } from "../html.ts"
import { rechargePath } from "./auto-recharge.ts"
import { topUpPath } from "./top-up.ts"

/** False where it is on, was switched off by somebody, or was left off. */
export const rechargeOff = ({ recharge: { off_reason } }: BillingSettings) =>
  off_reason !== null &&
  notice(
    "warning",
    html`<p>Auto-recharge was switched off. ${off_reason}</p>
<p>Where the card is the matter, <a href="${topUpPath}">add credits with another card</a>, which is saved. Then <a href="${rechargePath}">switch it on again, or leave it off</a>.</p>`
  )
