/**
 * Reads the records of a text table: TSV, or CSV with any of the usual separators. The header shows which separator it
 * is.
 *
 * Papa Parse interprets the quotes of a CSV, one piece of the file at a time. A quote that is never closed takes the
 * rest of a file into one cell; here it is reported with its line.
 */
import Papa from "papaparse"
import { FeedUnreadable } from "../feed.ts"
import { notText } from "../payload-text.ts"
import { tabRecordAt } from "./tab-records.ts"

export interface TableRecord {
  /** Where it begins; the first line of the file is 1. */
  readonly line: number
  readonly cells: ReadonlyArray<string>
  /** As in the file. */
  readonly raw: string
  /** Why its cells cannot be trusted, as the end of the sentence "The record was rejected because …". */
  readonly problem: string | null
}

/** Shopify allows descriptions of 512 KB. */
const longest = 1_000_000

const separators = ["\t", ",", ";", "|"]

/** The separator that splits the header into the most cells. */
const separatorOf = (header: string): string => {
  let best = ","
  let most = 1
  for (const separator of separators) {
    const cells = header.split(separator).length
    if (cells > most) {
      best = separator
      most = cells
    }
  }
  return best
}

const isBlank = (text: string) => text.trim() === ""

/** What Papa Parse passes to its step function. */
interface Parsed {
  readonly data: ReadonlyArray<ReadonlyArray<string>>
  readonly errors: ReadonlyArray<{ readonly code: string }>
  readonly meta: { readonly cursor: number }
}

type Quotes = "add up" | "broken" | "open"
type Stopped = "at the end" | "at a quote" | "cut off"

class TableText {
  #text = ""
  #line = 1
  #newline: "\n" | "\r" = "\n"
  #separator: string | undefined
  /** Number of cells in the header. */
  #width: number | undefined
  /** Some programs leave out empty cells at the end of a line. */
  #hasShortRecords = false

  /** Returns the records that are complete and, if the file cannot be read any further, the reason. */
  read(
    piece: string,
    isLast: boolean
  ): { readonly records: ReadonlyArray<TableRecord>; readonly problem: string | null } {
    this.#text += piece
    const records: Array<TableRecord> = []
    if (!this.#findFormat(isLast)) return { records, problem: this.#isTooLong() ? this.#unclosed() : null }
    const stopped = this.#separator === "\t" ? this.#takeLines(records, isLast) : this.#takeRecords(records, isLast)
    if (stopped === "cut off") return { records, problem: `The file ends within line ${this.#line}: it is cut off.` }
    return { records, problem: stopped === "at a quote" || this.#isTooLong() ? this.#unclosed() : null }
  }

  #isTooLong() {
    return this.#text.length > longest
  }

  #unclosed() {
    const record = `The record that begins in line ${this.#line}`
    return this.#isTooLong()
      ? `${record} is longer than ${longest} characters: a quote in it is not closed, or this is not a table.`
      : `${record} does not end: a quote in it is not closed, or the file is cut off.`
  }

