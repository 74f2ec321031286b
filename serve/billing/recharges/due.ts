/** Decides about a recharge that is recorded, right before it is requested from the processor. */
import { Clock, Effect } from "effect"
import type { BillingNeeds } from "../needs.ts"
import type { PaymentRow } from "../payment-rows.ts"
import { findCustomer } from "../saved-card.ts"
import { findLimit, sumRequested } from "./limits.ts"
import { findCurrentRecharge } from "./stops.ts"

/**
 * Whether the payment is still the running recharge and may be requested: a low balance, an account that is not
 * suspended, the same card and amount, within the limits, and auto-recharge on. That is read last, because an entry that
 * stops it also lowers the balance.
 */
export const isStillDue = Effect.fnUntraced(function* (
  needs: BillingNeeds,
  { account_id, card, cents, id }: PaymentRow
) {
  const { administration, database, processor } = needs
  if ((yield* findCustomer(database, processor.name, account_id))?.card !== card) return false
  const { balance_credits, suspended_at } = yield* administration.account({ account_id })
  if (suspended_at !== null) return false
  const now = yield* Clock.currentTimeMillis
  const requested = yield* sumRequested(database, account_id, now, id)
  const recharge = yield* findCurrentRecharge(needs, account_id)
  if (recharge?.running !== id || !recharge.is_on || recharge.cents !== cents) return false
  return balance_credits < recharge.trigger_credits && findLimit(recharge, requested, now) === undefined
})
