/**
 * Finds the dates of a row: the day of its number, by `period` in `feeds.tsv`, and the time of its publication.
 * Timestamps have no time zone. They are parsed, never compared as text.
 */
import { dayOf } from "@larder/schemas"
import type { Feed, PeriodKey } from "../catalog.ts"
import { findField, isStated, type PayloadRow, quoteCell, readCell } from "../decode/payload.ts"
import { assertTypes, makeDrift } from "./drift.ts"

/** The day of `MM/DD/YYYY` or `YYYY-MM-DD`, with or without a time after it; undefined if the text is not a date. */
export const parseDay = (text: string): string | undefined => {
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:\s|$)/.exec(text)
  if (american !== null) return dayOf(Number(american[3]), Number(american[1]), Number(american[2]))
  const iso = /^(\d{4})-(\d{2})-(\d{2})(?:[T\s]|$)/.exec(text)
  return iso === null ? undefined : dayOf(Number(iso[1]), Number(iso[2]), Number(iso[3]))
}

/**
 * `MM/DD/YYYY HH:MM:SS` as `YYYY-MM-DD HH:MM:SS`, without a time zone, because the report states none. A date without a
 * time becomes the end of that day, so that no row appears to be published earlier than it was.
 */
export const parseTimestamp = (text: string): string | undefined => {
  const day = parseDay(text)
  const time = /[\sT](\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*$/.exec(text)
  if (day === undefined) return undefined
  if (time === null) return /[\sT]\S/.test(text) ? undefined : `${day} 23:59:59`
  const [, hours = "", minutes = "", seconds = "00"] = time
  return Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59
    ? undefined
    : `${day} ${hours.padStart(2, "0")}:${minutes}:${seconds}`
}

const months = "january february march april may june july august september october november december".split(" ")

/** Parses the number of a month: `Jul`, `Sept.`, `July`, `7` or `07`. */
export const parseMonth = (text: string): number | undefined => {
  const name = text.toLowerCase().replace(/\.$/, "")
  const index = name.length < 3 ? -1 : months.findIndex((month) => month.startsWith(name))
  if (index >= 0) return index + 1
  const number = /^\d{1,2}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= 12 ? number : undefined
}

export type PeriodReader = (
  row: PayloadRow
) => { readonly day: string } | { readonly fault: string; readonly stated: boolean }

const requireField = (fields: ReadonlyArray<string>, name: string, isExact: boolean): string => {
  const match = isExact && !fields.includes(name) ? undefined : findField(fields, name)
  if (match !== undefined && "field" in match) return match.field
  const fault = match === undefined ? "is missing" : `could be ${match.ambiguous.join(" or ")}`
  throw makeDrift(`the date field ${name} ${fault}`, fields)
}

export const makePeriodReader = (key: PeriodKey, fields: ReadonlyArray<string>): PeriodReader => {
  const readDay = (row: PayloadRow, field: string) => parseDay(readCell(row[field]) ?? "")
  const makeFault = (row: PayloadRow, field: string, expected: string) => ({
    fault: `${field} is ${quoteCell(row[field])}, which is not a ${expected}`,
    stated: isStated(row[field])
  })
  if (key.kind === "day") {
    const field = requireField(fields, key.field, key.isExact)
    return (row) => {
      const day = readDay(row, field)
      return day === undefined ? makeFault(row, field, "date") : { day }
    }
  }
  const monthField = requireField(fields, key.month, false)
  const yearField = requireField(fields, key.year, false)
  return (row) => {
    const month = parseMonth(readCell(row[monthField]) ?? "")
    if (month === undefined) return makeFault(row, monthField, "month")
    const text = (key.isYearOfDay ? readDay(row, yearField)?.slice(0, 4) : readCell(row[yearField])) ?? ""
    const day = /^\d{4}$/.test(text) ? dayOf(Number(text), month, 1) : undefined
    return day === undefined ? makeFault(row, yearField, key.isYearOfDay ? "date" : "year") : { day }
  }
}

/**
 * Replaces a missing timestamp. `commodity.price_as_of` recognises it by its microseconds, because reports state whole
 * seconds, and shows the row only from the time when its payload was fetched.
 */
const placeholderTime = "23:59:59.999999"

/** Days that a row states about its report. Without a timestamp, it counts as published at the end of the newest one. */
const reportDays = ["created_date", "week_ending_date", "report_end_date", "report_date"]

/** Throws `DriftFound` if two fields could be the timestamp, or if every stated timestamp in these rows is invalid. */
export const makePublicationReader = (fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) => {
  const match = findField(fields, "published_date")
  if (match !== undefined && "ambiguous" in match) {
    throw makeDrift(`published_date could be ${match.ambiguous.join(" or ")}`, fields)
  }
  const field = match?.field
  if (field !== undefined) {
    assertTypes([{ field, fits: (cell) => parseTimestamp(readCell(cell) ?? "") !== undefined }], rows)
  }
  return (row: PayloadRow, day: string): { readonly timestamp: string } | { readonly fault: string } => {
    const stated = field === undefined ? undefined : readCell(row[field])
    if (stated === undefined) {
      const days = reportDays.flatMap((name) => parseDay(readCell(row[name]) ?? "") ?? [])
      return { timestamp: `${days.sort().at(-1) ?? day} ${placeholderTime}` }
    }
    const timestamp = parseTimestamp(stated)
    return timestamp === undefined
      ? { fault: `${field} is ${quoteCell(stated)}, which is not a date and time` }
      : { timestamp }
  }
}

/** Only announcements within this many days of their month count, not a history that was published again later. */
const maxDaysFromMonth = 31

/**
 * For feeds with prices that are announced ahead: throws `DriftFound` if most months were announced after they began. The
 * month field would then mean the month of the announcement. A single late announcement has occurred, and is accepted.
 */
export const assertAnnouncedAhead = (
  { period }: Feed,
  readings: ReadonlyArray<{ readonly observed_on: string; readonly published_at: string }>
) => {
  if (period.kind !== "month" || !period.isAnnouncedAhead) return
  const announced = new Map<string, string>()
  for (const { observed_on, published_at } of readings) {
    const before = announced.get(observed_on)
    const days = (Date.parse(published_at.slice(0, 10)) - Date.parse(observed_on)) / 86_400_000
    if (published_at.endsWith(placeholderTime) || Math.abs(days) > maxDaysFromMonth) continue
    if (before === undefined || published_at < before) announced.set(observed_on, published_at)
  }
  const late = [...announced].filter(([month, at]) => at.slice(0, 10) >= month)
  const [[month, at] = ["", ""]] = late
  if (late.length < 2 || late.length * 2 <= announced.size) return
  throw makeDrift(
    `${period.month} no longer means the month that is priced: ${late.length} of ${announced.size} months were announced after they began, such as ${month.slice(0, 7)} on ${at.slice(0, 10)}`
  )
}
