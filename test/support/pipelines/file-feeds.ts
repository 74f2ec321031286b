/** Feed files for tests: made from text, read in pieces, and read to their end. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import type { Batch, ReadFile } from "@larder/pipelines/storefronts/decode/feed.ts"
import { FeedUnreadable } from "@larder/pipelines/storefronts/decode/feed-errors.ts"
import fc from "fast-check"

export async function* yieldAll<A>(...parts: ReadonlyArray<A>): AsyncGenerator<A> {
  yield* parts
}

export const bytesOf = (text: string): Uint8Array => Buffer.from(text)

/** All entries before the end, and the problem that ended the feed, or null. */
export const collectUntilFault = async <A>(parts: AsyncIterable<ReadonlyArray<A>>) => {
  const found: Array<A> = []
  try {
    for await (const part of parts) found.push(...part)
  } catch (cause) {
    if (!(cause instanceof FeedUnreadable)) throw cause
    return { found, problem: cause.problem }
  }
  return { found, problem: null }
}

async function* wrapEach(batches: AsyncIterable<Batch>) {
  for await (const batch of batches) yield [batch]
}

/** The rows of a payload: all of its batches in one. */
export const readWhole = async (read: ReadFile, payload: string | Uint8Array, currency: string | null = null) => {
  const bytes = typeof payload === "string" ? bytesOf(payload) : payload
  const { found, problem } = await collectUntilFault(wrapEach(read(() => yieldAll(bytes), { currency })))
  return {
    rows: found.flatMap(({ rows }) => rows),
    products: found.flatMap(({ products }) => products),
    variants: found.flatMap(({ variants }) => variants),
    images: found.flatMap(({ images }) => images),
    rejects: found.flatMap(({ rejects }) => rejects),
    odd_values: found.flatMap(({ odd_values }) => odd_values),
    problem
  }
}

/** A text that is split in random places, down to single characters. */
export const splitAtRandom = (text: string) =>
  fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 60 }).map((places) => {
    const ends = [...places.sort((a, b) => a - b), text.length]
    return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
  })

/** A file of this many megabytes: a beginning, rows, and an end, in pieces of the size that a disk or a network returns. */
export async function* manyRows(megabytes: number, begin: string, row: (number: number) => string, end: string) {
  let piece = begin
  let written = 0
  for (let number = 1; written < megabytes * 1_000_000; number++) {
    piece += row(number)
    if (piece.length < 60_000) continue
    const bytes = bytesOf(piece)
    written += bytes.length
    piece = ""
    yield bytes
  }
  yield bytesOf(piece + end)
}

setFlagsFromString("--expose-gc")
const collectGarbage: () => void = runInNewContext("gc")

/** The maximum growth of the heap in megabytes, without garbage, and the number of rows read. */
export const readMeasured = async (batches: AsyncIterable<Batch>) => {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  let highest = before
  let rows = 0
  let number = 0
  for await (const batch of batches) {
    rows += batch.rows.length
    if (number++ % 20 !== 0) continue
    collectGarbage()
    highest = Math.max(highest, process.memoryUsage().heapUsed)
  }
  return { rows, growth: (highest - before) / 1_000_000 }
}

/** How much of a file is read for its first batch, and whether the file is closed after that. */
export const readOneBatch = async (read: ReadFile, file: AsyncIterable<Uint8Array>) => {
  let pulled = 0
  let isClosed = false
  async function* counted() {
    try {
      for await (const piece of file) {
        pulled++
        yield piece
      }
    } finally {
      isClosed = true
    }
  }
  let rows = 0
  for await (const batch of read(counted, { currency: null })) {
    rows = batch.rows.length
    break
  }
  return { rows, pulled, isClosed }
}
