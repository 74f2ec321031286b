/** Reads the rows of a table by the names of its columns, because files have different columns in different orders. */
import type { BatchBuilder, Identify, ParsedRow } from "../batch-builder.ts"
import { FeedUnreadable, UnusableRow } from "../feed-errors.ts"
import type { FeedStats } from "../feed-stats.ts"
import { FilePrices } from "../money/file-prices.ts"
import { separators } from "./quoted-cells.ts"
import { readRecords, type TableRecord } from "./table-records.ts"

export interface Columns<Column extends string> {
  readonly has: (column: Column) => boolean
  /** The name of the column in this table; its last name if the table has no such column. */
  readonly name: (column: Column) => string
  /** "" if the table has no such column, or the record ends before it. */
  readonly cell: (record: TableRecord, column: Column) => string
}

export interface TableFormat<Column extends string> {
  /** What the file should be, for messages. */
  readonly kind: string
  readonly columns: ReadonlyArray<Column>
  /** The names of a column. The first one that is in the header is used. */
  readonly aliases: (column: Column) => ReadonlyArray<string>
  readonly normalizeName: (name: string) => string
  readonly required: ReadonlyArray<Column>
  /** Why a file with these names of columns is something else, although it may have all that are required. */
  readonly refuse?: (names: ReadonlyArray<string>) => string | null
}

/** A table of another kind than the store list states, by the names of its first columns. */
const otherKinds = [
  { kind: "shopify-csv", names: ["handle", "title", "variant price"] },
  { kind: "shopify-csv", names: ["url handle", "title", "price"] },
  { kind: "google-merchant", names: ["id", "title", "link", "price"] }
]

const nameOtherKind = (header: TableRecord) => {
  const names = new Set(header.cells.map((cell) => cell.trim().toLowerCase()))
  const other = otherKinds.find((known) => known.names.every((name) => names.has(name)))
  return other === undefined ? "" : ` A table with its columns has the kind "${other.kind}" in the store list.`
}

const quote = (names: ReadonlyArray<string>) => names.map((name) => `"${name}"`).join(" or ")

/** The first name may have a `#` before it, as the headers of some programs do. */
const readNames = (cells: ReadonlyArray<string>, normalizeName: (name: string) => string) =>
  cells.map((cell, index) => normalizeName(index === 0 ? cell.replace(/^\s*#\s*/, "") : cell))

/** Whether a line has the names of all required columns, with one of the usual separators. */
const isHeaderOf =
  <Column extends string>({ aliases, normalizeName, required }: TableFormat<Column>) =>
  (line: string) =>
    separators.some((separator) => {
      const names = readNames(
        line.split(separator).map((cell) => cell.replace(/^\s*"|"\s*$/g, "")),
        normalizeName
      )
      return required.every((column) => aliases(column).some((name) => names.includes(name)))
    })

const findColumns = <Column extends string>(
  header: TableRecord,
  { aliases, columns, kind, normalizeName, refuse, required }: TableFormat<Column>
): Columns<Column> => {
  const names = readNames(header.cells, normalizeName)
  const refusal = refuse?.(names) ?? null
  if (refusal !== null) throw new FeedUnreadable(refusal)
  const indexes = new Map<Column, number>()
  for (const column of columns) {
    const name = aliases(column).find((alias) => names.includes(alias))
    if (name !== undefined) indexes.set(column, names.indexOf(name))
  }
  const missing = required.filter((column) => !indexes.has(column)).map((column) => quote(aliases(column)))
  if (missing.length > 0) {
    const beginning = JSON.stringify(header.raw.trim().slice(0, 100))
    throw new FeedUnreadable(
      `This is not a ${kind}: line ${header.line} should contain the names of the columns, but lacks ${missing.join(", ")}. It begins with ${beginning}.${nameOtherKind(header)}`
    )
  }
  return {
    has: (column) => indexes.has(column),
    name: (column) => names[indexes.get(column) ?? -1] ?? aliases(column).at(-1) ?? column,
    cell: (record, column) => record.cells[indexes.get(column) ?? -1] ?? ""
  }
}

interface Rows<Column extends string> {
  readonly columns: Columns<Column>
  readonly records: ReadonlyArray<TableRecord>
}

/** Groups of the rows after the header. Fails with `FeedUnreadable`. */
async function* readRows<Column extends string>(
  pieces: AsyncIterable<string>,
  format: TableFormat<Column>
): AsyncGenerator<Rows<Column>> {
  let columns: Columns<Column> | undefined
  for await (const [first, ...others] of readRecords(pieces, isHeaderOf(format))) {
    if (first === undefined) continue
    if (columns !== undefined) yield { columns, records: [first, ...others] }
    else {
      columns = findColumns(first, format)
      yield { columns, records: others }
    }
  }
  if (columns === undefined) throw new FeedUnreadable("The file is empty.")
}

/** The prices of a table, in these columns. */
export const readTablePrices = <Column extends string>(
  open: () => AsyncIterable<string>,
  format: TableFormat<Column>,
  names: ReadonlyArray<Column>
) =>
  new FilePrices(async function* () {
    for await (const { columns, records } of readRows(open(), format)) {
      for (const record of records) yield* names.map((name) => columns.cell(record, name).trim())
    }
  })

/** Adds the rows of a table to `builder`, and yields whenever it is full. Fails with `FeedUnreadable`. */
export async function* readTable<Column extends string>(
  builder: BatchBuilder,
  pieces: AsyncIterable<string>,
  format: TableFormat<Column>,
  { prices, stats }: { readonly prices: FilePrices; readonly stats: FeedStats },
  readRow: (record: TableRecord, columns: Columns<Column>, identify: Identify) => ParsedRow
): AsyncGenerator<void> {
  for await (const { columns, records } of readRows(pieces, format)) {
    for (const column of format.columns) {
      if (columns.has(column)) stats.recordField(format.aliases(column)[0] ?? column)
    }
    for (const record of records) {
      await prices.addRow(() =>
        builder.addRow(record.line, record.raw, (identify) => {
          if (record.problem !== null) throw new UnusableRow(record.problem)
          return readRow(record, columns, identify)
        })
      )
      if (builder.isFull) yield
    }
  }
}
