/** How long a balance lasts at the pace of the last days. */
import { daysBefore } from "@larder/schemas/dates.ts"
import type { UsageSum } from "../../ledger/summed-usage.ts"

/** Days that the pace is taken from, today included. */
const window = 7

export interface Pace {
  /** What it goes by, today included. */
  readonly days: number
  readonly credits_per_day: number
  /** Whole days that the balance lasts; undefined where nothing is spent. */
  readonly days_left: number | undefined
}

/** An account that began within the window is judged by the days since then: a first day would count for a seventh. */
export const paceOf = (byDay: ReadonlyArray<UsageSum>, balanceCredits: number, today: string): Pace => {
  const since = daysBefore(today, window - 1)
  const lately = byDay.filter(({ name }) => name >= since && name <= today)
  const first = byDay.reduce((least, { name }) => (name < least ? name : least), today)
  const days = first > since ? (Date.parse(today) - Date.parse(first)) / 86_400_000 + 1 : window
  const perDay = lately.reduce((sum, { credits }) => sum + credits, 0) / days
  return {
    days,
    credits_per_day: perDay,
    days_left: perDay > 0 ? Math.max(0, Math.floor(balanceCredits / perDay)) : undefined
  }
}
