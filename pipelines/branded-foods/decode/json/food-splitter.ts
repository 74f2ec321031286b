/**
 * Splits the JSON release, which arrives in pieces of any size, into lines `{"line":123,…}` of one record each. Records
 * end at line feeds, which are found at gigabytes per second: a file in another layout is refused.
 */

import { FoodListUnusable, findHead, findTailProblem, maxHeadBytes, maxRejectBytes, otherLayout } from "./food-list.ts"
import { maxRecordBytes as defaultMaxRecordBytes } from "./keys.ts"
import { findRecordEnd, hasTwoRecords, makeLayoutCheck } from "./record-layout.ts"
import { isLineSpace, makeSplitLines } from "./split-lines.ts"

const lineFeed = 0x0a
const comma = 0x2c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const describeProblem = (firstByte: number | undefined) =>
  firstByte === openBrace ? "the record does not end on its line" : "the line does not begin with {"

/** `file` names the release in errors. `push` and `end` throw `FoodListUnusable`. */
export const makeFoodSplitter = (file: string, maxRecordBytes = defaultMaxRecordBytes) => {
  const output = makeSplitLines()
  const layout = makeLayoutCheck()
  let line = 1
  let phase: "head" | "lines" | "tail" = "head"
  let head: Buffer = Buffer.alloc(0)
  let tail = ""
  /** The start of a line whose line feed has not arrived yet. */
  let pending: Array<Buffer> = []
  let pendingBytes = 0

  const fail = (problem: string) => new FoodListUnusable({ file, line, problem })

  const requireLayout = (otherLine: number | undefined) => {
    if (otherLine !== undefined) throw new FoodListUnusable({ file, line: otherLine, ...otherLayout })
  }

  const readTail = (piece: Buffer, from: number) => {
    phase = "tail"
    if (tail.length < maxHeadBytes) tail += piece.toString("utf8", from, Math.min(piece.length, from + maxHeadBytes))
  }

  const readHead = (piece: Buffer, isAtEnd = false) => {
    head = Buffer.concat([head, piece])
    const length = findHead(head.subarray(0, maxHeadBytes), isAtEnd)
    if (typeof length === "string") throw fail(length)
    if (typeof length === "object") throw new FoodListUnusable({ file, line, ...length })
    if (length === undefined) return
    line += head.toString("latin1", 0, length).split("\n").length - 1
    phase = "lines"
    push(head.subarray(length))
    head = Buffer.alloc(0)
  }

  /** Reads a line without a comma at its end: the last record, the end of the list, both, or something broken. */
  const readLastLine = (bytes: Buffer, from: number, to: number) => {
    const end = bytes[from] === openBrace ? findRecordEnd(bytes, from, to) : -1
    let at = end === -1 ? from : end
    while (at < to && (isLineSpace(bytes[at]) || bytes[at] === comma)) at += 1
    const isEndOfList = bytes[at] === closeBracket && at < to
    if (end !== -1 && (isEndOfList || at === to)) output.write(line, bytes, from, end)
    else if (!isEndOfList) {
      requireLayout(hasTwoRecords(bytes, from, to) ? line : undefined)
      const problem = end === -1 ? describeProblem(bytes[from]) : "the record shares its line with something else"
      output.reject(line, problem, bytes.subarray(from, to))
    }
    if (isEndOfList) readTail(bytes.subarray(0, to), at + 1)
  }

  const readLine = (bytes: Buffer, from: number, to: number, lineBytes = to - from) => {
    let first = from
    let last = to - 1
    while (last >= first && isLineSpace(bytes[last])) last -= 1
    while (first <= last && (isLineSpace(bytes[first]) || bytes[first] === comma)) first += 1
    if (first > last) return
    requireLayout(layout.take(line, bytes, first, last + 1))
    if (lineBytes > maxRecordBytes) {
      // a reject stores only the start of it
      return output.reject(line, `the record is longer than ${maxRecordBytes} bytes`, bytes.subarray(first, to))
    }
    if (bytes[last] !== comma) return readLastLine(bytes, first, last + 1)
    while (isLineSpace(bytes[last]) || bytes[last] === comma) last -= 1
    if (bytes[first] === openBrace && bytes[last] === closeBrace) return output.write(line, bytes, first, last + 1)
    output.reject(line, describeProblem(bytes[first]), bytes.subarray(first, last + 1))
  }

  const keepPending = (piece: Buffer, from: number, to: number) => {
    const before = pendingBytes
    pendingBytes += to - from
    const end = pendingBytes <= maxRecordBytes ? to : Math.min(to, from + maxRejectBytes)
    if (pendingBytes <= maxRecordBytes || before < maxRejectBytes) pending.push(Buffer.from(piece.subarray(from, end)))
  }

  const flushPending = () => {
    const bytes = Buffer.concat(pending)
    const lineBytes = pendingBytes
    pending = []
    pendingBytes = 0
    readLine(bytes, 0, bytes.length, lineBytes)
  }

  const readLines = (piece: Buffer, start: number) => {
    let from = start
    while (phase === "lines") {
      const end = piece.indexOf(lineFeed, from)
      if (end === -1) return keepPending(piece, from, piece.length)
      if (pendingBytes > 0) {
        keepPending(piece, from, end)
        flushPending()
      } else readLine(piece, from, end)
      if (phase === "lines") line += 1
      from = end + 1
    }
    readTail(piece, from)
  }

  const push = (piece: Buffer): void => {
    if (phase === "head") readHead(piece)
    else if (phase === "tail") readTail(piece, 0)
    else readLines(piece, 0)
  }

  /** Must be called after the last piece. */
  const end = () => {
    if (phase === "head") readHead(Buffer.alloc(0), true)
    if (pendingBytes > 0) flushPending()
    requireLayout(layout.end())
    if (phase !== "tail") throw fail('it was cut off: the closing "]}" is missing')
    const problem = findTailProblem(tail)
    if (problem !== undefined) throw fail(problem)
  }

  return { output, push, end }
}
