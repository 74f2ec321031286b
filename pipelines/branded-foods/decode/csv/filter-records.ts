/**
 * The slow and exact check of a CSV file, about 200 MB/s: of dictionaries, and of label files that DuckDB cannot read or
 * whose counts differ. After a broken record it continues with the next line, so an open quote costs only one line.
 */
import { isUtf8 } from "node:buffer"
import { type FileHandle, open } from "node:fs/promises"
import { basename } from "node:path"
import { Effect } from "effect"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { type BufferedWriter, makeBufferedWriter } from "../buffered-writer.ts"
import { type Columns, endOfBlankLine, lineFeed, type ScannedRecord, scanWithLimit, tooLong } from "./scan-record.ts"

const blank = 0x20

/** The payload of a longer record is truncated; the raw archive has the complete record. */
const maxPayloadBytes = 100_000
const pieceBytes = 4 << 20

/** Counts records, and finds the one where the file was truncated. */
class RecordCounter {
  /** Of the last record or blank line. The header is line 1. */
  line = 1
  good = 0
  broken = 0
  truncated: { readonly record: number; readonly problem: string } | undefined
  #hasOpenQuotes = false

  add({ contentEnd, end, missing }: ScannedRecord, problem: string | undefined) {
    this.line += 1
    if (problem === undefined) this.good += 1
    else this.broken += 1
    if (this.#hasOpenQuotes) return // this line may be the rest of that field
    // If no record is complete, all have fewer fields than the header, which is not a truncation.
    const mayBeTruncated = missing === "quotes" || end === contentEnd || (missing === "fields" && this.good > 0)
    this.truncated = problem !== undefined && mayBeTruncated ? { record: this.line, problem } : undefined
    this.#hasOpenQuotes = missing === "quotes"
  }
}

const newLine = Buffer.from("\n")

/** Separates the records of a file. The returned function processes those that are complete, and returns how many bytes. */
const makeSeparator = (columns: Columns, counter: RecordCounter, records: BufferedWriter, rejects: BufferedWriter) => {
  /** True while the rest of an oversized line is skipped. */
  let isSkipping = false
  const reject = (reject: object) => rejects.write(Buffer.from(`${JSON.stringify(reject)}\n`))

  return async (bytes: Buffer, isAtEnd: boolean) => {
    const areLinesUtf8 = isUtf8(bytes.subarray(0, isAtEnd ? bytes.length : bytes.lastIndexOf(lineFeed) + 1))
    let at = 0
    /** The start of consecutive good records, which are written together. */
    let goodStart = 0
    const writeGood = () => records.write(bytes.subarray(goodStart, at))
    while (at < bytes.length) {
      if (isSkipping) {
        const lineEnd = bytes.indexOf(lineFeed, at)
        isSkipping = lineEnd === -1
        at = goodStart = lineEnd === -1 ? bytes.length : lineEnd + 1
        continue
      }
      const blankEnd = endOfBlankLine(bytes, at)
      if (blankEnd !== undefined) {
        await writeGood()
        counter.line += 1
        await reject({ line: counter.line })
        at = goodStart = blankEnd
        continue
      }
      const scanned = scanWithLimit(bytes, at, isAtEnd, columns)
      if (scanned === undefined) break
      const { contentEnd, end } = scanned
      isSkipping = scanned.problem === tooLong && bytes[end - 1] !== lineFeed
      const content = bytes.subarray(at, contentEnd)
      const problem = scanned.problem ?? (areLinesUtf8 || isUtf8(content) ? undefined : "it is not valid UTF-8")
      counter.add(scanned, problem)
      if (problem !== undefined) {
        await writeGood()
        const payload = content.toString("utf8", 0, maxPayloadBytes).toWellFormed()
        await reject({ line: counter.line, reason: problem, payload })
        goodStart = end
      } else if (end - contentEnd !== 1 || bytes[contentEnd] !== lineFeed) {
        await writeGood()
        await records.write(content)
        await records.write(newLine)
        goodStart = end
      }
      at = end
    }
    await writeGood()
    return at
  }
}

/** A NUL is in no text of a release, and none is published: it becomes a blank. */
const blankNuls = (bytes: Buffer) => {
  for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) bytes[at] = blank
  return bytes
}

/** Passes a file to `take`, piece by piece, each with the bytes that `take` has left. It returns how many it has used. */
const passPieces = async (
  path: string,
  signal: AbortSignal,
  take: (bytes: Buffer, isAtEnd: boolean) => Promise<number>
) => {
  const source = await open(path)
  try {
    const piece = Buffer.allocUnsafe(pieceBytes)
    let pending = Buffer.alloc(0)
    for (let isAtEnd = false; !isAtEnd; ) {
      signal.throwIfAborted()
      const { bytesRead } = await source.read(piece, 0, pieceBytes)
      isAtEnd = bytesRead === 0
      pending = Buffer.concat([pending, blankNuls(piece.subarray(0, bytesRead))])
      pending = pending.subarray(await take(pending, isAtEnd))
    }
  } finally {
    await source.close()
  }
}

const filterInto = async (path: string, columns: Columns, good: FileHandle, bad: FileHandle, signal: AbortSignal) => {
  const records = makeBufferedWriter(good)
  const rejects = makeBufferedWriter(bad)
  const counter = new RecordCounter()
  const separate = makeSeparator(columns, counter, records, rejects)
  let isHeader = true
  await passPieces(path, signal, async (bytes, isAtEnd) => {
    if (!isHeader) return separate(bytes, isAtEnd)
    const lineEnd = bytes.indexOf(lineFeed)
    if (lineEnd === -1 && !isAtEnd) return 0
    const header = bytes.subarray(0, lineEnd === -1 ? bytes.length : lineEnd).toString("utf8")
    await records.write(Buffer.from(`${header.replace(/^\uFEFF/, "").trimEnd()}\n`))
    isHeader = false
    const start = lineEnd === -1 ? bytes.length : lineEnd + 1
    return start + (await separate(bytes.subarray(start), isAtEnd))
  })
  await records.flush()
  await rejects.flush()
  const { broken, good: goodRecords, truncated } = counter
  return { records: goodRecords, broken, truncated }
}

/**
 * Writes good records to `good`, a CSV file with LF line ends and without NULs, and the others to `bad`, as
 * newline-delimited JSON of `line`, `reason` and `payload` (blank lines: only `line`). The header is line 1. Returns
 * the number of good and broken records, and the incomplete record where the file was truncated.
 */
export const filterRecords = (path: string, columns: Columns, good: string, bad: string) =>
  Effect.tryPromise({
    try: async (signal) => {
      const files = await Promise.all([open(good, "wx"), open(bad, "wx")])
      try {
        return await filterInto(path, columns, files[0], files[1], signal)
      } finally {
        await Promise.all(files.map((file) => file.close()))
      }
    },
    catch: (cause) => new FileUnwritable({ file: basename(good), cause })
  })
