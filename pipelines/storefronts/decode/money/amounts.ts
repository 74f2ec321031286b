/**
 * Reads amounts of money in the files of stores, with the decimals of their currency. People write the same amount as
 * `1,299.00`, `1.299,00`, `1 299` and `1.299`, with a code or a symbol before or after it.
 */

import type { FieldType } from "../field-types.ts"
import { decodeText, parseDecimal } from "../texts.ts"
import { findCommonCodes, findDecimals, isCode } from "./currencies.ts"

export interface Amount {
  /** A result of `parseDecimal`. */
  readonly amount: string
  /** ISO 4217; null if the text names no currency. */
  readonly currency: string | null
}

export type DecimalSeparator = "." | ","

export interface AmountContext {
  /** The currency of amounts that name none, and the one that a shared symbol such as `$` may mean; null if unknown. */
  readonly currency: string | null
  /**
   * The decimal separator of the other prices of the file; null if they do not show it, undefined if they have not been
   * searched. Then an amount that depends on it fails with `SeparatorUnknown`.
   */
  readonly separator: DecimalSeparator | null | undefined
}

/** An amount such as `1.299 EUR` depends on the other prices of its file, which have not been searched. */
export class SeparatorUnknown extends Error {}

interface Digits {
  readonly whole: string
  readonly fraction: string
  /** The decimal separator that the form shows; null if it shows none. */
  readonly separator: DecimalSeparator | null
  /** What is before the fraction if that may also be three more digits of a whole number, as in `1.299`. */
  readonly ambiguous: DecimalSeparator | null
}

const opposite = (separator: DecimalSeparator): DecimalSeparator => (separator === "." ? "," : ".")

/** Joins groups of thousands: of three digits, or Indian ones, which have two before the last three. */
const joinGroups = (text: string, separator: RegExp | string): string | undefined => {
  const groups = text.split(separator)
  const [first = "", ...others] = groups
  if (others.length === 0) return first
  const last = others.pop() ?? ""
  const isGrouped =
    first.length <= 3 && last.length === 3 && [2, 3].some((size) => others.every(({ length }) => length === size))
  return isGrouped ? groups.join("") : undefined
}

const makeWhole = (whole: string | undefined, separator: DecimalSeparator | null): Digits | undefined =>
  whole === undefined ? undefined : { whole, fraction: "", separator, ambiguous: null }

