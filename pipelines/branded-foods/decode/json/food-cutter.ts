/**
 * Cuts the JSON release into lines `{"line":123,…}`, one record each, without the comma between them. The input comes
 * in pieces of any size. The release has one record per line, and line feeds are found at gigabytes per second. The
 * first record shows whether it does: until a record is alone on its line, braces are counted, as in a pretty-printed
 * file or one that is all in one line.
 */
import { isBlank, makeCutLines } from "./cut-lines.ts"
import { FoodListUnusable, headOf, longestHead, payloadBytes, tailProblem } from "./food-list.ts"
import { endOfRecord, makeScanner } from "./scan-records.ts"

/** A longer record is not kept in memory. Real ones have 7 kB, and the longest of all less than 1 MB. */
export const longestRecord = 16 * 1024 * 1024

const lineFeed = 0x0a
const comma = 0x2c
const listEnd = 0x5d
const open = 0x7b
const close = 0x7d

const whyNot = (byte: number | undefined) =>
  byte === open ? "the record does not end on its line" : "the line does not begin with {"

/** `file` names the release in errors. `push` and `end` throw `FoodListUnusable`. */
export const makeCutter = (file: string, longest = longestRecord) => {
  const cut = makeCutLines()
  const place = { line: 1 }
  const scan = makeScanner(cut, place, longest)
  let phase: "head" | "records" | "lines" | "tail" = "head"
  let head: Buffer = Buffer.alloc(0)
  let tail = ""
  /** The part of a line that was read so far; its line feed comes with a later piece. */
  let carried: Array<Buffer> = []
  let carriedBytes = 0

  const fail = (problem: string) => new FoodListUnusable({ file, line: place.line, problem })

  const takeTail = (piece: Buffer, from: number) => {
    phase = "tail"
    if (tail.length < longestHead) tail += piece.toString("utf8", from, Math.min(piece.length, from + longestHead))
  }

  const takeHead = (piece: Buffer, isAll = false) => {
    head = Buffer.concat([head, piece])
    const found = headOf(head.subarray(0, longestHead), isAll)
    if (typeof found === "string") throw fail(found)
    if (found === undefined) return
    for (let at = head.indexOf(lineFeed); at !== -1 && at < found; at = head.indexOf(lineFeed, at + 1)) place.line += 1
    phase = "records"
    push(head.subarray(found))
    head = Buffer.alloc(0)
  }

  const write = (bytes: Buffer, from: number, to: number) => {
    cut.begin(place.line)
    cut.append(bytes, from + 1, to)
    cut.finish()
  }

  /**
   * Processes a line without a comma at its end: the last record, the end of the list, both, or something broken. If
   * the end of the list shares its line with a broken record, the list counts as truncated: it looks the same.
   */
  const takeLast = (bytes: Buffer, from: number, to: number) => {
    let at = from
    while (at < to) {
      if (bytes[at] === listEnd) return takeTail(bytes.subarray(0, to), at + 1)
      const end = bytes[at] === open ? endOfRecord(bytes, at, to) : -1
      if (end === -1) return cut.reject(place.line, whyNot(bytes[at]), bytes.subarray(at, to))
      write(bytes, at, end)
      at = end
      while (at < to && (isBlank(bytes[at]) || bytes[at] === comma)) at += 1
    }
  }

  /** The start of an oversized line is enough for its reject. */
  const rejectLong = (bytes: Buffer) => cut.reject(place.line, `the record is longer than ${longest} bytes`, bytes)

  const takeLine = (bytes: Buffer, from: number, to: number) => {
    if (to - from > longest) return rejectLong(bytes.subarray(from, to))
    let first = from
    let last = to - 1
    while (last >= first && isBlank(bytes[last])) last -= 1
    while (first <= last && (isBlank(bytes[first]) || bytes[first] === comma)) first += 1
    if (first > last) return
    if (bytes[last] !== comma) return takeLast(bytes, first, last + 1)
    while (isBlank(bytes[last]) || bytes[last] === comma) last -= 1
    if (bytes[first] === open && bytes[last] === close) return write(bytes, first, last + 1)
    cut.reject(place.line, whyNot(bytes[first]), bytes.subarray(first, last + 1))
  }

  const carry = (piece: Buffer, from: number, to: number) => {
    const before = carriedBytes
    carriedBytes += to - from
    if (carriedBytes <= longest) carried.push(piece.subarray(from, to))
    else if (before < payloadBytes) carried.push(piece.subarray(from, Math.min(to, from + payloadBytes)))
  }

  const endCarried = () => {
    const isTooLong = carriedBytes > longest
    const bytes = Buffer.concat(carried)
    carried = []
    carriedBytes = 0
    if (isTooLong) rejectLong(bytes)
    else takeLine(bytes, 0, bytes.length)
  }

  const takeLines = (piece: Buffer, start: number) => {
    let from = start
    while (phase === "lines") {
      const end = piece.indexOf(lineFeed, from)
      if (end === -1) return carry(piece, from, piece.length)
      if (carriedBytes > 0) {
        carry(piece, from, end)
        endCarried()
      } else takeLine(piece, from, end)
      if (phase === "lines") place.line += 1
      from = end + 1
    }
    takeTail(piece, from)
  }

  const push = (piece: Buffer): void => {
    if (phase === "head") takeHead(piece)
    else if (phase === "tail") takeTail(piece, 0)
    else if (phase === "lines") takeLines(piece, 0)
    else takeRecords(piece)
  }

  const takeRecords = (piece: Buffer) => {
    const { at, why } = scan(piece)
    if (why === "list ended") takeTail(piece, at)
    if (why !== "one per line") return
    phase = "lines"
    takeLines(piece, at)
  }

  /** Must be called after the last piece. */
  const end = () => {
    if (phase === "head") takeHead(Buffer.alloc(0), true)
    if (carriedBytes > 0) endCarried()
    if (phase !== "tail") throw fail('it was cut off: the closing "]}" is missing')
    const problem = tailProblem(tail)
    if (problem !== undefined) throw fail(problem)
  }

  return { cut, push, end }
}
