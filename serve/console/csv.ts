/**
 * Tables as CSV files (RFC 4180), written while they are read, so that ten million rows need no memory. A byte order mark
 * tells spreadsheets that it is UTF-8. Texts that a spreadsheet would run as a formula get a `'` before its sign; numbers
 * stay numbers, negative ones too.
 */
import { Cause, Effect, Stream } from "effect"
import Papa from "papaparse"
import { type Answer, download } from "./page.ts"

export type CsvCell = string | number | null
export type CsvRow = ReadonlyArray<CsvCell>

/**
 * A formula sign where a cell may begin. That is also inside of a text, quoted or not, for who opens the file with another
 * separator: many settings of Excel take `;`. Blanks and quotes before the sign may be dropped, and the full-width signs
 * are taken for the plain ones by some.
 */
const formula = /((?:^|[;|\t\r\n])[\s"]*)(?=[=+\-@＝＋－＠])/g
const withoutFormula = (cell: CsvCell) => (typeof cell === "string" ? cell.replace(formula, "$1'") : cell)

const byteOrderMark = "\uFEFF"
const rowsAtOnce = 1_000

const linesOf = (rows: ReadonlyArray<CsvRow>) =>
  `${Papa.unparse(
    rows.map((row) => row.map(withoutFormula)),
    { newline: "\r\n" }
  )}\r\n`

/** Nobody else hears of it: the page has been answered when rows are read. Interrupts are no failure. */
const tellOperator = (name: string) => (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Effect.annotateLogs(Effect.logError("a file of the console broke off", cause), { file: name })

/**
 * A failure while rows are read cuts the file off: the browser says so, and nobody takes a part for the whole. The operator
 * is told.
 */
export const csvFile = <E, R>(
  name: string,
  columns: ReadonlyArray<string>,
  rows: Stream.Stream<CsvRow, E, R>
): Effect.Effect<Answer, never, R> =>
  Effect.map(Effect.context<R>(), (context) => {
    const text = Stream.grouped(rows, rowsAtOnce).pipe(Stream.map(linesOf))
    const all = Stream.concat(Stream.succeed(byteOrderMark + linesOf([columns])), text).pipe(
      Stream.tapCause(tellOperator(name))
    )
    return download(name, "text/csv; charset=utf-8", Stream.toReadableStreamWith(Stream.encodeText(all), context))
  })
