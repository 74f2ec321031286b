/**
 * Removes `NA` and `NULL` without quotes from the records of a CSV whose other texts are quoted: statistics programs and
 * databases write a missing value like that, and the text "NA" with quotes.
 *
 * This is decided for the file, in one pass, by what it has shown so far:
 * - A header whose names are all quoted, or a quoted text in a record, shows a writer that quotes texts: from there on an
 *   unquoted null word is no value. A header without quotes decides nothing, since databases do not quote it.
 * - A text without quotes in a record shows that the writer does not quote texts: from that record to the end of the file
 *   `NA` is a text, whatever the header is. Until one of the two was seen, `NA` is a text too.
 * - Numbers, also as `1e+05`, `TRUE`, `FALSE`, dates and unquoted null words show nothing: no program has to quote them.
 */

const nullWords = /^(?:NA|NULL)$/
const noTexts = [
  /^[\s\d.,:+-]*$/,
  /^[+-]?[\d.,]+e[+-]?\d+$/i,
  /^(?:true|false|nan|[+-]?inf)$/i,
  /^\d{4}-\d\d-\d\d[T ][\d:.,+-]+Z?$/
]
const longestWord = 40
const isText = (cell: string, isQuoted: boolean) =>
  cell.length > longestWord || !(noTexts.some((shape) => shape.test(cell)) || (!isQuoted && nullWords.test(cell)))

/**
 * Whether each cell is quoted; undefined if the record cannot be matched with its cells, for example because a quote inside
 * of a cell is not doubled.
 */
const findQuoted = (
  cells: ReadonlyArray<string>,
  raw: string,
  separator: string
): ReadonlyArray<boolean> | undefined => {
  const quoted: Array<boolean> = []
  let at = 0
  for (const [index, cell] of cells.entries()) {
    if (index > 0 && !raw.startsWith(separator, at++)) return undefined
    const isQuoted = raw[at] === '"'
    const written = isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell
    if (!raw.startsWith(written, at)) return undefined
    quoted.push(isQuoted)
    at += written.length
  }
  return quoted
}

export class UnquotedNulls {
  #isHeader = true
  #quotesTexts = false
  #hasUnquotedText = false

  /** The cells of the next record. The first one is the header, of which nothing is removed. */
  remove(cells: ReadonlyArray<string>, raw: string, separator: string): ReadonlyArray<string> {
    if (this.#hasUnquotedText) return cells
    const isHeader = this.#isHeader
    this.#isHeader = false
    // a record that cannot be matched shows nothing, and keeps its cells
    const quoted = findQuoted(cells, raw, separator)
    if (quoted === undefined) return cells
    const texts = quoted.filter((isQuoted, index) => isText(cells[index] ?? "", isQuoted))
    const areQuoted = texts.every((isQuoted) => isQuoted)
    if (texts.length > 0 && areQuoted) this.#quotesTexts = true
    if (isHeader) return cells
    if (!areQuoted) this.#hasUnquotedText = true
    if (this.#hasUnquotedText || !this.#quotesTexts) return cells
    const isNull = (cell: string, index: number) => quoted[index] === false && nullWords.test(cell)
    return cells.some(isNull) ? cells.map((cell, index) => (isNull(cell, index) ? "" : cell)) : cells
  }
}
