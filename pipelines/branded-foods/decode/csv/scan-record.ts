/** Finds the end of one record of a CSV file, and what is wrong with it. */
import { maxRowBytes } from "./header.ts"

export const lineFeed = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const comma = 0x2c

/** `contentEnd` is the position of the line break, `end` the one after it. A broken record ends with its first line. */
export interface ScannedRecord {
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

export const tooLong = `it is longer than ${maxRowBytes} bytes, or its quotes are not closed`

/** The record at `from`; of an oversized one only its first line, as far as it has been read. */
export const scanWithLimit = (bytes: Buffer, from: number, isAtEnd: boolean, columns: Columns) => {
  const scanned = scanRecord(bytes, from, isAtEnd, columns)
  const length = (scanned?.end ?? bytes.length) - from
  return length > maxRowBytes ? scanBrokenLine(bytes, from, true, tooLong) : scanned
}

/** The position after the blank line at `from`; undefined if the line is not blank. */
export const endOfBlankLine = (bytes: Buffer, from: number) => {
  if (bytes[from] === lineFeed) return from + 1
  return bytes[from] === carriageReturn && bytes[from + 1] === lineFeed ? from + 2 : undefined
}
