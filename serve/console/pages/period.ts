/** The days a page is about: `from` and `to` of its address, both included, in UTC. */
import { daysBefore, isDay } from "@larder/schemas/dates.ts"
import type { Problems } from "../form.ts"

export interface Period {
  readonly from: string
  readonly to: string
}

/** The longest month. Shown where nothing else is asked, here and on the overview, so that both tell the same sums. */
export const usualDays = 31
/** A year, and a leap year's day. */
const mostDays = 366
const day = 86_400_000

export const todayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

export const lengthOf = ({ from, to }: Period): number => (Date.parse(to) - Date.parse(from)) / day + 1

export const daysOf = (period: Period): ReadonlyArray<string> =>
  Array.from({ length: lengthOf(period) }, (_, index) => daysBefore(period.from, -index))

/** How many of the days can have calls: none before the account's first one, and none to come. At least one. */
export const daysWithin = ({ from, to }: Period, first: string, today: string): number =>
  Math.max(1, lengthOf({ from: from > first ? from : first, to: to < today ? to : today }))

const lastDays = (today: string, days: number): Period => ({ from: daysBefore(today, days - 1), to: today })

/** What is offered with one click. */
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
  /** Undefined where what was asked is no period. */
  readonly period: Period | undefined
  readonly problems: Problems
  /** As it was typed. */
  readonly typed: Period
}

/** What is wrong with two days as they were typed; one that was left out is undefined. */
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

/** Without days it is the last `usualDays` of them. */
export const periodAsked = (query: URLSearchParams, now: number): PeriodAsked => {
  const usual = lastDays(todayOf(now), usualDays)
  const typed = { from: query.get("from")?.trim() || usual.from, to: query.get("to")?.trim() || usual.to }
  const problems = problemsOf(typed)
  return { typed, problems, period: Object.keys(problems).length === 0 ? typed : undefined }
}
