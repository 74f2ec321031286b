/** Tables as CSV files for download. A byte order mark tells spreadsheets that they are UTF-8. */
import { Cause, Effect, Stream } from "effect"
import { type CsvRow, csvText } from "../../persistence/index.ts"
import { type Answer, download } from "./page.ts"

const byteOrderMark = "\uFEFF"

/**
 * The log is the only report of a failure, because the response has started when rows are read. An interrupt is no
 * failure.
 */
const tellOperator = (name: string) => (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Effect.annotateLogs(Effect.logError("a file of the console broke off", cause), { file: name })

/**
 * A failure while rows are read aborts the download: the browser reports it, so a partial file is not mistaken for a
 * complete one. The failure is logged for the operator.
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
