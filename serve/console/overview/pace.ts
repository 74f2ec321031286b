/** How long a balance lasts at the pace of the last days. */
import { daysBefore } from "@larder/schemas"
import type { AccountSummary, UsageSum } from "../../ledger/index.ts"
import { todayOf } from "../web/period.ts"

/** Days that the pace is calculated from, including today. */
const window = 7
const dayMilliseconds = 86_400_000

export interface Pace {
  /** Number of days that the pace is based on, including the unfinished current day. */
  readonly days: number
  readonly credits_per_day: number
  /** Whole days that the balance lasts; undefined if nothing was spent. */
  readonly days_left: number | undefined
}

type Balance = Pick<AccountSummary, "balance_credits" | "expiring">

/**
 * Days until all credits are spent. Credits that expire first are spent first; credits that are left at their expiry
 * are lost.
 */
const daysLasting = ({ balance_credits, expiring }: Balance, perDay: number, now: number): number => {
  let days = 0
  let others = balance_credits
  for (const { credits, expires_at } of expiring) {
    const end = Math.max(days, (Date.parse(expires_at) - now) / dayMilliseconds)
    days = Math.min(days + credits / perDay, end)
    others -= credits
  }
  return Math.max(0, days + others / perDay)
}

/**
 * The spent credits divided by the elapsed time. Today counts only for its elapsed part; otherwise the pace would drop
 * each midnight. If the calls begin within the window, after a month without any, the time since the start of that
 * first day counts, and at least one day.
 */
export const paceOf = (byDay: ReadonlyArray<UsageSum>, balance: Balance, now: number): Pace => {
  const today = todayOf(now)
  const since = daysBefore(today, window - 1)
  const lately = byDay.filter(({ name }) => name >= since && name <= today)
  const first = byDay.reduce((least, { name }) => (name < least ? name : least), today)
  const begin = Date.parse(first > since ? first : since)
  const passed = Math.max(1, (now - begin) / dayMilliseconds)
  const perDay = lately.reduce((sum, { credits }) => sum + credits, 0) / passed
  return {
    days: Math.floor((now - begin) / dayMilliseconds) + 1,
    credits_per_day: perDay,
    days_left: perDay > 0 ? Math.floor(daysLasting(balance, perDay, now)) : undefined
  }
}
