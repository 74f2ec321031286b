/** Converts the cells of the table to rates. A line has rates, is rejected, or is skipped: it has no rate at all. */
import { isDay, numberToken } from "@larder/schemas"
import type { RateTable } from "../decode/rate-table.ts"

/** Must be raised when the same payload results in different rates. */
export const mappingVersion = 1

export interface Rate {
  readonly currency: string
  readonly day: string
  readonly rate: string
  readonly source_row: number
}

const absent = "N/A"

/** Returns what is wrong with a line; undefined if nothing is. */
const findFault = ({ currencies }: RateTable, { cells, day }: RateTable["lines"][number]): string | undefined => {
  if (!isDay(day)) return `Date is not a day: ${day}`
  const at = cells.findIndex((cell) => cell !== absent && numberToken(cell) === undefined)
  return at === -1 ? undefined : `${currencies[at]} is not a number: ${cells[at]}`
}

export const normalise = (table: RateTable) => {
  const rates: Array<Rate> = []
  const rejects: Array<{ readonly position: number; readonly reason: string; readonly payload: string }> = []
  let skipped = 0
  for (const line of table.lines) {
    const { cells, day, row } = line
    const fault = findFault(table, line)
    if (fault !== undefined) {
      rejects.push({ position: row, reason: fault, payload: [day, ...cells].join(",") })
      continue
    }
    const stated = table.currencies.flatMap((currency, at): ReadonlyArray<Rate> => {
      const rate = numberToken(cells[at] ?? "")
      return rate === undefined ? [] : [{ currency, day, rate, source_row: row }]
    })
    if (stated.length === 0) skipped++
    rates.push(...stated)
  }
  return { rates, rejects, skipped }
}
