/**
 * The slow and exact check of a CSV file: of a label file that DuckDB refused or for which the counts differ, and of
 * every dictionary. Good records go into a new file, with LF as line end. The others go into a list with their line,
 * the problem, and their beginning. After a broken record the check continues with the next line of the file, so that
 * an open quote costs one line and not the rest. About 200 MB/s.
 */
import { isUtf8 } from "node:buffer"
import { type FileHandle, open } from "node:fs/promises"
import { basename } from "node:path"
import { Effect } from "effect"
import { FileUnwritable, writeAll } from "../../../run/files/write-all.ts"
import { maxRowBytes } from "./header.ts"

const lineFeed = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const comma = 0x2c

/** The payload of a longer record is truncated to this; the raw archive keeps it whole. */
const maxPayloadBytes = 100_000
const pieceBytes = 4 << 20

export interface Filtered {
  /** Good records, without the header. */
  readonly records: number
  /** The others, without blank lines. */
  readonly broken: number
  /** The record in which the file was truncated: its quotes are open at the end, or the last record is incomplete. */
  readonly cut: CutRecord | undefined
}

export interface CutRecord {
  /** The header is record 1. */
  readonly record: number
  readonly problem: string
}

/** `last` is before the line end of the record, `end` after it; for a broken record, of its first line. */
interface Scanned {
  readonly last: number
  readonly end: number
  readonly problem: string | undefined
  /** Set if the rest of the record may be missing: quotes are open at the end of the file, or it has too few fields. */
  readonly lacks?: "quotes" | "fields"
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

/** The first line from `from` on, as a broken record; undefined if its end has not been read yet. */
const brokenLine = (
  bytes: Buffer,
  from: number,
  isAll: boolean,
  problem: string,
  lacks?: Scanned["lacks"]
): Scanned | undefined => {
  const found = bytes.indexOf(lineFeed, from)
  if (found === -1 && !isAll) return undefined
  const last = found === -1 ? bytes.length : found
  return { last, end: found === -1 ? last : found + 1, problem, ...(lacks && { lacks }) }
}

/** The record at `from`; undefined if more bytes are needed. */
const scanRecord = (bytes: Buffer, from: number, isAll: boolean, columns: number): Scanned | undefined => {
  const refuse = (problem: string) => brokenLine(bytes, from, isAll, problem)
  let fields = 1
  for (let at = from; ; at++, fields++) {
    const isQuoted = bytes[at] === quote
    at = isQuoted ? endOfQuoted(bytes, at) : endOfUnquoted(bytes, at)
    if (at === -1 || (at === bytes.length && !isAll)) {
      return isAll
        ? brokenLine(bytes, from, isAll, `the quotes of field ${fields} are not closed`, "quotes")
        : undefined
    }
    const byte = bytes[at]
    if (byte === comma) continue
    const isReturn = byte === carriageReturn && (bytes[at + 1] === lineFeed || at + 1 === bytes.length)
    if (isReturn && at + 1 === bytes.length && !isAll) return undefined
    if (at < bytes.length && byte !== lineFeed && !isReturn) {
      if (byte === carriageReturn) return refuse(`a carriage return is in field ${fields}, which has no quotes`)
      return refuse(isQuoted ? `text follows the quotes of field ${fields}` : `a quote is inside field ${fields}`)
    }
    // A release quotes empty fields, too, so its records cannot end with a comma. A record that begins without a quote
    // was saved by another tool, and can.
    if (at === bytes.length && bytes[at - 1] === comma && bytes[from] === quote) {
      return { last: at, end: at, problem: "nothing follows its last comma", lacks: "fields" }
    }
    const end = Math.min(bytes.length, at + (isReturn ? 2 : 1))
    if (fields === columns) return { last: at, end, problem: undefined }
    const problem = `it has ${fields} instead of ${columns} fields`
    return { last: at, end, problem, ...(fields < columns && { lacks: "fields" }) }
  }
}

/** Both files are written in large pieces. */
const writerOf = (file: FileHandle) => {
  let waiting: Array<Buffer> = []
  let bytes = 0
  const flush = async () => {
    const all = Buffer.concat(waiting)
    waiting = []
    bytes = 0
    await writeAll(file, all)
  }
  return {
    /** Keeps a copy of the bytes until they are written. */
    write: async (piece: Buffer) => {
      waiting.push(Buffer.from(piece))
      bytes += piece.length
      if (bytes > pieceBytes) await flush()
    },
    flush
  }
}
const newLine = Buffer.from("\n")

const filterInto = async (path: string, columns: number, good: FileHandle, bad: FileHandle, signal: AbortSignal) => {
  const records = writerOf(good)
  const rejects = writerOf(bad)
  let line = 1
  let kept = 0
  let broken = 0
  let cut: CutRecord | undefined
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
  const take = async (bytes: Buffer, isAll: boolean) => {
    const isText = isUtf8(bytes.subarray(0, isAll ? bytes.length : bytes.lastIndexOf(lineFeed) + 1))
    let at = 0
    /** The start of consecutive good records, which are written together. */
    let run = 0
    const endRun = () => records.write(bytes.subarray(run, at))
    while (at < bytes.length) {
      if (isSkipping) {
        const found = bytes.indexOf(lineFeed, at)
        isSkipping = found === -1
        at = run = found === -1 ? bytes.length : found + 1
        continue
      }
      const first = bytes[at]
      const isBlank = first === lineFeed || (first === carriageReturn && bytes[at + 1] === lineFeed)
      let scanned = isBlank
        ? { last: at, end: at + (first === lineFeed ? 1 : 2), problem: "blank" }
        : scanRecord(bytes, at, isAll, columns)
      const length = (scanned?.end ?? bytes.length) - at
      if (length > maxRowBytes) {
        scanned = brokenLine(bytes, at, true, tooLong)
        isSkipping = scanned !== undefined && bytes[scanned.end - 1] !== lineFeed
      }
      if (scanned === undefined) break
      const { end, lacks, last } = scanned
      const content = bytes.subarray(at, last)
      const problem = scanned.problem ?? (isText || isUtf8(content) ? undefined : "it is not valid UTF-8")
      line += 1
      if (problem !== "blank" && !hasOpenQuotes) {
        // If no record was complete, the header has more columns than the file, which is another fault.
        const isTorn = lacks === "quotes" || end === last || (lacks === "fields" && kept > 0)
        cut = problem !== undefined && isTorn ? { record: line, problem } : undefined
        hasOpenQuotes = lacks === "quotes" // the next lines may be the rest of that field
      }
      if (problem === undefined) {
        kept += 1
        if (end - last !== 1 || bytes[last] !== lineFeed) {
          await endRun()
          await records.write(content)
          await records.write(newLine)
          run = end
        }
      } else {
        await endRun()
        if (problem === "blank") await rejects.write(Buffer.from(`{"line":${line}}\n`))
        else {
          broken += 1
          await reject(problem, content)
        }
        run = end
      }
      at = end
    }
    await endRun()
    return at
  }

  const source = await open(path)
  try {
    let held = Buffer.alloc(0)
    let isHeader = true
    for (let isAll = false; !isAll; ) {
      signal.throwIfAborted()
      const piece = Buffer.allocUnsafe(pieceBytes)
      const { bytesRead } = await source.read(piece, 0, pieceBytes)
      isAll = bytesRead === 0
      held = Buffer.concat([held, piece.subarray(0, bytesRead)])
      if (isHeader) {
        const end = held.indexOf(lineFeed)
        if (end === -1 && !isAll) continue
        const header = held.subarray(0, end === -1 ? held.length : end).toString("utf8")
        await records.write(Buffer.from(`${header.replace(/^\uFEFF/, "").trimEnd()}\n`))
        held = held.subarray(end === -1 ? held.length : end + 1)
        isHeader = false
      }
      held = held.subarray(await take(held, isAll))
    }
  } finally {
    await source.close()
  }
  await records.flush()
  await rejects.flush()
  return { records: kept, broken, cut } satisfies Filtered as Filtered
}

/**
 * Writes good records to `good`, a CSV file, and the others to `bad`: newline-delimited JSON of `line`, `reason` and
 * `payload`. Lines count records, and the header is line 1. A blank line has no reason and no payload: it only counts
 * as a line.
 */
export const filterRecords = (path: string, columns: number, good: string, bad: string) =>
  Effect.tryPromise({
    try: async (signal): Promise<Filtered> => {
      const files = await Promise.all([open(good, "wx"), open(bad, "wx")])
      try {
        return await filterInto(path, columns, files[0], files[1], signal)
      } finally {
        await Promise.all(files.map((file) => file.close()))
      }
    },
    catch: (cause) => new FileUnwritable({ file: basename(good), cause })
  })
