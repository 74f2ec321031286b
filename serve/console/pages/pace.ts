/** How long a balance lasts at the pace of the last days. */
import { daysBefore } from "@larder/schemas/dates.ts"
import type { UsageSum } from "../../ledger/summed-usage.ts"
import { todayOf } from "./period.ts"

/** Days that the pace is taken from, today included. */
const window = 7
const dayMilliseconds = 86_400_000

export interface Pace {
  /** What it goes by, today included although it is not over. */
  readonly days: number
  readonly credits_per_day: number
  /** Whole days that the balance lasts; undefined where nothing is spent. */
  readonly days_left: number | undefined
}

/**
 * What was spent, by the time that has passed: today counts as far as it has gone, or the pace would fall each midnight.
 * Where the calls begin within the window, after a month without any, the time since that day began counts, and a day at least.
 */
export const paceOf = (byDay: ReadonlyArray<UsageSum>, balanceCredits: number, now: number): Pace => {
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
    days_left: perDay > 0 ? Math.max(0, Math.floor(balanceCredits / perDay)) : undefined
  }
}
