/**
 * Texts that stand for "no value" in numbers, days, codes, units and vocabularies. Names, texts, options and country
 * codes keep them: `NA` is Namibia, and a product may be called "Null".
 */

/** In any case, with blanks around them. */
const placeholders: ReadonlyArray<string> = ["", "-", "--", "NA", "N/A", "NULL"]
const known = new Set(placeholders)
const maxLength = Math.max(...placeholders.map(({ length }) => length))

export const isPlaceholder = (text: string): boolean => {
  const trimmed = text.trim()
  return trimmed.length <= maxLength && known.has(trimmed.toUpperCase())
}

const blanks = "[\\s\\p{Z}]*"

/** Defines `is_placeholder(text)` in DuckDB. Null for null. */
export const placeholderMacro = `create or replace temp macro is_placeholder(said) as
  regexp_full_match(said, '(?i)${blanks}(?:${placeholders.join("|")})${blanks}')`
