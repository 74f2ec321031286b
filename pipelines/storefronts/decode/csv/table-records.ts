/**
 * Reads the records of a text table: TSV, or CSV with any of the usual separators, which is guessed from the header.
 *
 * Papa Parse interprets the quotes of a CSV, one piece of the file at a time. A quote that is never closed would make
 * the rest of the file one cell; here it is reported with its line.
 */
import Papa from "papaparse"
import { FeedUnreadable } from "../feed-errors.ts"
import { undecodable } from "../payload-text.ts"
import { findQuotedCellEnd, maxQuotedCell, separators } from "./quoted-cells.ts"
import { commentStart, findCommentEnd, rejectOtherFormats } from "./table-start.ts"
import { UnquotedNulls } from "./unquoted-nulls.ts"

export interface TableRecord {
  /** Where it begins; the first line of the file is 1. */
  readonly line: number
  readonly cells: ReadonlyArray<string>
  readonly raw: string
  /** As the end of the sentence "The record was rejected because …". */
  readonly problem: string | null
}

/** Shopify allows descriptions of 512 KB. */
const maxRecordLength = 1_000_000

/** The separator that splits the header into the most cells. */
const guessSeparator = (header: string): string => {
  const countCells = (separator: string) => header.split(separator).length
  const mostCells = Math.max(...separators.map(countCells))
  return mostCells === 1 ? "," : (separators.find((separator) => countCells(separator) === mostCells) ?? ",")
}

const isEmptyCell = (text: string) => text.trim() === ""

/** In a file whose lines are split at their line feeds, the last cell of a CRLF line ends with a carriage return. */
const removeCarriageReturn = (cells: ReadonlyArray<string>, raw: string): ReadonlyArray<string> => {
  const last = cells.at(-1)
  // a quoted cell may end with one too: there the record continues with a quote
  const isLineEnd = last?.endsWith("\r") === true && (raw.endsWith(`${last}\n`) || raw.endsWith(last))
  return isLineEnd ? [...cells.slice(0, -1), last.slice(0, -1)] : cells
}

interface Parsed {
  readonly data: ReadonlyArray<ReadonlyArray<string>>
  readonly errors: ReadonlyArray<{ readonly code: string }>
  readonly meta: { readonly cursor: number }
}

type Quotes = "balanced" | "unbalanced" | "open"
type Stop = "end" | "open quote" | "truncated"

interface TabRecord {
  readonly cells: ReadonlyArray<string>
  /** Where the next record begins. */
  readonly end: number
}

interface TabCell {
  readonly value: string
  /** Its tab, its line break, or the end of the text. */
  readonly end: number
}

const skipSpaces = (text: string, from: number): number => {
  let at = from
  while (text[at] === " " || text[at] === "\r") at++
  return at
}

const readPlainCell = (text: string, from: number, lineEnd: number): TabCell => {
  const tab = text.indexOf("\t", from)
  const end = Math.min(lineEnd === -1 ? text.length : lineEnd, tab === -1 ? text.length : tab)
  return { value: text.slice(from, end), end }
}

/** Undefined if something other than a tab or a line break follows the quote that ends it. */
const readQuotedCell = (text: string, from: number, newline: string): TabCell | undefined => {
  const close = findQuotedCellEnd(text, from + 1)
  if (close === -1) return undefined
  const end = skipSpaces(text, close + 1)
  if (end < text.length && text[end] !== newline && text[end] !== "\t") return undefined
  return { value: text.slice(from + 1, close).replaceAll('""', '"'), end }
}

/**
 * The record of a TSV at `from`. In the output of most programs a quote has no meaning, but some quote cells as in a
 * CSV. A quote begins such a cell if the next single quote ends it; otherwise the line is read literally. Null if more
 * text is needed to decide; the last record of a file may have no line break.
 */
