/**
 * Streams tables as CSV (RFC 4180), so that ten million rows are never in memory together. A string that a spreadsheet
 * would run as a formula gets a `'` before the formula sign. Numbers, including negative ones, stay numbers.
 */
import { Stream } from "effect"
import Papa from "papaparse"

type CsvCell = string | number | null
export type CsvRow = ReadonlyArray<CsvCell>

/**
 * A formula sign where a cell may start: also inside a string, because in many locales Excel separates cells by `;`. Some
 * programs drop whitespace and quotes before the sign, and some treat the full-width signs like the plain ones.
 */
const formula = /((?:^|[;|\t\r\n])[\s"]*)(?=[=+\-@＝＋－＠])/g
const escapeFormula = (cell: CsvCell) => (typeof cell === "string" ? cell.replace(formula, "$1'") : cell)

const batchSize = 1_000

/** The file in pieces, header first. The standard ends lines with `\r\n`; Unix programs use `\n`. */
export const streamCsv = <E, R>(
  columns: ReadonlyArray<string>,
  rows: Stream.Stream<CsvRow, E, R>,
  newline: "\r\n" | "\n"
): Stream.Stream<string, E, R> => {
  const formatLines = (rows: ReadonlyArray<CsvRow>) =>
    Papa.unparse(
      rows.map((row) => row.map(escapeFormula)),
      { newline }
    ) + newline
  return Stream.concat(
    Stream.succeed(formatLines([columns])),
    Stream.grouped(rows, batchSize).pipe(Stream.map(formatLines))
  )
}
