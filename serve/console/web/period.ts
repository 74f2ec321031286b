/** The days that a page is about: `from` and `to` of its query, both inclusive, in UTC. */
import { addDays, isDay } from "@larder/schemas"
import type { Problems } from "./form.ts"

export interface Period {
  readonly from: string
  readonly to: string
}

/** The length of the longest month. The default here and on the overview, so that both show the same sums. */
export const defaultDays = 31
/** One leap year. */
const maxDays = 366
const dayMilliseconds = 86_400_000

export const getToday = (now: number): string => new Date(now).toISOString().slice(0, 10)

export const countDays = ({ from, to }: Period): number => (Date.parse(to) - Date.parse(from)) / dayMilliseconds + 1

export const listDays = (period: Period): ReadonlyArray<string> =>
  Array.from({ length: countDays(period) }, (_, index) => addDays(period.from, index))

/** Days of the period that can have calls: since the account was opened, and not in the future. At least 1. */
export const countActiveDays = ({ from, to }: Period, openedOn: string, today: string): number =>
  Math.max(1, countDays({ from: from > openedOn ? from : openedOn, to: to < today ? to : today }))

const makeLastDays = (today: string, days: number): Period => ({ from: addDays(today, 1 - days), to: today })

/** The periods offered as links. */
export const listPeriods = (today: string): ReadonlyArray<Period & { readonly label: string }> => {
  const month = `${today.slice(0, 8)}01`
  const lastDay = addDays(month, -1)
  return [
    { label: "7 days", ...makeLastDays(today, 7) },
    { label: `${defaultDays} days`, ...makeLastDays(today, defaultDays) },
    { label: "90 days", ...makeLastDays(today, 90) },
    { label: "This month", from: month, to: today },
    { label: "Last month", from: `${lastDay.slice(0, 8)}01`, to: lastDay }
  ]
}

/** Problems with two typed days; a missing day is undefined. */
export const checkDays = (from: string | undefined, to: string | undefined): Problems => {
  const isWrong = (typed: string | undefined) => typed !== undefined && !isDay(typed)
  const dayProblem = "Type a day such as 2026-10-15."
  if (isWrong(from) || isWrong(to))
    return { ...(isWrong(from) && { from: dayProblem }), ...(isWrong(to) && { to: dayProblem }) }
  return from !== undefined && to !== undefined && from > to ? { from: "The first day is after the last one." } : {}
}

const checkPeriod = (typed: Period): Problems => {
  const problems = checkDays(typed.from, typed.to)
  if (Object.keys(problems).length > 0) return problems
  return countDays(typed) > maxDays ? { from: `Choose at most ${maxDays} days.` } : {}
}

/**
 * The days as typed, and the period, which is undefined if they are not valid. Without days in the query, the period is
 * the last `defaultDays` days.
 */
export const readPeriod = (query: URLSearchParams, now: number) => {
  const fallback = makeLastDays(getToday(now), defaultDays)
  const typed = { from: query.get("from")?.trim() || fallback.from, to: query.get("to")?.trim() || fallback.to }
  const problems = checkPeriod(typed)
  return { typed, problems, period: Object.keys(problems).length === 0 ? typed : undefined }
}
