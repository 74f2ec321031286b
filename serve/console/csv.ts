/** Tables as CSV files to download. A byte order mark tells spreadsheets that they are UTF-8. */
import { Cause, Effect, Stream } from "effect"
import { type CsvRow, csvText } from "../csv.ts"
import { type Answer, download } from "./page.ts"

const byteOrderMark = "\uFEFF"

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
    const text = Stream.concat(Stream.succeed(byteOrderMark), csvText(columns, rows, "\r\n")).pipe(
      Stream.tapCause(tellOperator(name))
    )
    return download(name, "text/csv; charset=utf-8", Stream.toReadableStreamWith(Stream.encodeText(text), context))
  })
