/** The days that a page is about: `from` and `to` of its query, both inclusive, in UTC. */
import { daysBefore, isDay } from "@larder/schemas"
import type { Problems } from "./form.ts"

export interface Period {
  readonly from: string
  readonly to: string
}

/** The length of the longest month. The default here and on the overview, so that both show the same sums. */
export const usualDays = 31
/** One leap year. */
const mostDays = 366
const day = 86_400_000

export const todayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

export const lengthOf = ({ from, to }: Period): number => (Date.parse(to) - Date.parse(from)) / day + 1

export const daysOf = (period: Period): ReadonlyArray<string> =>
  Array.from({ length: lengthOf(period) }, (_, index) => daysBefore(period.from, -index))

/** How many of the days can have calls: none before the account was opened, and none in the future. At least 1. */
export const daysWithin = ({ from, to }: Period, first: string, today: string): number =>
  Math.max(1, lengthOf({ from: from > first ? from : first, to: to < today ? to : today }))

const lastDays = (today: string, days: number): Period => ({ from: daysBefore(today, days - 1), to: today })

/** The periods offered as links. */
export const offered = (today: string): ReadonlyArray<Period & { readonly label: string }> => {
  const month = `${today.slice(0, 8)}01`
  const lastOfEarlier = daysBefore(month, 1)
  return [
    { label: "7 days", ...lastDays(today, 7) },
    { label: `${usualDays} days`, ...lastDays(today, usualDays) },
    { label: "90 days", ...lastDays(today, 90) },
    { label: "This month", from: month, to: today },
    { label: "Last month", from: `${lastOfEarlier.slice(0, 8)}01`, to: lastOfEarlier }
  ]
}

export interface PeriodAsked {
  /** Undefined if the query is not a valid period. */
  readonly period: Period | undefined
  readonly problems: Problems
  /** The days as typed. */
  readonly typed: Period
}

/** Problems with two typed days; a missing day is undefined. */
export const problemsOfDays = (from: string | undefined, to: string | undefined): Problems => {
  const isWrong = (typed: string | undefined) => typed !== undefined && !isDay(typed)
  const notDay = "Type a day such as 2026-10-15."
  const wrong = { ...(isWrong(from) && { from: notDay }), ...(isWrong(to) && { to: notDay }) }
  if (Object.keys(wrong).length > 0) return wrong
  return from !== undefined && to !== undefined && from > to ? { from: "The first day is after the last one." } : {}
}

const problemsOf = (typed: Period): Problems => {
  const wrong = problemsOfDays(typed.from, typed.to)
  if (Object.keys(wrong).length > 0) return wrong
  return lengthOf(typed) > mostDays ? { from: `Choose at most ${mostDays} days.` } : {}
}

/** Without days in the query, the period is the last `usualDays` days. */
export const periodAsked = (query: URLSearchParams, now: number): PeriodAsked => {
  const usual = lastDays(todayOf(now), usualDays)
  const typed = { from: query.get("from")?.trim() || usual.from, to: query.get("to")?.trim() || usual.to }
  const problems = problemsOf(typed)
  return { typed, problems, period: Object.keys(problems).length === 0 ? typed : undefined }
}
