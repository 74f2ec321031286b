/** How long a balance lasts at the pace of the last days. */
import { daysBefore } from "@larder/schemas"
import type { AccountSummary, UsageSum } from "../../ledger/index.ts"
import { getToday } from "../web/period.ts"

/** Days that the pace is calculated from, including today. */
const paceDays = 7
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
const countDaysLeft = ({ balance_credits, expiring }: Balance, perDay: number, now: number): number => {
  let days = 0
  let lasting = balance_credits
  for (const { credits, expires_at } of expiring) {
    const end = Math.max(days, (Date.parse(expires_at) - now) / dayMilliseconds)
    days = Math.min(days + credits / perDay, end)
    lasting -= credits
  }
  return Math.max(0, days + lasting / perDay)
}

/**
 * The spent credits divided by the elapsed time. Today counts only for its elapsed part; otherwise the pace would drop
 * each midnight. If the first of all days with calls is one of the last seven, the time begins there. The time is at
 * least one day.
 */
export const calculatePace = (byDay: ReadonlyArray<UsageSum>, balance: Balance, now: number): Pace => {
  const today = getToday(now)
  const since = daysBefore(today, paceDays - 1)
  const recent = byDay.filter(({ name }) => name >= since && name <= today)
  const first = byDay.reduce((earliest, { name }) => (name < earliest ? name : earliest), today)
  const begin = Date.parse(first > since ? first : since)
  const elapsedDays = Math.max(1, (now - begin) / dayMilliseconds)
  const perDay = recent.reduce((sum, { credits }) => sum + credits, 0) / elapsedDays
  return {
    days: Math.floor((now - begin) / dayMilliseconds) + 1,
    credits_per_day: perDay,
    days_left: perDay > 0 ? Math.floor(countDaysLeft(balance, perDay, now)) : undefined
  }
}
