/** Parses amounts as Google feeds write them: with a currency, a unit, and the separators of many countries. */
import { decimalText } from "../texts.ts"

export interface Money {
  /** As `decimalText` gives it. */
  readonly amount: string
  /** ISO 4217, if it is named. */
  readonly currency: string | null
}

/** The last of comma and point is the decimal separator; a comma alone, too, unless groups of three digits follow. */
const plainNumber = (digits: string): string => {
  const text = digits.replace(/[\s'’]/g, "")
  const comma = text.lastIndexOf(",")
  const point = text.lastIndexOf(".")
  if (comma === -1) return /^\d{1,3}(?:\.\d{3}){2,}$/.test(text) ? text.replaceAll(".", "") : text
  if (point > comma || /^\d{1,3}(?:,\d{3})+$/.test(text)) return text
  return text.replaceAll(".", "").replace(",", ".")
}

/** No amount is longer, and matching takes time quadratic in the length. */
const longest = 60

const money = /^(?:([a-z]{3})\s*)?(\d[\d.,\s'’]*?)\s*([a-z]{3})?$/i

/** `15.00 USD`, `AED 15`, `1,299.00 USD`, `12,50 EUR`, `9999 KES`, `250.00`. Null for anything else. */
export const moneyOf = (text: string): Money | null => {
  const match = text.length > longest ? null : money.exec(text.trim())
  if (match === null) return null
  const [, before, digits = "", behind] = match
  const amount = decimalText(plainNumber(digits))
  if (amount === null || (before !== undefined && behind !== undefined)) return null
  return { amount, currency: (before ?? behind)?.toUpperCase() ?? null }
}

const gramsIn: Readonly<Record<string, number>> = { g: 1, kg: 1000, oz: 28.349523125, lb: 453.59237, lbs: 453.59237 }

/** `3 kg` → 3000, `12 oz` → 340. Null without a unit, and for 0, which means "not known". */
export const gramsOf = (text: string): number | null => {
  const match = text.length > longest ? null : /^(\d[\d.,]*)\s*(g|kg|oz|lbs?)$/i.exec(text.trim())
  const amount = decimalText(plainNumber(match?.[1] ?? ""))
  const grams = Number(amount ?? 0) * (gramsIn[(match?.[2] ?? "").toLowerCase()] ?? 0)
  return Math.round(grams) || null
}
