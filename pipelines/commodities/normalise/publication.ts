/**
 * When a report published a row: by its own timestamp, which has no time zone. Timestamps are parsed and never compared
 * as text. No row may seem to be published before it was. A timestamp without a time counts as the end of its day. A
 * row without a timestamp gets a moment that `commodity.price_as_of` recognises by its microseconds, and shows only
 * from the time at which the payload was fetched.
 */
import { assertTypes } from "../decode/cell-types.ts"
import { DriftFound, findField, type PayloadRow, quoted, textOf } from "../decode/field.ts"
import { parseDay, parseMoment } from "./period.ts"

/** Marks a missing timestamp: reports state whole seconds. */
const unstamped = "23:59:59.999999"

/** Whether this moment replaces a missing timestamp. */
export const isUnstamped = (moment: string) => moment.endsWith(unstamped)

/** Days that a row states about its report: the end of the newest of them replaces a missing timestamp. */
const reportDays = ["created_date", "week_ending_date", "report_end_date", "report_date"]

/**
 * Reads the timestamp of each row, `YYYY-MM-DD HH:MM:SS`. Throws `DriftFound` if two fields could be the timestamp, or
 * if every stated value in these rows is invalid.
 */
export const publicationReader = (fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) => {
  const found = findField(fields, "published_date")
  if (found !== undefined && "ambiguous" in found) {
    const problem = `published_date could be ${found.ambiguous.join(" or ")}`
    throw new DriftFound({ problem, found: [...fields] })
  }
  if (found !== undefined) {
    const fits = (cell: unknown) => parseMoment(textOf(cell) ?? "") !== undefined
    assertTypes([{ field: found.field, fits }], rows)
  }
  const standIn = (row: PayloadRow, day: string) => {
    const days = reportDays.flatMap((field) => parseDay(textOf(row[field]) ?? "") ?? [])
    return `${days.sort().at(-1) ?? day} ${unstamped}`
  }
  return (row: PayloadRow, day: string): { readonly moment: string } | { readonly fault: string } => {
    const stamp = found === undefined ? undefined : textOf(row[found.field])
    if (stamp === undefined) return { moment: standIn(row, day) }
    const moment = parseMoment(stamp)
    return moment === undefined
      ? { fault: `${found?.field} is ${quoted(stamp)}, which is no date and time` }
      : { moment }
  }
}
