/**
 * When a report publishes the value of a period: `publishes_on` in the catalog and in `commodity.metric`. People read the
 * text and programs parse it, so it has one form for each frequency. `ingest.freshness` refuses every other text by the
 * same patterns, which therefore use only what JavaScript and RE2 share.
 */
import { Schema } from "effect"
import type { Frequency } from "./records.ts"

/** Whether a report prints a number for every period: `printed` in the catalog and in `commodity.metric`. */
export const Printed = Schema.Literals(["always", "sometimes"])

const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
const weekday = `(${weekdays.join("|")})`
const month = "(January|February|March|April|May|June|July|August|September|October|November|December)"
const time = "([01]\\d|2[0-3]):[0-5]\\d"
// every month has a day 28
const day = "([1-9]|1\\d|2[0-8])"
const later = (unit: string) => `(same ${unit}|next ${unit}|${unit} ([2-9]|1[0-2]) ${unit}s later)`
const months = `${month}((, ${month})* and ${month})?`

const ofWeek = {
  pattern: new RegExp(`^${weekday} of the ${later("week")}, ${time}$`),
  example: "`Wednesday of the next week, 13:15`"
}
export const scheduleForms: Readonly<Record<Frequency, { readonly pattern: RegExp; readonly example: string }>> = {
  daily: { pattern: new RegExp(`^every working day, ${time}$`), example: "`every working day, 11:00`" },
  weekly: ofWeek,
  biweekly: ofWeek,
  monthly: {
    pattern: new RegExp(`^day ${day} of the (${later("month")}|month before), ${time}(, for ${months})?$`),
    example: "`day 5 of the next month, 13:15` or `day 5 of the next month, 13:15, for January and July`"
  },
  annual: {
    pattern: new RegExp(`^day ${day} of the ${later("month")}, ${time}$`),
    example: "`day 15 of the next month, 15:00`"
  }
}

export interface Schedule {
  /** The working day from 1 for Monday, or the day of the month; null for every working day. */
  readonly day: number | null
  /** Weeks or months after the one in which the period ends. */
  readonly shift: number
  /** In America/New_York: `13:15`. */
  readonly time: string
  /** The months for which the report prints a value; empty if it does for all. */
  readonly months: ReadonlyArray<string>
}

const shiftOf = (text: string) => {
  if (text.includes(" of the next ")) return 1
  if (text.includes(" month before, ")) return -1
  return Number(/ (\d+) (weeks|months) later/.exec(text)?.[1] ?? 0)
}

const dayOf = (text: string) => {
  const position = weekdays.indexOf(text.split(" ")[0] ?? "")
  return position === -1 ? Number(/^day (\d+)/.exec(text)?.[1]) : position + 1
}

/** Undefined for a text that is no schedule of this frequency. */
export const parseSchedule = (publishes_on: string, frequency: Frequency): Schedule | undefined => {
  if (!scheduleForms[frequency].pattern.test(publishes_on)) return undefined
  const [schedule = "", printedMonths = ""] = publishes_on.split(", for ")
  return {
    day: frequency === "daily" ? null : dayOf(schedule),
    shift: shiftOf(schedule),
    time: schedule.slice(-5),
    months: printedMonths === "" ? [] : printedMonths.split(/, | and /)
  }
}

/** What is wrong with the schedule of a report of this frequency; undefined if nothing is. */
export const findScheduleFault = (publishes_on: string, frequency: Frequency): string | undefined =>
  parseSchedule(publishes_on, frequency) === undefined
    ? `${frequency} reports publish on a day such as ${scheduleForms[frequency].example}`
    : undefined