const spaces = /[\s'’]/

/** `text` begins and ends with a digit, and has digits, points, commas, spaces and apostrophes in between. */
const splitDigits = (text: string): Digits | undefined => {
  const [point, comma] = [text.lastIndexOf("."), text.lastIndexOf(",")]
  const at = Math.max(point, comma)
  if (at === -1) return makeWhole(joinGroups(text, spaces), null)
  const separator: DecimalSeparator = at === point ? "." : ","
  const hasBoth = point !== -1 && comma !== -1
  const isRepeated = text.indexOf(separator) !== at
  if (isRepeated) return hasBoth ? undefined : makeWhole(joinGroups(text, separator), opposite(separator))
  const [before, fraction] = [text.slice(0, at), text.slice(at + 1)]
  const whole = joinGroups(before, hasBoth ? opposite(separator) : spaces)
  if (whole === undefined || !/^\d+$/.test(whole + fraction)) return undefined
  const isAmbiguous = !hasBoth && fraction.length === 3 && /^[1-9]\d{0,2}$/.test(before)
  return {
    whole,
    fraction,
    separator: isAmbiguous ? null : separator,
    ambiguous: isAmbiguous ? separator : null
  }
}

/** The digits of an amount with a dash in place of its cents: `1.299,-`. `separator` is what is before the dash. */
const splitWholeDigits = (text: string, separator: DecimalSeparator | null): Digits | undefined => {
  const digits = splitDigits(text)
  if (digits?.ambiguous) return makeWhole(digits.whole + digits.fraction, opposite(digits.ambiguous))
  return digits?.fraction === "" ? { ...digits, separator: digits.separator ?? separator } : undefined
}

/** No amount is longer. */
const maxLength = 60
const parts = /^(\D*)(\d(?:[\d.,\s'’]*\d)?)(\D*)$/
/** In place of cents: `12,-`, `12:-` in Swedish, `12/-` in India. */
const dash = /^\s?([.,:/])\s?[-–—]+/
/** `.89` and `$.89`, but not `Rs.500`: there the point belongs to the symbol. */
const leadingSeparator = /(^|[\s\p{Sc}])([.,])$/u
/** Marks for the direction of writing, and spaces without width. */
const invisible = /[\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g

const splitMarks = (text: string) => text.split(/\s+/).filter((mark) => mark !== "")
const isSeparator = (text: string | undefined): text is DecimalSeparator => text === "." || text === ","

/** The digits of an amount, and the codes and symbols around them. */
const splitText = (text: string) => {
  if (text.length > maxLength) return undefined
  const match = parts.exec(text.replace(invisible, "").trim())
  if (match === null) return undefined
  const [, before = "", number = "", after = ""] = match
  const [, , leading = ""] = leadingSeparator.exec(before) ?? []
  const [dashed = "", cents] = dash.exec(after) ?? []
  const all = leading === "" ? number : `0${leading}${number}`
  const digits = dashed === "" ? splitDigits(all) : splitWholeDigits(all, isSeparator(cents) ? cents : null)
  const afterDash = cents === ":" ? `:-${after.slice(dashed.length)}` : after.slice(dashed.length) // `:-` names SEK
  const marks = splitMarks(`${before.slice(0, before.length - leading.length)} ${afterDash}`)
  return digits === undefined ? undefined : { digits, marks }
}

/** The decimal separator that the form of an amount shows, in any currency; null if it shows none. */
export const findDecimalSeparator = (text: string): DecimalSeparator | null => splitText(text)?.digits.separator ?? null

/** Why an amount cannot be read, as the end of the sentence "it is …, which …". */
interface Problem {
  readonly problem: string
}

const notAnAmount: Problem = { problem: "which is not an amount" }

/** The currency that the marks name; null without marks. */
const readMarks = (marks: ReadonlyArray<string>, currency: string | null): string | null | Problem => {
  if (marks.length === 0) return null
  const codes = findCommonCodes(marks)
  const [code] = codes
  if (code === undefined) return notAnAmount
  if (codes.size === 1) return code
  if (currency !== null && codes.has(currency)) return currency
  const reason =
    currency === null
      ? 'belongs to several currencies: add "currency" to the store in the store list'
      : `is not one of ${currency}`
  return { problem: `whose symbol "${marks.join(" ")}" ${reason}` }
}

/** Whether the digits after an ambiguous separator belong to a whole number; undefined if nothing tells. */
const isWhole = (ambiguous: DecimalSeparator, code: string | null, separator: AmountContext["separator"]) => {
  const { decimals, used_decimals } = findDecimals(code)
  if (used_decimals === 0) return true
  if (decimals === 3) return false
  if (separator === undefined) throw new SeparatorUnknown()
  if (separator === null) return ambiguous === "," ? true : undefined
  return separator !== ambiguous
}

const ambiguousPoint: Problem = {
  problem:
    "whose point may be a decimal or a thousands separator, and no other price of the file shows which: write two decimals"
}

/** Most amounts: with cents or without, and with a code or none. */
const usualAmount = /^(\d|[1-9]\d{1,8})(?:\.(\d)(\d)?)?(?: ([A-Z]{3}))?$/

/** Reads a usual amount as the rest of this file does, in a tenth of the time; undefined for all others. */
const readUsual = (text: string, currency: string | null): Amount | undefined => {
  const match = usualAmount.exec(text)
  if (match === null) return undefined
  const [, whole = "", tenths = "0", hundredths = "0", code] = match
  if (code !== undefined && !isCode(code)) return undefined
  const fraction = hundredths === "0" ? tenths : tenths + hundredths
  if (fraction === "0") return { amount: whole, currency: code ?? null }
  if (findDecimals(code ?? currency).decimals === 0) return undefined
  return { amount: `${whole}.${fraction}`, currency: code ?? null }
}

/** `text` has no blanks around it. Fails with `SeparatorUnknown`. */
export const readAmount = (text: string, { currency, separator }: AmountContext): Amount | Problem => {
  const usual = readUsual(text, currency)
  if (usual !== undefined) return usual
  const split = splitText(text)
  if (split === undefined) return notAnAmount
  const { ambiguous, fraction, whole } = split.digits
  const named = readMarks(split.marks, currency)
  if (named !== null && typeof named === "object") return named
  const code = named ?? currency
  const isJoined = ambiguous === null ? false : isWhole(ambiguous, code, separator)
  if (isJoined === undefined) return ambiguousPoint
  const amount = parseDecimal(isJoined || fraction === "" ? whole + fraction : `${whole}.${fraction}`)
  if (amount === null) return notAnAmount
  if (amount.includes(".") && findDecimals(code).decimals === 0) {
    return { problem: `which has a fraction, and ${code} has none` }
  }
  return { amount, currency: named }
}

/** Reads the codes and symbols of a field that states a currency. */
export const currencyType = ({ currency }: Pick<AmountContext, "currency">): FieldType<string> => {
  const read = (value: unknown) => readMarks(splitMarks(decodeText(value) ?? ""), currency)
  return {
    name: "a currency",
    read: (value) => {
      const named = read(value)
      return typeof named === "string" ? named : undefined
    },
    explain: (value) => {
      const named = read(value)
      return typeof named !== "object" || named === null || named === notAnAmount ? undefined : named.problem
    }
  }
}

export const amountType = (context: AmountContext): FieldType<Amount> => {
  const read = (value: unknown) => readAmount(decodeText(value) ?? "", context)
  return {
    name: "an amount",
    read: (value) => {
      const amount = read(value)
      return "problem" in amount ? undefined : amount
    },
    explain: (value) => {
      const amount = read(value)
      return "problem" in amount ? amount.problem : undefined
    }
  }
}
