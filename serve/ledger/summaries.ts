/** Accounts and keys as operators and owners see them. */
import { isScope } from "@larder/schemas"
import type { AccountSummary, KeySummary } from "./administration.ts"
import type { Account, ApiKey } from "./chain/records.ts"
import { usdOf } from "./money.ts"
import { type ExpiringGrant, grantsLeft } from "./rules/expiring-grants.ts"

export const accountSummary = (
  account: Account,
  balance_credits: number,
  grants: ReadonlyArray<ExpiringGrant>,
  now: number
): AccountSummary => ({ ...account, balance_credits, expiring: grantsLeft(grants, now) })

/** In credits; null if the key has no budget for the period. */
export interface Spent {
  readonly month: number
  readonly week: number | null
  readonly day: number | null
}

/** No secret stays valid after its key expires. Timestamps have one format, so their texts sort by time. */
const earlierOf = (formerEnd: string | null, keyEnd: string | null) =>
  formerEnd !== null && keyEnd !== null && keyEnd < formerEnd ? keyEnd : formerEnd

const usdOrNull = (credits: number | null) => (credits === null ? null : usdOf(credits))

export const keySummary = (key: ApiKey, spent: Spent): KeySummary => {
  const { budget_credits, daily_budget_credits, weekly_budget_credits, ...rest } = key
  const { former_sha256: _, revision: __, sha256: ___, ...record } = rest
  return {
    ...record,
    scopes: key.scopes.filter(isScope),
    former_expires_at: earlierOf(key.former_expires_at, key.expires_at),
    budget_usd: usdOf(budget_credits),
    spent_usd: usdOf(spent.month),
    daily_budget_usd: usdOrNull(daily_budget_credits),
    spent_today_usd: usdOrNull(spent.day),
    weekly_budget_usd: usdOrNull(weekly_budget_credits),
    spent_this_week_usd: usdOrNull(spent.week)
  }
}