  /** Finds the separator and the line break. Blank lines before the header are dropped. */
  #findFormat(isLast: boolean): boolean {
    if (this.#separator !== undefined) return true
    const blank = /^(?:[^\S\r\n]*(?:\r\n|\r(?!$)|\n))+/.exec(this.#text)?.[0] ?? ""
    this.#text = this.#text.slice(blank.length)
    this.#line += blank.split(/\r\n|[\r\n]/).length - 1
    const end = this.#text.search(/\n|\r(?=[^\n])/)
    if (end === -1 && !isLast) return false
    // a line of its own may state the separator for Excel
    const told = /^"?sep=(.)"?[^\S\r\n]*(?:\r\n|[\r\n])/i.exec(this.#text)
    if (told !== null) {
      this.#separator = told[1]
      this.#text = this.#text.slice(told[0].length)
      this.#line += 1
      this.#newline = told[0].endsWith("\r") ? "\r" : "\n"
      return true
    }
    // A file of old Macs has no line feed at all. A file that mixes CRLF and LF is split at its line feeds.
    if (this.#text[end] === "\r") this.#newline = "\r"
    this.#separator = separatorOf(end === -1 ? this.#text : this.#text.slice(0, end))
    return true
  }

  #takeLines(records: Array<TableRecord>, isLast: boolean): Stopped {
    const text = this.#text
    let at = 0
    while (at < text.length) {
      const record = tabRecordAt(text, at, this.#newline, isLast)
      if (record === null) break
      const raw = text.slice(at, record.end)
      if (this.#isCutOff(record.cells, raw)) return "cut off"
      this.#push(records, record.cells, raw, "add up")
      at = record.end
    }
    this.#text = text.slice(at)
    return "at the end"
  }

  /** Takes whole records off the text, until none is left or one cannot be taken. */
  #takeRecords(records: Array<TableRecord>, isLast: boolean): Stopped {
    const text = this.#text
    let at = 0
    let stopped: Stopped = "at the end"
    const config = {
      delimiter: this.#separator,
      newline: this.#newline,
      step: ({ data: [cells = []], errors, meta: { cursor } }: Parsed) => {
        const raw = text.slice(at, cursor)
        const quotes = this.#quotesOf(cells, raw, errors)
        if (quotes === "open") stopped = "at a quote"
        else if (this.#isCutOff(cells, raw)) stopped = "cut off"
        if (stopped !== "at the end") return parser.abort()
        this.#push(records, cells, raw, quotes)
        at = cursor
      }
    }
    const parser = new Papa.Parser(config)
    parser.parse(text, 0, !isLast)
    this.#text = text.slice(at)
    return stopped
  }

  /** An undoubled quote inside a quoted cell is harmless if the record still ends with its line and has all cells. */
  #quotesOf(cells: ReadonlyArray<string>, raw: string, errors: Parsed["errors"]): Quotes {
    if (errors.length === 0) return "add up"
    if (errors.some(({ code }) => code === "MissingQuotes")) return "open"
    const end = raw.indexOf(this.#newline)
    return cells.length === this.#width && (end === -1 || end === raw.length - 1) ? "add up" : "broken"
  }

  #isCutOff(cells: ReadonlyArray<string>, raw: string) {
    if (raw.endsWith(this.#newline) || this.#hasShortRecords) return false
    return cells.length < (this.#width ?? 0) && !cells.every(isBlank)
  }

  #push(records: Array<TableRecord>, cells: ReadonlyArray<string>, raw: string, quotes: Quotes) {
    const line = this.#line
    const lines = raw.split(this.#newline).length - 1
    this.#line += lines
    if (cells.every(isBlank)) return
    this.#width ??= cells.length
    if (cells.length < this.#width) this.#hasShortRecords = true
    records.push({ line, cells, raw, problem: this.#problemOf(cells, raw, quotes, line + Math.max(lines - 1, 0)) })
  }

  #problemOf(cells: ReadonlyArray<string>, raw: string, quotes: Quotes, lastLine: number): string | null {
    if (quotes !== "add up") return `its quotes do not add up; it reaches from here to line ${lastLine}`
    if (raw.includes(notText)) return "it has bytes that are not text in the file's encoding"
    if (cells.slice(this.#width).every(isBlank)) return null
    return `it has ${cells.length} cells, and the header ${this.#width}`
  }
}

/** Yields groups of records, the first of which is the header. Skips blank lines. Fails with `FeedUnreadable`. */
export async function* tableRecords(pieces: AsyncIterable<string>): AsyncGenerator<ReadonlyArray<TableRecord>> {
  const text = new TableText()
  const readOn = function* (piece: string, isLast: boolean) {
    const { problem, records } = text.read(piece, isLast)
    if (records.length > 0) yield records
    if (problem !== null) throw new FeedUnreadable(problem)
  }
  for await (const piece of pieces) yield* readOn(piece, false)
  yield* readOn("", true)
}
