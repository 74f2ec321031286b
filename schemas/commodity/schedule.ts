/**
 * When a report publishes the value of a period: `publishes_on` in the catalog and in `commodity.metric`. People read the
 * text and programs parse it, so it has one form for each frequency. `ingest.freshness` refuses every other text by the
 * same patterns, which therefore use only what JavaScript and RE2 share.
 */
import { Schema } from "effect"
import type { Frequency } from "./records.ts"

/** Whether a report prints a number for every period: `printed` in the catalog and in `commodity.metric`. */
export const Printed = Schema.Literals(["always", "sometimes"])

const weekday = "(Monday|Tuesday|Wednesday|Thursday|Friday)"
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

/** What is wrong with the schedule of a report of this frequency; undefined if nothing is. */
export const findScheduleFault = (publishes_on: string, frequency: Frequency): string | undefined =>
  scheduleForms[frequency].pattern.test(publishes_on)
    ? undefined
    : `${frequency} reports publish on a day such as ${scheduleForms[frequency].example}`
