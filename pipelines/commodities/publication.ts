/**
 * When a report published a row: by its own stamp, which has no zone. Stamps are parsed and never compared as text. Nothing may
 * seem to be published before it was: a stamp without a time counts as the end of its day, and a row without a stamp gets a
 * moment that `commodity.price_as_of` knows by its microseconds and shows only from when the payload was fetched.
 */
import { assertTypes } from "./cell-types.ts"
import { DriftFound, findField, type PayloadRow, quoted, textOf } from "./field.ts"
import { parseDay, parseMoment } from "./period.ts"

/** No stamp is there: reports state whole seconds. */
const unstamped = "23:59:59.999999"

/** Whether this moment stands in for a stamp that is missing. */
export const isUnstamped = (moment: string) => moment.endsWith(unstamped)

/** Days that a row states about its report: the end of the newest of them stands in for a stamp that is missing. */
const reportDays = ["created_date", "week_ending_date", "report_end_date", "report_date"]

/**
 * Reads the stamp of each row, `YYYY-MM-DD HH:MM:SS`. Throws `DriftFound` where two fields could be it, and where it is no stamp
 * in any of these rows.
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
