/**
 * Finds the dates of a row: the day of its number, by `period` in `feeds.tsv`, and the time of its publication.
 * Timestamps have no time zone. They are parsed, never compared as text.
 */
import { addDays, dayOf } from "@larder/schemas"
import type { PeriodKey } from "../catalog/cells.ts"
import { findField, findOnlyField, isStated, type PayloadRow, quoteCell, readCell } from "../decode/payload.ts"
import { assertTypes, makeDrift } from "./drift.ts"

const endOfDay = "23:59:59"

/** A time after a day: with seconds or without, on a clock of 24 or of twelve hours. */
const timePattern = /^[\sT]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?(?:\s*([AP])\.?M\.?)?\s*$/i

/** A day of `MM/DD/YYYY` or `YYYY-MM-DD`, and the text after it; undefined if the text does not begin with a day. */
const splitDay = (text: string): { readonly day: string; readonly rest: string } | undefined => {
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?!\d)(.*)$/s.exec(text)
  const iso = /^(\d{4})-(\d{2})-(\d{2})(?!\d)(.*)$/s.exec(text)
  const [year, month, date, rest = ""] =
    american === null ? [iso?.[1], iso?.[2], iso?.[3], iso?.[4]] : [american[3], american[1], american[2], american[4]]
  const day = dayOf(Number(year), Number(month), Number(date))
  return day === undefined ? undefined : { day, rest }
}

/** `HH:MM:SS`; undefined if the text is not a time. */
const parseTime = (text: string): string | undefined => {
  const [match, hours = "", minutes = "", seconds = "00", half] = timePattern.exec(text) ?? []
  if (match === undefined || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  if (half !== undefined && (Number(hours) < 1 || Number(hours) > 12)) return undefined
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toUpperCase() === "P" ? 12 : 0)
  return hour > 23 ? undefined : `${String(hour).padStart(2, "0")}:${minutes}:${seconds}`
}

/** The day of a text, with or without a time after it; undefined for anything else, such as a range of days. */
export const parseDay = (text: string): string | undefined => {
  const split = splitDay(text)
  return split !== undefined && (split.rest.trim() === "" || parseTime(split.rest) !== undefined)
    ? split.day
    : undefined
}

/**
 * `MM/DD/YYYY HH:MM:SS` as `YYYY-MM-DD HH:MM:SS`, without a time zone, because the report states none. A date without a
 * time becomes the end of that day, so that no row appears to be published earlier than it was.
 */
