/** CSV files for download. They begin with a byte order mark, so that spreadsheets read them as UTF-8. */
import { Cause, Effect, Stream } from "effect"
import { type CsvRow, streamCsv } from "../../persistence/index.ts"
import type { PageResult } from "./page.ts"

const byteOrderMark = "\uFEFF"

/** The response has started when rows are read, so only the log can state the reason of a failure. */
const logFailure = (name: string) => (cause: Cause.Cause<unknown>) =>
  Cause.hasInterruptsOnly(cause)
    ? Effect.void
    : Effect.annotateLogs(Effect.logError("a download of the console was cut off", cause), { file: name })

/**
 * A failure while rows are read aborts the download: the browser reports it, so a partial file is not mistaken for a
 * complete one.
 */
export const downloadCsv = <E, R>(
  name: string,
  columns: ReadonlyArray<string>,
  rows: Stream.Stream<CsvRow, E, R>
): Effect.Effect<PageResult, never, R> =>
  Effect.map(Effect.context<R>(), (context) => {
    const csv = Stream.concat(Stream.succeed(byteOrderMark), streamCsv(columns, rows, "\r\n")).pipe(
      Stream.tapCause(logFailure(name))
    )
    const body = Stream.toReadableStreamWith(Stream.encodeText(csv), context)
    return { kind: "download", name, type: "text/csv; charset=utf-8", body }
  })
