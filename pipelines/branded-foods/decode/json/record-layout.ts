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

/**
 * Takes the lines after the head that are not blank, and returns false once it sees another layout: a second record on
 * the first line, or a first line that ends in a record which the second line continues. A truncated first record is
 * not mistaken for that, since the next record follows it.
 */
export const makeLayoutCheck = () => {
  let state: "first line" | "in a record" | "known" = "first line"
  return (bytes: Buffer, from: number, to: number): boolean => {
    if (state === "known") return true
    const isContinued = state === "in a record" && bytes[from] !== openBrace && bytes[from] !== closeBracket
    const isFirst = state === "first line"
    state = "known"
    if (!isFirst || bytes[from] !== openBrace) return !isContinued
    let at = findRecordEnd(bytes, from, to)
    if (at === -1) {
      state = "in a record"
      return true
    }
    while (at < to && (isLineSpace(bytes[at]) || bytes[at] === comma)) at += 1
    return at === to || bytes[at] !== openBrace
  }
}
