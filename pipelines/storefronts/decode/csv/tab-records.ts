/**
 * Reads the records of a TSV. In the output of most programs a quote has no meaning, but some quote cells as in a CSV.
 * A quote begins such a cell if the next single quote ends it; otherwise the line is read literally.
 */

/** How far the end of a quoted cell is searched for. */
const farthest = 16_384

export interface TabRecord {
  readonly cells: ReadonlyArray<string>
  /** Offset after its line break. */
  readonly end: number
}

/** Offset of the single quote that ends a cell which begins before `from`; -1 if there is none near. */
const closingQuote = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from); at !== -1 && at - from < farthest; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}

const behindBlanks = (text: string, from: number): number => {
  let at = from
  while (text[at] === " " || text[at] === "\r") at++
  return at
}

/** The record at `from`. Null if more text is needed to decide; the last record of a file may have no line break. */
export const tabRecordAt = (text: string, from: number, newline: string, isLast: boolean): TabRecord | null => {
  const cells: Array<string> = []
  let at = from
  let lineEnd = text.indexOf(newline, from)
  const asItStands = (): TabRecord | null => {
    const found = text.indexOf(newline, from)
    if (found === -1 && !isLast) return null
    const end = found === -1 ? text.length : found
    return { cells: text.slice(from, end).split("\t"), end: end + (found === -1 ? 0 : 1) }
  }
  for (;;) {
    if (text[at] !== '"') {
      if (lineEnd !== -1 && lineEnd < at) lineEnd = text.indexOf(newline, at)
      if (lineEnd === -1 && !isLast) return null
      const end = lineEnd === -1 ? text.length : lineEnd
      const tab = text.indexOf("\t", at)
      const isCell = tab !== -1 && tab < end
      cells.push(text.slice(at, isCell ? tab : end))
      if (!isCell) return { cells, end: end + (lineEnd === -1 ? 0 : 1) }
      at = tab + 1
      continue
    }
    const close = closingQuote(text, at + 1)
    const behind = close === -1 ? text.length : behindBlanks(text, close + 1)
    // The last quote of the text may be the first half of a doubled quote.
    if (behind === text.length && !isLast && behind - at < farthest) return null
    const isEnd = behind === text.length || text[behind] === newline
    if (close === -1 || !(isEnd || text[behind] === "\t")) return asItStands()
    cells.push(text.slice(at + 1, close).replaceAll('""', '"'))
    if (isEnd) return { cells, end: Math.min(behind + 1, text.length) }
    at = behind + 1
  }
}
