/**
 * The slow and exact check of a chunk that could not be loaded as a whole. Each line is decoded as strict UTF-8,
 * parsed, compared with the expected shapes, and checked for duplicate keys. Good lines stay in the file, the others
 * are reported. About 60 MB/s, in constant memory; a release without bad records, or texts that look like JSON, never
 * comes here.
 */
import { open, rename, rm } from "node:fs/promises"
import { basename } from "node:path"
import { type Effect, Stream } from "effect"
import { FileUnwritable, writeAll } from "../../../run/files/write-all.ts"
import { linesOf, rejectOf } from "./chunk-lines.ts"
import { duplicateKey } from "./duplicate-keys.ts"
import type { FoodReject } from "./food-list.ts"
import { shapeProblem } from "./keys.ts"

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** DuckDB refuses half of a surrogate pair, which JSON.parse accepts. */
const wellFormed = (key: string, value: unknown) => {
  if (!key.isWellFormed() || (typeof value === "string" && !value.isWellFormed())) {
    throw new SyntaxError(`half of a surrogate pair in "${key.toWellFormed()}"`)
  }
  return value
}

const whyBroken = (bytes: Buffer): string | undefined => {
  let text: string
  try {
    text = strict.decode(bytes)
  } catch {
    return "the record is not valid UTF-8" // the decoder gives no details
  }
  try {
    const shape = shapeProblem(/\\u[dD][89a-fA-F]/.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text))
    const key = shape === undefined ? duplicateKey(text) : undefined
    return key === undefined ? shape : `the record has a duplicate key ${JSON.stringify(key)}`
  } catch (error) {
    // the engine quotes the text around the error, and the payload contains it already
    const reason = error instanceof Error ? error.message.replace(/, (\.\.\.)?".*$/s, "") : String(error)
    return `the record is not JSON: ${reason}`
  }
}

const writeBytes = 4 << 20

/** Rejects per batch: a chunk that is all rejects is reported in batches, too. */
const maxRejects = 1000

/** Yields the rejects to report. */
async function* check(file: string): AsyncGenerator<ReadonlyArray<FoodReject>, void, undefined> {
  const target = `${file}.good`
  const good = await open(target, "w")
  let waiting: Array<Buffer> = []
  let bytes = 0
  let rejects: Array<FoodReject> = []
  let areAllGood = true
  const flush = async () => {
    await writeAll(good, Buffer.concat(waiting))
    waiting = []
    bytes = 0
  }
  try {
    for await (const line of linesOf(file)) {
      const reason = whyBroken(line)
      if (reason === undefined) {
        waiting.push(line, Buffer.from("\n"))
        bytes += line.length + 1
        if (bytes >= writeBytes) await flush()
      } else {
        areAllGood = false
        rejects.push(rejectOf(line, reason))
        if (rejects.length < maxRejects) continue
        yield rejects
        rejects = []
      }
    }
    await flush()
  } finally {
    await good.close()
  }
  if (areAllGood) return await rm(target)
  await rename(target, file)
  yield rejects
}

/** Keeps the good lines in the chunk's file, and passes the others to `report`. */
export const checkLines = <E, R>(
  file: string,
  report: (rejects: ReadonlyArray<FoodReject>) => Effect.Effect<void, E, R>
) =>
  Stream.fromAsyncIterable(check(file), (cause) => new FileUnwritable({ file: basename(file), cause })).pipe(
    Stream.runForEach(report)
  )
