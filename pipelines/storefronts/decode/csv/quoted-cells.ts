/** The ends of quoted cells, where Papa Parse does not read them: in comments, and in TSV. */

export const separators = ["\t", ",", ";", "|"]

/** How many characters are searched for the end of a quoted cell. */
export const maxQuotedCell = 16_384

/** Offset of the single quote that ends a cell which begins before `from`; -1 if there is none nearby. */
export const findQuotedCellEnd = (text: string, from: number): number => {
  for (let at = text.indexOf('"', from); at !== -1 && at - from < maxQuotedCell; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}
