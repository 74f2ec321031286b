/** Sums of usage in words. */
import type { UsageSum } from "../../ledger/index.ts"
import { counted, dayText, monthText, shortDayText, usd } from "../web/html.ts"
import { daysOf, lengthOf, type Period } from "../web/period.ts"

export const total = (sums: ReadonlyArray<UsageSum>): Omit<UsageSum, "name"> => ({
  calls: sums.reduce((total, { calls }) => total + calls, 0),
  credits: sums.reduce((total, { credits }) => total + credits, 0)
})

/** Average calls per day; with a decimal if a whole number would be too coarse. */
export const callsADay = (calls: number, days: number): string => {
  const average = calls / days
  if (average === 0 || average >= 10) return counted(Math.round(average), "call")
  return average < 0.05 ? "under 0.1 calls" : counted(Math.round(average * 10) / 10, "call")
}

/** Average cost per day. */
export const usdADay = (credits: number, days: number): string => {
  const average = Math.round(credits / days)
  return average === 0 && credits > 0 ? `under ${usd(1)}` : usd(average)
}

/** More bars would be too thin to touch; a longer period gets one bar per month. */
const mostBars = 92

/** Calls per day, including days without calls; per month for a long period. */
export const barsOf = (byDay: ReadonlyArray<UsageSum>, period: Period) => {
  const unit = lengthOf(period) > mostBars ? "month" : "day"
  const placeOf = (day: string) => (unit === "day" ? day : day.slice(0, 7))
  const calls = new Map(daysOf(period).map((day) => [placeOf(day), 0]))
  for (const day of byDay) calls.set(placeOf(day.name), (calls.get(placeOf(day.name)) ?? 0) + day.calls)
  const labelOf = (place: string) => (unit === "day" ? shortDayText(place) : monthText(place))
  return { unit, bars: [...calls].map(([place, value]) => ({ label: labelOf(place), value })) } as const
}

/** `22 Nov 2026`, `1 Nov 2026 to 22 Nov 2026` */
export const periodText = ({ from, to }: Period): string =>
  from === to ? dayText(from) : `${dayText(from)} to ${dayText(to)}`

/** `on 22 Nov 2026`, `from 1 Nov 2026 to 22 Nov 2026` */
export const duringText = (period: Period): string =>
  `${period.from === period.to ? "on" : "from"} ${periodText(period)}`
