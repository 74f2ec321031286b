/**
 * Removes `NA` and `NULL` without quotes from a CSV record whose other texts are quoted: statistics programs and databases
 * write a missing value like that, and the text "NA" with quotes. If other texts have no quotes either, `NA` is a text.
 */

const nullWords = /^(?:NA|NULL)$/
const noText = /^[\s\d.,:+-]*$/

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

export const removeUnquotedNulls = (
  cells: ReadonlyArray<string>,
  raw: string,
  separator: string
): ReadonlyArray<string> => {
  if (!cells.some((cell) => nullWords.test(cell))) return cells
  const quoted = findQuoted(cells, raw, separator)
  if (quoted === undefined) return cells
  const isNull = (cell: string, index: number) => nullWords.test(cell) && quoted[index] === false
  const others = cells.filter((cell, index) => !noText.test(cell) && !isNull(cell, index))
  const areQuoted = cells.every((cell, index) => noText.test(cell) || isNull(cell, index) || quoted[index] === true)
  return others.length > 0 && areQuoted ? cells.map((cell, index) => (isNull(cell, index) ? "" : cell)) : cells
}
