/**
 * Money that went out: a payment that was refunded, or is disputed. It may exceed the balance, because calls have
 * already spent the credits; only this makes a balance negative. New calls are then refused, but calls that were
 * admitted before are still charged. Calls never spend credits that were not there, so no balance is further below 0
 * than the money that went out of its account.
 */
import type { Entry } from "./chain/records.ts"

/** Credits that an entry took out; 0 for every other entry, such as the adjustment for expired credits. */
export const moneyOutOf = ({ credits, grants, type }: Pick<Entry, "credits" | "grants" | "type">): number =>
  credits < 0 && grants === null && (type === "refund" || type === "adjustment") ? -credits : 0

/** The same condition in SQL, over the columns of `entry`. */
export const isMoneyOut = "credits < 0 and grants is null and type in ('refund', 'adjustment')"