const readTabRecord = (text: string, from: number, newline: string, isLast: boolean): TabRecord | null => {
  const lineBreak = text.indexOf(newline, from)
  if (lineBreak === -1 && !isLast) return null
  const line = text.slice(from, lineBreak === -1 ? text.length : lineBreak)
  const literally = { cells: line.split("\t"), end: lineBreak === -1 ? text.length : lineBreak + 1 }
  if (!literally.cells.some((cell) => cell.startsWith('"'))) return literally
  const cells: Array<string> = []
  let at = from
  let lineEnd = lineBreak
  for (;;) {
    if (lineEnd !== -1 && lineEnd < at) lineEnd = text.indexOf(newline, at) // a quoted cell may have line breaks
    const cell = text[at] === '"' ? readQuotedCell(text, at, newline) : readPlainCell(text, at, lineEnd)
    if (cell === undefined) return isLast || text.length - at >= maxQuotedCell ? literally : null
    if (cell.end === text.length && !isLast) return null // the last quote may be the first half of a doubled quote
    cells.push(cell.value)
    if (text[cell.end] !== "\t") return { cells, end: Math.min(cell.end + 1, text.length) }
    at = cell.end + 1
  }
}

/** Whether a line that begins with `#` is the header all the same. */
type IsHeader = (line: string) => boolean

class TableText {
  readonly #isHeader: IsHeader
  #text = ""
  #line = 1
  #newline: "\n" | "\r" = "\n"
  #separator: string | undefined
  #hasFormat = false
  #width: number | undefined
  /** Some programs omit empty cells at the end of a line. */
  #hasShortRecords = false
  readonly #nulls = new UnquotedNulls()

  constructor(isHeader: IsHeader) {
    this.#isHeader = isHeader
  }

  /** Returns the records that are complete and, if the file cannot be read any further, the reason. */
  read(
    piece: string,
    isLast: boolean
  ): { readonly records: ReadonlyArray<TableRecord>; readonly problem: string | null } {
    this.#text += piece
    const records: Array<TableRecord> = []
    if (!this.#findFormat(isLast)) return { records, problem: this.#isTooLong() ? this.#describeUnclosed() : null }
    const stop =
      this.#separator === "\t" ? this.#takeTsvRecords(records, isLast) : this.#takeCsvRecords(records, isLast)
    if (stop === "truncated") return { records, problem: `The file ends within line ${this.#line}: it is cut off.` }
    return { records, problem: stop === "open quote" || this.#isTooLong() ? this.#describeUnclosed() : null }
  }

  #isTooLong() {
    return this.#text.length > maxRecordLength
  }

  #describeUnclosed() {
    const record = `The record that begins in line ${this.#line}`
    return this.#isTooLong()
      ? `${record} is longer than ${maxRecordLength} characters: a quote in it is not closed, or this is not a table.`
      : `${record} does not end: a quote in it is not closed, or the file is cut off.`
  }

