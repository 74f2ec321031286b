/** The notice about why auto-recharge was switched off automatically, with links, for pages other than its own. */
import type { BillingSettings } from "../../billing/billing.ts"
import { html, notice } from "../web/html.ts"
import { rechargePath } from "./auto-recharge.ts"
import { topUpPath } from "./top-up.ts"

/** False if auto-recharge is on, or if a person switched it off or left it off. */
export const rechargeOff = ({ recharge: { off_reason } }: BillingSettings) =>
  off_reason !== null &&
  notice(
    "warning",
    html`<p>Auto-recharge was switched off. ${off_reason}</p>
<p>If the card is the problem, <a href="${topUpPath}">add credits with another card</a>: it replaces the saved card. Then <a href="${rechargePath}">switch auto-recharge on again, or leave it off</a>.</p>`
  )
