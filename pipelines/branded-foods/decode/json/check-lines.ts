/**
 * The slow and exact check of a chunk that could not be loaded as a whole, about 60 MB/s in constant memory: strict UTF-8,
 * JSON, the expected shape, and no duplicate keys. Good lines stay in the file, the others are reported.
 */
import { open, rename, rm } from "node:fs/promises"
import { basename } from "node:path"
import { type Effect, Stream } from "effect"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { makeBufferedWriter } from "../buffered-writer.ts"
import { makeReject, readLines } from "./chunk-lines.ts"
import { findDuplicateKey } from "./duplicate-keys.ts"
import type { FoodReject } from "./food-list.ts"
import { findShapeProblem } from "./keys.ts"

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** DuckDB rejects half of a surrogate pair, which JSON.parse accepts. */
const requireWellFormed = (key: string, value: unknown) => {
  if (!key.isWellFormed() || (typeof value === "string" && !value.isWellFormed())) {
    throw new SyntaxError(`half of a surrogate pair in "${key.toWellFormed()}"`)
  }
  return value
}

const findProblem = (bytes: Buffer): string | undefined => {
  let text: string
  try {
    text = strictDecoder.decode(bytes)
  } catch {
    return "the record is not valid UTF-8" // the decoder gives no details
  }
  try {
    const shape = findShapeProblem(
      /\\u[dD][89a-fA-F]/.test(text) ? JSON.parse(text, requireWellFormed) : JSON.parse(text)
    )
    const key = shape === undefined ? findDuplicateKey(text) : undefined
    return key === undefined ? shape : `the record has a duplicate key ${JSON.stringify(key)}`
  } catch (error) {
    // the engine quotes the text around the error, and the payload contains it already
    const reason = error instanceof Error ? error.message.replace(/, (\.\.\.)?".*$/s, "") : String(error)
    return `the record is not JSON: ${reason}`
  }
}

/** Rejects per batch: even a chunk of nothing but rejects is reported in batches. */
const maxRejects = 1000

const newLine = Buffer.from("\n")

async function* checkFile(file: string): AsyncGenerator<ReadonlyArray<FoodReject>, void, undefined> {
  const target = `${file}.good`
  const good = await open(target, "w")
  const writer = makeBufferedWriter(good)
  let rejects: Array<FoodReject> = []
  let areAllGood = true
  try {
    for await (const line of readLines(file)) {
      const reason = findProblem(line)
      if (reason === undefined) {
        await writer.write(line)
        await writer.write(newLine)
      } else {
        areAllGood = false
        rejects.push(makeReject(line, reason))
        if (rejects.length < maxRejects) continue
        yield rejects
        rejects = []
      }
    }
    await writer.flush()
  } finally {
    await good.close()
  }
  if (areAllGood) return await rm(target)
  await rename(target, file)
  yield rejects
}

/** Removes bad lines from the chunk's file, and passes them to `report`. */
export const checkLines = <E, R>(
  file: string,
  report: (rejects: ReadonlyArray<FoodReject>) => Effect.Effect<void, E, R>
) =>
  Stream.fromAsyncIterable(checkFile(file), (cause) => new FileUnwritable({ file: basename(file), cause })).pipe(
    Stream.runForEach(report)
  )
