/**
 * Calendar days as strings, `YYYY-MM-DD`, years 0001 to 9999, which compare as strings. This module uses neither a clock
 * nor time zones: a day is the date that a report prints.
 */
import { Schema } from "effect"

const daysInMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const isLeapYear = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
const countDays = (year: number, month: number) =>
  month === 2 && isLeapYear(year) ? 29 : (daysInMonth[month - 1] ?? 0)
const pad = (n: number, width: number) => String(n).padStart(width, "0")

const isInCalendar = (year: number, month: number, day: number): boolean =>
  year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= countDays(year, month)

/** The day as `YYYY-MM-DD`; undefined if the calendar has no such day. */
export const dayOf = (year: number, month: number, day: number): string | undefined =>
  [year, month, day].every(Number.isInteger) && isInCalendar(year, month, day)
    ? `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
    : undefined

/** Whether the string is a real calendar day in `YYYY-MM-DD` format: `2024-02-30` and `2024-2-3` are not. */
export const isDay = (text: string): boolean => {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  return match !== null && isInCalendar(Number(match[1]), Number(match[2]), Number(match[3]))
}

/** The same day some years earlier, but not before the year 1. In common years, 29 February becomes 28. */
export const yearsBefore = (day: string, years: number): string => {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number]
  const earlier = Math.max(1, year - years)
  return `${pad(earlier, 4)}-${pad(month, 2)}-${pad(Math.min(date, countDays(earlier, month)), 2)}`
}

/** The day a number of days later, or earlier if negative. For recent days only: unlike `yearsBefore`, it does not stop at the year 1. */
export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

// One check that also gives the JSON Schema: several checks would split pattern, format and description there.
const pattern = (source: string, format: string) => () => [{ pattern: source, format }, true] as const

export const Day = Schema.String.check(
  Schema.makeFilter((text) => isDay(text) || "is not a real calendar day in YYYY-MM-DD format", {
    toJsonSchema: pattern("^\\d{4}-\\d{2}-\\d{2}$", "date")
  })
)

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const isTimestamp = (text: string) =>
  timestamp.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

/** A time in UTC with milliseconds, `2026-10-01T13:04:36.000Z`, checked to exist. */
export const Timestamp = Schema.String.check(
  Schema.makeFilter((text) => isTimestamp(text) || "is not a time in UTC like 2026-10-01T13:04:36.000Z", {
    toJsonSchema: pattern(timestamp.source, "date-time")
  })
)
