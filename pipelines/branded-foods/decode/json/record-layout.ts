/** Whether a file has one record per line, as USDA publishes it. Its first lines tell. */
import { isLineSpace } from "./split-lines.ts"

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** The position after the closing brace of the record that begins at `from`; -1 if it does not end. */
export const findRecordEnd = (bytes: Buffer, from: number, to: number) => {
  let depth = 0
  let isInString = false
  for (let at = from; at < to; at++) {
    const byte = bytes[at]
    if (isInString) {
      if (byte === backslash) at += 1
      else if (byte === quote) isInString = false
    } else if (byte === quote) isInString = true
    else if (byte === openBrace) depth += 1
    else if (byte === closeBrace) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}

const parseRecord = (bytes: Buffer, from: number, to: number): unknown => {
  try {
    return JSON.parse(bytes.toString("utf8", from, to))
  } catch {
    return undefined
  }
}

/** Whether a line begins with a complete record and then has another one. A broken record only looks like two. */
export const hasTwoRecords = (bytes: Buffer, from: number, to: number) => {
  const end = bytes[from] === openBrace ? findRecordEnd(bytes, from, to) : -1
  let at = end
  while (at !== -1 && at < to && (isLineSpace(bytes[at]) || bytes[at] === comma)) at += 1
  return at !== -1 && at < to && bytes[at] === openBrace && parseRecord(bytes, from, end) !== undefined
}

const isFood = (value: unknown) => typeof value === "object" && value !== null && "fdcId" in value

/** Some of them may be broken. An indented food has more lines. */
const decidingLines = 10

/**
 * Decides over the first lines after the head that are not blank. In another layout, a record continues on the next line,
 * and no line is a complete food. A release with a broken record in one of these lines has a complete food in another.
 */
export const makeLayoutCheck = () => {
  let lines = 0
  let isInRecord = false
  let isDecided = false
  let continued: number | undefined

  /** Takes a line. Returns the number of the first line that shows another layout, once that is certain. */
  const take = (line: number, bytes: Buffer, from: number, to: number) => {
    if (isDecided) return undefined
    if (hasTwoRecords(bytes, from, to)) return line
    const end = bytes[from] === openBrace ? findRecordEnd(bytes, from, to) : -1
    if (end !== -1 && isFood(parseRecord(bytes, from, end))) {
      isDecided = true
      return undefined
    }
    if (isInRecord && bytes[from] !== openBrace && bytes[from] !== closeBracket) continued ??= line
    isInRecord = bytes[from] === openBrace && end === -1
    lines += 1
    if (lines === decidingLines) isDecided = true
    return isDecided ? continued : undefined
  }

  /** For a file with fewer lines. */
  const end = () => (isDecided ? undefined : continued)

  return { take, end }
}
