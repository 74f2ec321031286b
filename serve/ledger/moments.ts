/** UTC days, weeks and months as numbers, and timestamps as text. */
import { Timestamp } from "@larder/schemas"
import { Schema } from "effect"

/** Months counted from year 0: the period of a monthly budget. */
export const monthOf = (milliseconds: number): number => {
  const date = new Date(milliseconds)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

const day = 86_400_000

/** Days counted from 1970-01-01. */
export const dayNumber = (milliseconds: number): number => Math.floor(milliseconds / day)
export const dateOfDay = (number: number): string => dateText(number * day)
export const monthOfDay = (number: number): number => monthOf(number * day)
/** Monday of the week that contains a day. */
export const mondayOf = (number: number): number => number - ((((number + 3) % 7) + 7) % 7)

/** All days of the weeks that contain the given days, each once. */
export const daysOfWeeks = (days: ReadonlyArray<number>): ReadonlyArray<number> =>
  [...new Set(days.map(mondayOf))].flatMap((monday) => Array.from({ length: 7 }, (_, index) => monday + index))

/** Both days are inclusive. Empty if `to` is before `from`. */
export interface Days {
  readonly from: string
  readonly to: string
}

const firstDayOf = (month: number) => new Date(0).setUTCFullYear(Math.floor(month / 12), month % 12, 1)
const lastDayOf = (month: number) => firstDayOf(month + 1) - day
const dateText = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10)
const countDays = ({ from, to }: Days) => (Date.parse(to) - Date.parse(from)) / day + 1

/** Covers a month by its days within a period, or by the whole month minus its days outside: whichever are fewer. */
const coverMonth = (within: Days, outside: ReadonlyArray<Days>) =>
  countDays(within) <= outside.reduce((sum, days) => sum + countDays(days), 0)
    ? { wholes: 0, added: [within], subtracted: [] }
    : { wholes: 1, added: [], subtracted: outside.filter((days) => countDays(days) > 0) }

/** A period as the months from `first` to the one before `next`, plus and minus days: at most sixteen of a month. */
export const coverPeriod = ({ from, to }: Days) => {
  const [first, last] = [monthOf(Date.parse(from)), monthOf(Date.parse(to))]
  const before = { from: dateText(firstDayOf(first)), to: dateText(Date.parse(from) - day) }
  const after = { from: dateText(Date.parse(to) + day), to: dateText(lastDayOf(last)) }
  if (first >= last) {
    const { added, subtracted, wholes } = coverMonth({ from, to }, [before, after])
    return { first, next: first + wholes, added, subtracted }
  }
  const head = coverMonth({ from, to: dateText(lastDayOf(first)) }, [before])
  const tail = coverMonth({ from: dateText(firstDayOf(last)), to }, [after])
  return {
    first: first + 1 - head.wholes,
    next: last + tail.wholes,
    added: [...head.added, ...tail.added],
    subtracted: [...head.subtracted, ...tail.subtracted]
  }
}

const isTimestamp = Schema.is(Timestamp)

/** A UTC time as people type it: `2027-01-31T00:00:00Z`, `2027-01-31 00:00`. Undefined if it is not valid. */
export const parseTypedTimestamp = (text: string): string | undefined => {
  const [, day, minute, second = ":00"] = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?( ?UTC|Z)?$/.exec(text) ?? []
  const moment = `${day}T${minute}${second}.000Z`
  return isTimestamp(moment) ? moment : undefined
}

let latest = { milliseconds: 0, text: new Date(0).toISOString() }

/** ISO 8601 in UTC with milliseconds. Formatting takes 0.8 µs, so thirty calls in a millisecond share one text. */
export const timestampOf = (milliseconds: number): string => {
  if (latest.milliseconds !== milliseconds) latest = { milliseconds, text: new Date(milliseconds).toISOString() }
  return latest.text
}
