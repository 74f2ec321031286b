/** Dates of a row: the day of its number, as `feeds.tsv` says, and the moment of its publication. */
import { dayOf } from "@larder/schemas/dates.ts"
import type { PeriodKey } from "../catalog.ts"
import { DriftFound, findField, type PayloadRow, quoted, textOf } from "../decode/field.ts"

/** The day of `MM/DD/YYYY` or `YYYY-MM-DD`, with or without a time after it; undefined if the text is not a date. */
export const parseDay = (text: string): string | undefined => {
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:\s|$)/.exec(text)
  if (american !== null) return dayOf(Number(american[3]), Number(american[1]), Number(american[2]))
  const iso = /^(\d{4})-(\d{2})-(\d{2})(?:[T\s]|$)/.exec(text)
  return iso === null ? undefined : dayOf(Number(iso[1]), Number(iso[2]), Number(iso[3]))
}

/**
 * `MM/DD/YYYY HH:MM:SS` as `YYYY-MM-DD HH:MM:SS`, without a time zone, because the report states none. A date without a
 * time becomes the end of that day.
 */
export const parseMoment = (text: string): string | undefined => {
  const day = parseDay(text)
  const time = /[\sT](\d{1,2}):(\d{2})(?::(\d{2}))?(?:\.\d+)?\s*$/.exec(text)
  if (day === undefined) return undefined
  if (time === null) return /[\sT]\S/.test(text) ? undefined : `${day} 23:59:59`
  const [, hours = "", minutes = "", seconds = "00"] = time
  return Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59
    ? undefined
    : `${day} ${hours.padStart(2, "0")}:${minutes}:${seconds}`
}

const months = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december"
]

/** The number of a month: `Jul`, `Sept.`, `July`, `7` or `07`. */
export const parseMonth = (text: string): number | undefined => {
  const name = text.toLowerCase().replace(/\.$/, "")
  const index = name.length < 3 ? -1 : months.findIndex((month) => month.startsWith(name))
  if (index >= 0) return index + 1
  const number = /^\d{1,2}$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= 12 ? number : undefined
}

/** `stated` is false if the row has no date at all. */
type Reader = (row: PayloadRow) => { readonly day: string } | { readonly fault: string; readonly stated: boolean }

const required = (fields: ReadonlyArray<string>, name: string, exactly: boolean): string => {
  const found = exactly && !fields.includes(name) ? undefined : findField(fields, name)
  if (found !== undefined && "field" in found) return found.field
  const problem =
    found === undefined
      ? `the date field ${name} is missing`
      : `the date field ${name} could be ${found.ambiguous.join(" or ")}`
  throw new DriftFound({ problem, found: [...fields] })
}

/** Finds the period fields of a payload once, and reads them row by row. Throws `DriftFound` if one is missing. */
export const periodReader = (key: PeriodKey, fields: ReadonlyArray<string>): Reader => {
  const dayIn = (row: PayloadRow, field: string) => parseDay(textOf(row[field]) ?? "")
  const fault = (row: PayloadRow, field: string, wanted: string) => ({
    fault: `${field} is ${quoted(row[field])}, which is no ${wanted}`,
    stated: textOf(row[field]) !== undefined
  })
  if (key.kind === "day") {
    const field = required(fields, key.field, key.exactly)
    return (row) => {
      const day = dayIn(row, field)
      return day === undefined ? fault(row, field, "date") : { day }
    }
  }
  const monthField = required(fields, key.month, false)
  const yearField = required(fields, key.year, false)
  return (row) => {
    const month = parseMonth(textOf(row[monthField]) ?? "")
    if (month === undefined) return fault(row, monthField, "month")
    const text = (key.yearOfDay ? dayIn(row, yearField)?.slice(0, 4) : textOf(row[yearField])) ?? ""
    const day = /^\d{4}$/.test(text) ? dayOf(Number(text), month, 1) : undefined
    return day === undefined ? fault(row, yearField, key.yearOfDay ? "date" : "year") : { day }
  }
}
