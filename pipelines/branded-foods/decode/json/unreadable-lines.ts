/**
 * Finds records that DuckDB cannot read although each is JSON of the expected shape. DuckDB's messages do not identify
 * the line reliably, so the chunk is bisected down to single lines. One such record costs about twice the time of
 * reading its chunk, in constant memory. No such record is known; many would take about 20 ms each.
 */
import { open, rename, rm } from "node:fs/promises"
import { basename } from "node:path"
import type { DuckDb, DuckDbError } from "@larder/warehouse"
import { Effect } from "effect"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { copyRanges, makeReject, type Range, readBeginning, splitRange } from "./chunk-lines.ts"
import type { FoodReject } from "./food-list.ts"
import { readChunk } from "./keys.ts"

const firstLine = ({ cause }: DuckDbError) =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? ""

/** Whether a record may have caused the error, and not a full disk or a lack of memory. */
export const isRecordError = (error: DuckDbError) =>
  /^(Invalid Input|Conversion|Out of Range) Error: /.test(firstLine(error))

/** DuckDB's message without the name of the chunk, the line in it, and the line number that the cutter added. */
const describeReason = (error: DuckDbError) => {
  const message = firstLine(error)
    .replace(/^[\w ]+ Error: /, "")
    .replace(/^JSON transform error in file ".*", in line \d+: /s, "")
    .replace(/ in file ".*", at byte \d+ in line \d+/s, "")
    .replace(/\{"line":\d+,/, "{")
  return `DuckDB cannot read the record: ${message.slice(0, 300)}`
}

/** Removes the records that DuckDB cannot read from the chunk's file, and returns them as rejects. */
export const removeUnreadableLines = Effect.fnUntraced(function* (db: DuckDb["Service"], file: string) {
  const part = `${file}.part`
  const attempt = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => new FileUnwritable({ file: basename(file), cause }) })
  const opened = yield* Effect.acquireRelease(
    attempt(() => open(file)),
    (opened) => Effect.promise(() => opened.close())
  )
  const good: Array<Range> = []
  const rejects: Array<FoodReject> = []
  const waiting: Array<Range> = [{ from: 0, to: (yield* attempt(() => opened.stat())).size }]
  for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
    const current = range
    yield* attempt(() => copyRanges(file, [current], part))
    const error = yield* db.run(readChunk(part)).pipe(
      Effect.as(undefined),
      Effect.catchTag("DuckDbError", (error) => (isRecordError(error) ? Effect.succeed(error) : Effect.fail(error)))
    )
    if (error === undefined) {
      good.push(current)
      continue
    }
    const split = yield* attempt(() => splitRange(opened, current))
    if (split !== undefined)
      waiting.push(split[1], split[0]) // the first half is popped first
    else rejects.push(makeReject(yield* attempt(() => readBeginning(opened, current)), describeReason(error)))
  }
  yield* attempt(() => copyRanges(file, good, part))
  yield* attempt(() => (rejects.length === 0 ? rm(part) : rename(part, file)))
  return rejects
}, Effect.scoped)
