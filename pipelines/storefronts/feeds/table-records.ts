/**
 * Records of a table in text: CSV with any of the usual separators, TSV. The separator is told from the header.
 *
 * Papa Parse judges the quotes of a CSV, a piece of the file at a time. A quote that is never closed takes the rest of a file into
 * one cell; here it is told with its line.
 */
import Papa from "papaparse"
import { PayloadUnreadable } from "../feed.ts"
import { notText } from "./payload-text.ts"
import { tabRecordAt } from "./tab-records.ts"

export interface TableRecord {
  /** Where it begins; the first line of the file is 1. */
  readonly line: number
  readonly cells: ReadonlyArray<string>
  /** As it stands in the file. */
  readonly raw: string
  /** Why its cells cannot be trusted, as the end of the sentence "The record was rejected because …". */
  readonly problem: string | null
}

/** Descriptions of Shopify may have 512 KB. */
const longest = 1_000_000

const separators = ["\t", ",", ";", "|"]

/** The one that makes most cells of the header. */
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

/** What the step function of Papa Parse gets from its parser. */
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
  /** Some programs leave empty cells at the end of a line out. */
  #hasShortRecords = false

  /** Records that are complete, and where the file cannot be read any further, why. */
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
      ? `${record} is longer than ${longest} characters: a quote in it is not closed, or this is no table.`
      : `${record} does not end: a quote in it is not closed, or the file is cut off.`
  }

  /** Blank lines before the header go. */
  #findFormat(isLast: boolean): boolean {
    if (this.#separator !== undefined) return true
    const blank = /^(?:[^\S\r\n]*(?:\r\n|\r(?!$)|\n))+/.exec(this.#text)?.[0] ?? ""
    this.#text = this.#text.slice(blank.length)
    this.#line += blank.split(/\r\n|[\r\n]/).length - 1
    const end = this.#text.search(/\n|\r(?=[^\n])/)
    if (end === -1 && !isLast) return false
    // Excel is told the separator in a line of its own, and so are we
    const told = /^"?sep=(.)"?[^\S\r\n]*(?:\r\n|[\r\n])/i.exec(this.#text)
    if (told !== null) {
      this.#separator = told[1]
      this.#text = this.#text.slice(told[0].length)
      this.#line += 1
      this.#newline = told[0].endsWith("\r") ? "\r" : "\n"
      return true
    }
    // A file of old Macs has no line feed at all. One that mixes CRLF and LF is read by its line feeds.
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

  /** Takes whole records off the text, until there is none, or one that cannot be taken. */
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

  /** A quote within a quoted cell that is not doubled does no harm where the record ends with its line all the same. */
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
    if (raw.includes(notText)) return "it holds bytes that are no text in the file's encoding"
    if (cells.slice(this.#width).every(isBlank)) return null
    return `it has ${cells.length} cells, and the header ${this.#width}`
  }
}

/** Groups of records; the first record of all is the header. Blank lines are none. Fails with `PayloadUnreadable`. */
export async function* tableRecords(pieces: AsyncIterable<string>): AsyncGenerator<ReadonlyArray<TableRecord>> {
  const text = new TableText()
  const readOn = function* (piece: string, isLast: boolean) {
    const { problem, records } = text.read(piece, isLast)
    if (records.length > 0) yield records
    if (problem !== null) throw new PayloadUnreadable(problem)
  }
  for await (const piece of pieces) yield* readOn(piece, false)
  yield* readOn("", true)
}
