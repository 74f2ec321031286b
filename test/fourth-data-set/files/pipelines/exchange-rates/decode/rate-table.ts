/**
 * The table of the daily file: a header `Date,USD,JPY,…`, then a line for each day, newest first. No cell is quoted. A
 * file that is not such a table cannot be trusted.
 */
import { Schema } from "effect"

export class TableUnreadable extends Schema.TaggedError<TableUnreadable>()("TableUnreadable", {
  url: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The payload of ${this.url} ${this.problem}.`
  }
}

export interface RateTable {
  readonly currencies: ReadonlyArray<string>
  readonly lines: ReadonlyArray<{
    /** From 1, after the header. */
    readonly row: number
    readonly day: string
    /** One cell for each currency. */
    readonly cells: ReadonlyArray<string>
  }>
}

/** Parses the table. Throws `TableUnreadable`. */
export const parseRateTable = (url: string, text: string): RateTable => {
  const unreadable = (problem: string) => new TableUnreadable({ url, problem })
  const [header = "", ...rows] = text.trimEnd().split(/\r?\n/)
  const [date, ...currencies] = header.split(",")
  if (date !== "Date" || currencies.length === 0) throw unreadable("does not begin with Date and currencies")
  const invalid = currencies.find((currency) => !/^[A-Z]{3}$/.test(currency))
  if (invalid !== undefined) throw unreadable(`has a column ${invalid}, which is not a currency`)
  if (rows.length === 0) throw unreadable("has no day")
  const lines = rows.map((line, at) => {
    const [day = "", ...cells] = line.split(",")
    if (cells.length !== currencies.length) throw unreadable(`has ${cells.length} rates in line ${at + 2}`)
    return { row: at + 1, day, cells }
  })
  return { currencies, lines }
}
