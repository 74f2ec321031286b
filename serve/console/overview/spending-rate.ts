/** How long a balance lasts at the spending rate of the last seven days. */
import { addDays } from "@larder/schemas"
import type { UsageSum } from "../../ledger/index.ts"
import { getToday } from "../web/period.ts"

/** At most this many days are averaged, including today. */
const maxDays = 7
const dayMilliseconds = 86_400_000

export interface SpendingRate {
  /** Days that were averaged, including the unfinished current day. */
  readonly days: number
  readonly credits_per_day: number
  /** Whole days that the balance lasts; undefined if nothing was spent. */
  readonly days_left: number | undefined
}

/**
 * The spent credits divided by the elapsed time. Today counts only for its elapsed part; otherwise the rate would drop
 * each midnight. The period begins six days before today, or on the first day with calls if that is later. It lasts at
 * least one day.
 */
export const calculateSpendingRate = (byDay: ReadonlyArray<UsageSum>, balance: number, now: number): SpendingRate => {
  const today = getToday(now)
  const since = addDays(today, 1 - maxDays)
  const recent = byDay.filter(({ name }) => name >= since && name <= today)
  const firstDayWithCalls = byDay.reduce((earliest, { name }) => (name < earliest ? name : earliest), today)
  const start = Date.parse(firstDayWithCalls > since ? firstDayWithCalls : since)
  const elapsedDays = Math.max(1, (now - start) / dayMilliseconds)
  const perDay = recent.reduce((sum, { credits }) => sum + credits, 0) / elapsedDays
  return {
    days: Math.floor((now - start) / dayMilliseconds) + 1,
    credits_per_day: perDay,
    days_left: perDay > 0 ? Math.max(0, Math.floor(balance / perDay)) : undefined
  }
}