export const parseTimestamp = (text: string): string | undefined => {
  const split = splitDay(text)
  if (split === undefined) return undefined
  const time = split.rest.trim() === "" ? endOfDay : parseTime(split.rest)
  return time && `${split.day} ${time}`
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

export interface Publication {
  /** `YYYY-MM-DD HH:MM:SS`, by the report's own clock. */
  readonly timestamp: string
  /** False if the row has no timestamp. It then counts as published at the end of the newest day that it states. */
  readonly isStated: boolean
}

/** A date of a row that cannot be read. `stated` is false if the row simply has none, which happens occasionally. */
export interface DateFault {
  readonly fault: string
  readonly stated: boolean
}

/** `publication` is undefined if the row states no day of its report at all. */
export type PeriodReader = (
  row: PayloadRow,
  publication: Publication | undefined
) => { readonly day: string } | DateFault

const requireField = (fields: ReadonlyArray<string>, name: string, isExact: boolean): string => {
  const match = isExact && !fields.includes(name) ? undefined : findField(fields, name)
  if (match !== undefined && "field" in match) return match.field
  const fault = match === undefined ? "is missing" : `could be ${match.ambiguous.join(" or ")}`
  throw makeDrift(`the date field ${name} ${fault}`, fields)
}

const readDay = (row: PayloadRow, field: string) => parseDay(readCell(row[field]) ?? "")
const makeFault = (row: PayloadRow, field: string, expected: string): DateFault => ({
  fault: `${field} is ${quoteCell(row[field])}, which is not a ${expected}`,
  stated: isStated(row[field])
})

const friday = 5
const weekdayOf = (day: string) => new Date(day).getUTCDay()
/** A week that begins on a Saturday or Sunday ends on the Friday after it. */
const fridayAfter = (begin: string) => addDays(begin, (friday - weekdayOf(begin) + 7) % 7)
/** A week that ends on a Saturday or Sunday has its Friday before it. */
const fridayOfEnd = (end: string) => addDays(fridayAfter(end), [0, 6].includes(weekdayOf(end)) ? -7 : 0)

/** The Friday of a row's week: of its first day, or of its last one if it states no first. */
const makeWeekReader = ([first, second]: readonly [string, string], fields: ReadonlyArray<string>) => {
  const [begin, end] = [findOnlyField(fields, first), findOnlyField(fields, second)]
  if (begin === undefined && end === undefined) requireField(fields, first, false)
  return (row: PayloadRow): { readonly begin: string | undefined; readonly friday: string } | DateFault => {
    if (begin !== undefined && (isStated(row[begin]) || end === undefined || !isStated(row[end]))) {
      const day = readDay(row, begin)
      return day === undefined ? makeFault(row, begin, "date") : { begin: day, friday: fridayAfter(day) }
    }
    const day = end && readDay(row, end)
    return day === undefined ? makeFault(row, end ?? first, "date") : { begin: undefined, friday: fridayOfEnd(day) }
  }
}

type MonthKey = Extract<PeriodKey, { readonly kind: "month" }>

/** The first day of a month: `2026-09-01` and 1 are 2026-10-01. */
const addMonths = (month: string, count: number) => {
  const months = Number(month.slice(0, 4)) * 12 + Number(month.slice(5, 7)) - 1 + count
  return dayOf(Math.floor(months / 12), (months % 12) + 1, 1) ?? month
}

/** A month that names neither the month of publication nor the one after it is a fault. */
const priceNextMonth = (named: string, publication: Publication | undefined): { readonly day: string } | DateFault => {
  if (publication?.isStated !== true)
    return { fault: "it states no time of publication, and prices the month after it", stated: true }
  const published = `${publication.timestamp.slice(0, 7)}-01`
  const day = addMonths(published, 1)
  if (named === day || named === published) return { day }
  const [was, either] = [named.slice(0, 7), `${published.slice(0, 7)} nor ${day.slice(0, 7)}`]
  return {
    fault: `its month is ${was}, which is neither ${either}: it was published on ${publication.timestamp.slice(0, 10)}`,
    stated: true
  }
}

const makeMonthReader = (key: MonthKey, fields: ReadonlyArray<string>): PeriodReader => {
  const monthField = requireField(fields, key.month, false)
  const yearField = requireField(fields, key.year, false)
  return (row, publication) => {
    const month = parseMonth(readCell(row[monthField]) ?? "")
    if (month === undefined) return makeFault(row, monthField, "month")
    const text = (key.isYearOfDay ? readDay(row, yearField)?.slice(0, 4) : readCell(row[yearField])) ?? ""
    const day = /^\d{4}$/.test(text) ? dayOf(Number(text), month, 1) : undefined
    if (day === undefined) return makeFault(row, yearField, key.isYearOfDay ? "date" : "year")
    return key.isAfterPublication ? priceNextMonth(day, publication) : { day }
  }
}

export const makePeriodReader = (key: PeriodKey, fields: ReadonlyArray<string>): PeriodReader => {
  if (key.kind === "friday") {
    const readWeek = makeWeekReader(key.fields, fields)
    return (row) => {
      const week = readWeek(row)
      return "fault" in week ? week : { day: week.friday }
    }
  }
  if (key.kind === "month") return makeMonthReader(key, fields)
  const field = requireField(fields, key.field, key.isExact)
  return (row) => {
    const day = readDay(row, field)
    return day === undefined ? makeFault(row, field, "date") : { day }
  }
}

/**
 * Replaces a missing timestamp. `commodity.observation_as_of` recognises it by its microseconds, because reports state whole
 * seconds, and shows the row only from the time when its payload was fetched.
 */
const placeholderTime = "23:59:59.999999"

/** Days that a row states about its report. Without a timestamp, it counts as published at the end of the newest one. */
const reportDays = ["created_date", "week_ending_date", "report_end_date", "report_date"]

/**
 * Before February 2018, weekly reports have no time of publication, but the first day of their week at 00:00:00. They
 * appeared during that week.
 */
const toEndOfWeek = (timestamp: string, week: ReturnType<ReturnType<typeof makeWeekReader>> | undefined) => {
  if (week === undefined || "fault" in week || !timestamp.endsWith(" 00:00:00")) return timestamp
  const firstDays = [week.begin, addDays(week.friday, -4)] // its Monday
  return firstDays.includes(timestamp.slice(0, 10)) ? `${week.friday} ${endOfDay}` : timestamp
}

const findReportDay = (row: PayloadRow, names: ReadonlyArray<string>) =>
  names
    .flatMap((name) => parseDay(readCell(row[name]) ?? "") ?? [])
    .sort()
    .at(-1)

/** The day that a row states about its report in any way; for rows whose time of publication cannot be read. */
export const estimateReportDay = (row: PayloadRow) => findReportDay(row, [...reportDays, "report_begin_date"])

export type PublicationReader = (row: PayloadRow) => Publication | DateFault | undefined

/** Throws `DriftFound` if two fields could be the timestamp, or if every stated timestamp in these rows is invalid. */
export const makePublicationReader = (
  period: PeriodKey,
  fields: ReadonlyArray<string>,
  rows: ReadonlyArray<PayloadRow>
): PublicationReader => {
  const match = findField(fields, "published_date")
  if (match !== undefined && "ambiguous" in match) {
    throw makeDrift(`published_date could be ${match.ambiguous.join(" or ")}`, fields)
  }
  const field = match?.field
  if (field !== undefined) {
    assertTypes([{ field, fits: (cell) => parseTimestamp(readCell(cell) ?? "") !== undefined }], rows)
  }
  const hasWeek = period.kind === "friday" && period.fields.some((name) => findOnlyField(fields, name) !== undefined)
  const readWeek = hasWeek ? makeWeekReader(period.fields, fields) : undefined
  return (row) => {
    const stated = field === undefined ? undefined : readCell(row[field])
    if (stated === undefined) {
      const newest = findReportDay(row, reportDays)
      return newest === undefined ? undefined : { timestamp: `${newest} ${placeholderTime}`, isStated: false }
    }
    const timestamp = parseTimestamp(stated)
    if (timestamp === undefined)
      return { fault: `${field} is ${quoteCell(stated)}, which is not a date and time`, stated: true }
    return { timestamp: toEndOfWeek(timestamp, readWeek?.(row)), isStated: true }
  }
}

/** For a row that states no day of its report: it counts as published at the end of the day that it is about. */
export const publishedAtEndOf = (day: string): Publication => ({
  timestamp: `${day} ${placeholderTime}`,
  isStated: false
})

export const daysBetween = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 86_400_000

/** The newest of days or timestamps; empty if there are none. */
export const newestOf = (days: Iterable<string>) => [...days].reduce((last, day) => (day > last ? day : last), "")
