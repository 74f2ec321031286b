/** Parses amounts as Google feeds write them: with a currency and the separators of many countries. */
import { parseDecimal } from "../texts.ts"

export interface Money {
  readonly amount: string
  readonly currency: string | null
}

/**
 * The last comma or point is the decimal separator if there are both. A comma alone is one, unless groups of three
 * digits follow it.
 */
const normalizeSeparators = (digits: string): string => {
  const text = digits.replace(/[\s'’]/g, "")
  const comma = text.lastIndexOf(",")
  const point = text.lastIndexOf(".")
  if (comma === -1) return /^\d{1,3}(?:\.\d{3}){2,}$/.test(text) ? text.replaceAll(".", "") : text
  if (point > comma || /^\d{1,3}(?:,\d{3})+$/.test(text)) return text
  return text.replaceAll(".", "").replace(",", ".")
}

/** No amount is longer, and the time for matching is quadratic in the length. */
const maxLength = 60

const money = /^(?:([a-z]{3})\s*)?(\d[\d.,\s'’]*?)\s*([a-z]{3})?$/i

/** `15.00 USD`, `AED 15`, `1,299.00 USD`, `12,50 EUR`, `9999 KES`, `250.00`. Null for anything else. */
export const parseMoney = (text: string): Money | null => {
  const match = text.length > maxLength ? null : money.exec(text.trim())
  if (match === null) return null
  const [, prefix, digits = "", suffix] = match
  const amount = parseDecimal(normalizeSeparators(digits))
  if (amount === null || (prefix !== undefined && suffix !== undefined)) return null
  return { amount, currency: (prefix ?? suffix)?.toUpperCase() ?? null }
}
