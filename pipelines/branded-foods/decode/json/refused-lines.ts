/**
 * Finds records that DuckDB refuses although each is JSON of the expected shape. DuckDB's messages do not identify the
 * line reliably, so the chunk is bisected: each refused half is split again, down to single lines. One such record
 * costs about twice the time of reading its chunk, in constant memory. No such record is known; many of them would take
 * about 20 ms each.
 */
import { open, rename, rm } from "node:fs/promises"
import { basename } from "node:path"
import type { DuckDb, DuckDbError } from "@larder/warehouse"
import { Effect } from "effect"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { beginningOf, copyRanges, halves, type Range, rejectOf } from "./chunk-lines.ts"
import type { FoodReject } from "./food-list.ts"
import { readChunk } from "./keys.ts"

const firstLine = ({ cause }: DuckDbError) =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n")[0] ?? ""

/** Whether a record may have caused the error. A full disk or a lack of memory is not the fault of a record. */
export const blamesRecord = (error: DuckDbError) =>
  /^(Invalid Input|Conversion|Out of Range) Error: /.test(firstLine(error))

/** DuckDB's message without the name of the chunk, the line in it, and the number that we put before the record. */
const reasonOf = (error: DuckDbError) => {
  const words = firstLine(error)
    .replace(/^[\w ]+ Error: /, "")
    .replace(/^JSON transform error in file ".*", in line \d+: /s, "")
    .replace(/ in file ".*", at byte \d+ in line \d+/s, "")
    .replace(/\{"line":\d+,/, "{")
  return `DuckDB cannot read the record: ${words.slice(0, 300)}`
}

/** Removes the records that DuckDB refuses from the chunk's file, and returns them. */
export const takeRefused = Effect.fnUntraced(function* (db: DuckDb["Service"], file: string) {
  const part = `${file}.part`
  const attempt = <A>(run: () => Promise<A>) =>
    Effect.tryPromise({ try: run, catch: (cause) => new FileUnwritable({ file: basename(file), cause }) })
  const opened = yield* Effect.acquireRelease(
    attempt(() => open(file)),
    (opened) => Effect.promise(() => opened.close())
  )
  const good: Array<Range> = []
  const refused: Array<FoodReject> = []
  const waiting: Array<Range> = [{ from: 0, to: (yield* attempt(() => opened.stat())).size }]
  for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
    const here = range
    yield* attempt(() => copyRanges(file, [here], part))
    const error = yield* db.run(readChunk(part)).pipe(
      Effect.as(undefined),
      Effect.catchTag("DuckDbError", (error) => (blamesRecord(error) ? Effect.succeed(error) : Effect.fail(error)))
    )
    if (error === undefined) {
      good.push(here)
      continue
    }
    const split = yield* attempt(() => halves(opened, here))
    if (split !== undefined)
      waiting.push(split[1], split[0]) // the first half is popped first
    else refused.push(rejectOf(yield* attempt(() => beginningOf(opened, here)), reasonOf(error)))
  }
  yield* attempt(() => copyRanges(file, good, part))
  yield* attempt(() => (refused.length === 0 ? rm(part) : rename(part, file)))
  return refused
}, Effect.scoped)