  /** Removes this many characters, which are whole lines. */
  #skipLines(length: number) {
    this.#line += this.#text.slice(0, length).split(/\r\n|[\r\n]/).length - 1
    this.#text = this.#text.slice(length)
  }

  /** Blank lines and lines of comments before the header; false if more text is needed to find their end. */
  #skipToHeader(isLast: boolean): boolean {
    for (;;) {
      this.#skipLines(/^(?:[^\S\r\n]*(?:\r\n|\r(?!$)|\n))+/.exec(this.#text)?.[0].length ?? 0)
      if (!commentStart.test(this.#text)) return true
      const lineEnd = this.#text.search(/[\r\n]/)
      if (lineEnd === -1 && !isLast) return false
      if (this.#isHeader(lineEnd === -1 ? this.#text : this.#text.slice(0, lineEnd))) return true
      const end = findCommentEnd(this.#text, isLast)
      if (end === -1) return false
      this.#skipLines(end)
    }
  }

  /** Finds the separator and the line break, and drops what is before the header. */
  #findFormat(isLast: boolean): boolean {
    if (this.#hasFormat) return true
    if (!this.#skipToHeader(isLast)) return false
    // Excel writes the separator in a separate first line
    const separatorLine = /^"?sep=(.)"?[^\S\r\n]*(?:\r\n|\r(?!$)|\n)/i.exec(this.#text)
    if (separatorLine !== null) {
      this.#separator = separatorLine[1]
      this.#skipLines(separatorLine[0].length)
      if (!this.#skipToHeader(isLast)) return false
    }
    rejectOtherFormats(this.#text)
    const end = this.#text.search(/\n|\r(?=[^\n])/)
    if (end === -1 && !isLast) return false
    // A file from an old Mac has no line feed at all. A file that mixes CRLF and LF is split at its line feeds.
    if (this.#text[end] === "\r") this.#newline = "\r"
    this.#separator ??= guessSeparator(end === -1 ? this.#text : this.#text.slice(0, end))
    this.#hasFormat = true
    return true
  }

  #takeTsvRecords(records: Array<TableRecord>, isLast: boolean): Stop {
    const text = this.#text
    let at = 0
    while (at < text.length) {
      const record = readTabRecord(text, at, this.#newline, isLast)
      if (record === null) break
      const raw = text.slice(at, record.end)
      if (this.#isTruncated(record.cells, raw)) return "truncated"
      this.#push(records, record.cells, raw, "balanced")
      at = record.end
    }
    this.#text = text.slice(at)
    return "end"
  }

  /** Removes whole records from the text, until none is left, or one is incomplete or cannot be read. */
  #takeCsvRecords(records: Array<TableRecord>, isLast: boolean): Stop {
    const text = this.#text
    let at = 0
    let stop: Stop = "end"
    const config = {
      delimiter: this.#separator,
      newline: this.#newline,
      step: ({ data: [cells = []], errors, meta: { cursor } }: Parsed) => {
        const raw = text.slice(at, cursor)
        const quotes = this.#classifyQuotes(cells, raw, errors)
        if (quotes === "open") stop = "open quote"
        else if (this.#isTruncated(cells, raw)) stop = "truncated"
        if (stop !== "end") return parser.abort()
        this.#push(records, cells, raw, quotes)
        at = cursor
      }
    }
    const parser = new Papa.Parser(config)
    parser.parse(text, 0, !isLast)
    this.#text = text.slice(at)
    return stop
  }

  /** An undoubled quote inside a quoted cell is harmless if the record still ends with its line and has all cells. */
  #classifyQuotes(cells: ReadonlyArray<string>, raw: string, errors: Parsed["errors"]): Quotes {
    if (errors.length === 0) return "balanced"
    if (errors.some(({ code }) => code === "MissingQuotes")) return "open"
    const end = raw.indexOf(this.#newline)
    return cells.length === this.#width && (end === -1 || end === raw.length - 1) ? "balanced" : "unbalanced"
  }

  #isTruncated(cells: ReadonlyArray<string>, raw: string) {
    if (raw.endsWith(this.#newline) || this.#hasShortRecords) return false
    return cells.length < (this.#width ?? 0) && !cells.every(isEmptyCell)
  }

  #push(records: Array<TableRecord>, parsed: ReadonlyArray<string>, raw: string, quotes: Quotes) {
    const line = this.#line
    const lines = raw.split(this.#newline).length - 1
    this.#line += lines
    if (parsed.every(isEmptyCell)) return
    const stated = removeCarriageReturn(parsed, raw)
    const separator = this.#separator ?? ","
    const cells = separator === "\t" ? stated : this.#nulls.remove(stated, raw, separator)
    this.#width ??= cells.length
    if (cells.length < this.#width) this.#hasShortRecords = true
    records.push({ line, cells, raw, problem: this.#findProblem(cells, raw, quotes, line + Math.max(lines - 1, 0)) })
  }

  #findProblem(cells: ReadonlyArray<string>, raw: string, quotes: Quotes, lastLine: number): string | null {
    if (quotes !== "balanced") return `its quotes are unbalanced; it extends from here to line ${lastLine}`
    if (raw.includes(undecodable)) return "it has bytes that are not text in the file's encoding"
    if (cells.slice(this.#width).every(isEmptyCell)) return null
    return `it has ${cells.length} cells, and the header has ${this.#width}`
  }
}

/** Yields groups of records, the first of which is the header. Skips blank lines. Fails with `FeedUnreadable`. */
export async function* readRecords(
  pieces: AsyncIterable<string>,
  isHeader: IsHeader = () => false
): AsyncGenerator<ReadonlyArray<TableRecord>> {
  const text = new TableText(isHeader)
  const readPiece = function* (piece: string, isLast: boolean) {
    const { problem, records } = text.read(piece, isLast)
    if (records.length > 0) yield records
    if (problem !== null) throw new FeedUnreadable(problem)
  }
  for await (const piece of pieces) yield* readPiece(piece, false)
  yield* readPiece("", true)
}
