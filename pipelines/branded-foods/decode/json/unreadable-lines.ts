/**
 * Finds records that DuckDB cannot read although they are JSON of the expected shape. DuckDB's messages do not identify
 * the line reliably, so it reads the chunk again in small batches, and the lines of a failing batch one by one, some 20
 * ms each: one such record costs some 20 s for a full chunk. No such record is known.
 */
import { appendFile, rename, rm, writeFile } from "node:fs/promises"
import { basename } from "node:path"
import type { DuckDb, DuckDbError } from "@larder/warehouse"
import { Effect, Stream } from "effect"
import { reasonOf } from "../../../run/files/causes.ts"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { makeReject, readLines } from "./chunk-lines.ts"
import type { FoodReject } from "./food-list.ts"
import { readChunk } from "./keys.ts"

/** Lines per batch: usually 200 kB, never more than the chunk. */
const batchLines = 32

const firstLine = ({ cause }: DuckDbError) => reasonOf(cause).split("\n")[0] ?? ""

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

const lineFeed = Buffer.from("\n")
const joinLines = (lines: ReadonlyArray<Buffer>) => Buffer.concat(lines.flatMap((line) => [line, lineFeed]))

/** Removes the records that DuckDB cannot read from the chunk's file, and returns them as rejects. */
export const removeUnreadableLines = Effect.fnUntraced(function* (db: DuckDb["Service"], file: string) {
  const batch = `${file}.batch`
  const target = `${file}.good`
  const failed = (cause: unknown) => new FileUnwritable({ file: basename(file), cause })
  const attempt = (run: () => Promise<void>) => Effect.tryPromise({ try: run, catch: failed })
  const rejects: Array<FoodReject> = []
  const findError = (lines: ReadonlyArray<Buffer>) =>
    attempt(() => writeFile(batch, joinLines(lines))).pipe(
      Effect.andThen(db.run(readChunk(batch))),
      Effect.as(undefined),
      Effect.catchTag("DuckDbError", (error) => (isRecordError(error) ? Effect.succeed(error) : Effect.fail(error)))
    )
  yield* attempt(() => writeFile(target, ""))
  yield* Stream.fromAsyncIterable(readLines(file), failed).pipe(
    Stream.grouped(batchLines),
    Stream.runForEach((lines) =>
      Effect.gen(function* () {
        const isReadable = (yield* findError(lines)) === undefined
        const good: Array<Buffer> = isReadable ? [...lines] : []
        if (!isReadable) {
          for (const line of lines) {
            const error = yield* findError([line])
            if (error === undefined) good.push(line)
            else rejects.push(makeReject(line, describeReason(error)))
          }
        }
        yield* attempt(() => appendFile(target, joinLines(good)))
      })
    )
  )
  yield* attempt(() => rm(batch, { force: true }))
  yield* attempt(() => rename(target, file))
  return rejects
})
