/** Cells of a table by the names of their columns: files differ in which columns they have, and in which order. */
import { FeedUnreadable } from "../feed.ts"
import type { TableRecord } from "./table-records.ts"

export interface Columns<Column extends string> {
  readonly has: (column: Column) => boolean
  /** "" if the table has no such column, or the record ends before it. */
  readonly cellOf: (record: TableRecord, column: Column) => string
}

export interface ColumnsWanted<Column extends string> {
  /** What the file should be, for messages. */
  readonly kind: string
  /** The spelling of a name for comparison. */
  readonly spelled: (name: string) => string
  /** The names of a column; the first one that the header has counts. */
  readonly namesOf: (column: Column) => ReadonlyArray<string>
  readonly needed: ReadonlyArray<Column>
}

const quoted = (names: ReadonlyArray<string>) => names.map((name) => `"${name}"`).join(" or ")

/** Fails with `FeedUnreadable` if the header lacks a needed column. */
export const columnsOf = <Column extends string>(
  header: TableRecord,
  { kind, namesOf, needed, spelled }: ColumnsWanted<Column>
): Columns<Column> => {
  const places = new Map<string, number>()
  for (const [place, name] of header.cells.entries()) {
    if (!places.has(spelled(name))) places.set(spelled(name), place)
  }
  const found = new Map<Column, number>()
  const placeOf = (column: Column): number => {
    const known = found.get(column)
    if (known !== undefined) return known
    const name = namesOf(column).find((alias) => places.has(alias))
    const place = name === undefined ? -1 : (places.get(name) ?? -1)
    found.set(column, place)
    return place
  }
  const missing = needed.filter((column) => placeOf(column) === -1)
  if (missing.length > 0) {
    const columns = missing.map((column) => quoted(namesOf(column))).join(", ")
    const beginning = JSON.stringify(header.raw.trim().slice(0, 100))
    throw new FeedUnreadable(
      `This is not a ${kind}: line ${header.line} should name the columns, and lacks ${columns}. It begins with ${beginning}.`
    )
  }
  return {
    has: (column) => placeOf(column) !== -1,
    cellOf: (record, column) => record.cells[placeOf(column)] ?? ""
  }
}
