/** The days a page is about: `from` and `to` of its address, both included, in UTC. */
import { daysBefore, isDay } from "@larder/schemas/dates.ts"
import type { Problems } from "../form.ts"

export interface Period {
  readonly from: string
  readonly to: string
}

/** A year, and a leap year's day. */
const mostDays = 366
const day = 86_400_000

export const todayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

export const lengthOf = ({ from, to }: Period): number => (Date.parse(to) - Date.parse(from)) / day + 1

export const daysOf = (period: Period): ReadonlyArray<string> =>
  Array.from({ length: lengthOf(period) }, (_, index) => daysBefore(period.from, -index))

const lastDays = (today: string, days: number): Period => ({ from: daysBefore(today, days - 1), to: today })

/** What is offered with one click. */
export const offered = (today: string): ReadonlyArray<Period & { readonly label: string }> => {
  const month = `${today.slice(0, 8)}01`
  const lastOfEarlier = daysBefore(month, 1)
  return [
    { label: "7 days", ...lastDays(today, 7) },
    { label: "30 days", ...lastDays(today, 30) },
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

const problemsOf = (typed: Period): Problems => {
  const notDay = "Type a day such as 2026-10-15."
  const wrong = { ...(!isDay(typed.from) && { from: notDay }), ...(!isDay(typed.to) && { to: notDay }) }
  if (Object.keys(wrong).length > 0) return wrong
  if (typed.from > typed.to) return { from: "The first day is after the last one." }
  return lengthOf(typed) > mostDays ? { from: `Choose at most ${mostDays} days.` } : {}
}

/** Without days it is the last 30 of them. */
export const periodAsked = (query: URLSearchParams, now: number): PeriodAsked => {
  const usual = lastDays(todayOf(now), 30)
  const typed = { from: query.get("from")?.trim() || usual.from, to: query.get("to")?.trim() || usual.to }
  const problems = problemsOf(typed)
  return { typed, problems, period: Object.keys(problems).length === 0 ? typed : undefined }
}
