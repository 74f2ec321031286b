/**
 * Tables as text of CSV files (RFC 4180), written while they are read, so that ten million rows need no memory. Texts that a
 * spreadsheet would run as a formula get a `'` before its sign; numbers stay numbers, negative ones too.
 */
import { Stream } from "effect"
import Papa from "papaparse"

export type CsvCell = string | number | null
export type CsvRow = ReadonlyArray<CsvCell>

/**
 * A formula sign where a cell may begin. That is also inside of a text, quoted or not, for who opens the file with another
 * separator: many settings of Excel take `;`. Blanks and quotes before the sign may be dropped, and the full-width signs
 * are taken for the plain ones by some.
 */
const formula = /((?:^|[;|\t\r\n])[\s"]*)(?=[=+\-@＝＋－＠])/g
const withoutFormula = (cell: CsvCell) => (typeof cell === "string" ? cell.replace(formula, "$1'") : cell)

const rowsAtOnce = 1_000

/** The file in pieces, its header first. The standard ends lines with `\r\n`, programs of Unix with `\n`. */
export const csvText = <E, R>(
  columns: ReadonlyArray<string>,
  rows: Stream.Stream<CsvRow, E, R>,
  newline: "\r\n" | "\n"
): Stream.Stream<string, E, R> => {
  const linesOf = (rows: ReadonlyArray<CsvRow>) =>
    Papa.unparse(
      rows.map((row) => row.map(withoutFormula)),
      { newline }
    ) + newline
  return Stream.concat(Stream.succeed(linesOf([columns])), Stream.grouped(rows, rowsAtOnce).pipe(Stream.map(linesOf)))
}
