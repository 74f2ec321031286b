/**
 * Money that went out: a payment that was refunded, or is disputed. It may take more than there is, because calls have
 * spent it, and only so does a balance become negative. Calls are refused then; those that were admitted before are charged
 * all the same. Nobody spends what was never there, so no balance is further below 0 than money went out of its account.
 */
import type { Entry } from "./records.ts"

/** Credits that an entry has taken out; 0 for every other entry, as for an adjustment of credits that have expired. */
export const moneyOutOf = ({ credits, grants, type }: Pick<Entry, "credits" | "grants" | "type">): number =>
  credits < 0 && grants === null && (type === "refund" || type === "adjustment") ? -credits : 0

/** The same as a condition in SQL, over the columns of `entry`. */
export const isMoneyOut = "credits < 0 and grants is null and type in ('refund', 'adjustment')"
