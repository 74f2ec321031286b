/** Sums of usage, as numbers, in words, and as bars. */
import type { UsageSum } from "../../ledger/index.ts"
import { dayText, pluralize, shortDayText, shortMonthText, usdText } from "../web/html.ts"
import { countDays, listDays, type Period } from "../web/period.ts"

export const addUsage = (sums: ReadonlyArray<UsageSum>): Omit<UsageSum, "name"> => ({
  calls: sums.reduce((sum, { calls }) => sum + calls, 0),
  credits: sums.reduce((sum, { credits }) => sum + credits, 0)
})

/** Average calls per day; with a decimal if a whole number would be too coarse. */
export const callsPerDayText = (calls: number, days: number): string => {
  const average = calls / days
  if (average === 0 || average >= 10) return pluralize(Math.round(average), "call")
  return average < 0.05 ? "under 0.1 calls" : pluralize(Math.round(average * 10) / 10, "call")
}

export const usdPerDayText = (credits: number, days: number): string => {
  const average = Math.round(credits / days)
  return average === 0 && credits > 0 ? `under ${usdText(1)}` : usdText(average)
}

/** More bars would be too thin to touch; a longer period gets one bar per month. */
const maxBars = 92

/** Calls per day, including days without calls; per month for a long period. */
export const makeBars = (byDay: ReadonlyArray<UsageSum>, period: Period) => {
  const unit = countDays(period) > maxBars ? "month" : "day"
  const chooseBar = (day: string) => (unit === "day" ? day : day.slice(0, 7))
  const calls = new Map(listDays(period).map((day) => [chooseBar(day), 0]))
  for (const day of byDay) calls.set(chooseBar(day.name), (calls.get(chooseBar(day.name)) ?? 0) + day.calls)
  const labelText = unit === "day" ? shortDayText : shortMonthText
  return { unit, bars: [...calls].map(([bar, value]) => ({ label: labelText(bar), value })) } as const
}

/** `22 Nov 2026`, `1 Nov 2026 to 22 Nov 2026` */
export const periodText = ({ from, to }: Period): string =>
  from === to ? dayText(from) : `${dayText(from)} to ${dayText(to)}`

/** `on 22 Nov 2026`, `from 1 Nov 2026 to 22 Nov 2026` */
export const duringText = (period: Period): string =>
  `${period.from === period.to ? "on" : "from"} ${periodText(period)}`
