/**
 * The slow and exact check of a CSV file, about 200 MB/s: of dictionaries, and of label files that DuckDB cannot read or
 * whose counts differ. After a broken record it continues with the next line, so an open quote costs only one line.
 */
import { isUtf8 } from "node:buffer"
import { type FileHandle, open } from "node:fs/promises"
import { basename } from "node:path"
import { Effect } from "effect"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { makeBufferedWriter } from "../buffered-writer.ts"
import { maxRowBytes } from "./header.ts"

const lineFeed = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const comma = 0x2c
const blank = 0x20

/** The payload of a longer record is truncated; the raw archive has the complete record. */
const maxPayloadBytes = 100_000
const pieceBytes = 4 << 20

/** `contentEnd` is the position of the line break, `end` the one after it. A broken record ends with its first line. */
interface ScannedRecord {
  readonly contentEnd: number
  readonly end: number
  readonly problem: string | undefined
  /** Set if the rest of the record may be missing: quotes are open at the end of the file, or it has too few fields. */
  readonly missing?: "quotes" | "fields"
}

/** The position after the quoted field that begins at `from`; -1 if it is not closed. */
const endOfQuoted = (bytes: Buffer, from: number) => {
  let at = from + 1
  for (; at < bytes.length; at++) {
    if (bytes[at] !== quote) continue
    if (bytes[at + 1] !== quote) return at + 1
    at += 1
  }
  return -1
}

const endOfUnquoted = (bytes: Buffer, from: number) => {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === comma || byte === lineFeed || byte === carriageReturn || byte === quote) return at
    at += 1
  }
  return at
}

/** The line at `from`, as a broken record; undefined if its end has not been read. `isAtEnd`: no bytes follow. */
const scanBrokenLine = (
  bytes: Buffer,
  from: number,
  isAtEnd: boolean,
  problem: string,
  missing?: ScannedRecord["missing"]
): ScannedRecord | undefined => {
  const lineEnd = bytes.indexOf(lineFeed, from)
  if (lineEnd === -1 && !isAtEnd) return undefined
  const contentEnd = lineEnd === -1 ? bytes.length : lineEnd
  return { contentEnd, end: lineEnd === -1 ? contentEnd : lineEnd + 1, problem, ...(missing && { missing }) }
}

/** The columns of a file: how many, and whether a record may end with a comma because the last one is not read. */
export interface Columns {
  readonly count: number
  readonly isLastIgnored?: boolean
}

/** The record at `from`; undefined if more bytes are needed. */
const scanRecord = (bytes: Buffer, from: number, isAtEnd: boolean, columns: Columns): ScannedRecord | undefined => {
  const rejectLine = (problem: string) => scanBrokenLine(bytes, from, isAtEnd, problem)
  let fields = 1
  for (let at = from; ; at++, fields++) {
    const isQuoted = bytes[at] === quote
    at = isQuoted ? endOfQuoted(bytes, at) : endOfUnquoted(bytes, at)
    if (at === -1 || (at === bytes.length && !isAtEnd)) {
      return isAtEnd
        ? scanBrokenLine(bytes, from, isAtEnd, `the quotes of field ${fields} are not closed`, "quotes")
        : undefined
    }
    const byte = bytes[at]
    if (byte === comma) continue
    const isReturn = byte === carriageReturn && (bytes[at + 1] === lineFeed || at + 1 === bytes.length)
    if (isReturn && at + 1 === bytes.length && !isAtEnd) return undefined
    if (at < bytes.length && byte !== lineFeed && !isReturn) {
      if (byte === carriageReturn) return rejectLine(`a carriage return is in field ${fields}, which has no quotes`)
      return rejectLine(isQuoted ? `text follows the quotes of field ${fields}` : `a quote is inside field ${fields}`)
    }
    const isComplete = fields === columns.count
    const endsWithComma = at > from && bytes[at - 1] === comma
    // A release quotes even empty fields, so none of its records ends with a comma. A record that begins without a quote
    // was saved by another tool, and may end with a comma.
    if (at === bytes.length && endsWithComma && bytes[from] === quote && !(isComplete && columns.isLastIgnored)) {
      return { contentEnd: at, end: at, problem: "nothing follows its last comma", missing: "fields" }
    }
    const end = Math.min(bytes.length, at + (isReturn ? 2 : 1))
    if (isComplete) return { contentEnd: at, end, problem: undefined }
    const trailing = endsWithComma && fields === columns.count + 1 ? ", because it ends with a comma" : ""
    const problem = `it has ${fields} instead of ${columns.count} fields${trailing}`
    return { contentEnd: at, end, problem, ...(fields < columns.count && { missing: "fields" }) }
  }
}

const newLine = Buffer.from("\n")

/** A NUL is in no text of a release, and none is published: it becomes a blank. */
const blankNuls = (bytes: Buffer) => {
  for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) bytes[at] = blank
  return bytes
}

const filterInto = async (path: string, columns: Columns, good: FileHandle, bad: FileHandle, signal: AbortSignal) => {
  const records = makeBufferedWriter(good)
  const rejects = makeBufferedWriter(bad)
  let line = 1
  let goodRecords = 0
  let broken = 0
  let truncated: { readonly record: number; readonly problem: string } | undefined
  let hasOpenQuotes = false
  const reject = (reason: string, bytes: Buffer) =>
    rejects.write(
      Buffer.from(
        `${JSON.stringify({ line, reason, payload: bytes.toString("utf8", 0, maxPayloadBytes).toWellFormed() })}\n`
      )
    )
  /** True while the rest of an oversized line is skipped. */
  let isSkipping = false
  const tooLong = `it is longer than ${maxRowBytes} bytes, or its quotes are not closed`

  /** Processes complete records, and returns the number of their bytes. */
  const processRecords = async (bytes: Buffer, isAtEnd: boolean) => {
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
      const first = bytes[at]
      const isBlank = first === lineFeed || (first === carriageReturn && bytes[at + 1] === lineFeed)
      let scanned = isBlank
        ? { contentEnd: at, end: at + (first === lineFeed ? 1 : 2), problem: "blank" }
        : scanRecord(bytes, at, isAtEnd, columns)
      const length = (scanned?.end ?? bytes.length) - at
      if (length > maxRowBytes) {
        scanned = scanBrokenLine(bytes, at, true, tooLong)
        isSkipping = scanned !== undefined && bytes[scanned.end - 1] !== lineFeed
      }
      if (scanned === undefined) break
      const { contentEnd, end, missing } = scanned
      const content = bytes.subarray(at, contentEnd)
      const problem = scanned.problem ?? (areLinesUtf8 || isUtf8(content) ? undefined : "it is not valid UTF-8")
      line += 1
      if (problem !== "blank" && !hasOpenQuotes) {
        // If no record is complete, all have fewer fields than the header, which is not a truncation.
        const mayBeTruncated = missing === "quotes" || end === contentEnd || (missing === "fields" && goodRecords > 0)
        truncated = problem !== undefined && mayBeTruncated ? { record: line, problem } : undefined
        hasOpenQuotes = missing === "quotes" // the next lines may be the rest of that field
      }
      if (problem === undefined) {
        goodRecords += 1
        if (end - contentEnd !== 1 || bytes[contentEnd] !== lineFeed) {
          await writeGood()
          await records.write(content)
          await records.write(newLine)
          goodStart = end
        }
      } else {
        await writeGood()
        if (problem === "blank") await rejects.write(Buffer.from(`{"line":${line}}\n`))
        else {
          broken += 1
          await reject(problem, content)
        }
        goodStart = end
      }
      at = end
    }
    await writeGood()
    return at
  }

  const source = await open(path)
  try {
    let pending = Buffer.alloc(0)
    let isHeader = true
    for (let isAtEnd = false; !isAtEnd; ) {
      signal.throwIfAborted()
      const piece = Buffer.allocUnsafe(pieceBytes)
      const { bytesRead } = await source.read(piece, 0, pieceBytes)
      isAtEnd = bytesRead === 0
      pending = Buffer.concat([pending, blankNuls(piece.subarray(0, bytesRead))])
      if (isHeader) {
        const end = pending.indexOf(lineFeed)
        if (end === -1 && !isAtEnd) continue
        const header = pending.subarray(0, end === -1 ? pending.length : end).toString("utf8")
        await records.write(Buffer.from(`${header.replace(/^\uFEFF/, "").trimEnd()}\n`))
        pending = pending.subarray(end === -1 ? pending.length : end + 1)
        isHeader = false
      }
      pending = pending.subarray(await processRecords(pending, isAtEnd))
    }
  } finally {
    await source.close()
  }
  await records.flush()
  await rejects.flush()
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
