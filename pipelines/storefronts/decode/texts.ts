/**
 * Normalises the strings, numbers, prices and times of the rows of a feed. A price stays a decimal string from the
 * payload to the table: it never passes through binary floating point. An empty or invalid value is null.
 */
import { numberToken } from "@larder/schemas"
import { decodeEntities } from "./entities.ts"

/** ASCII words with one space between them, like most strings. */
const normalizedText = /^[!-~]+(?: [!-~]+)*$/
const maxQuickCheck = 500
/** Longer strings are truncated: names, codes and labels have a few hundred characters. */
const maxCharacters = 10_000

/** Whitespace and control characters become single spaces. "" and values other than strings and numbers become null. */
export const normalizeText = (value: unknown): string | null => {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : null
  if (typeof value !== "string") return null
  if (value.length <= maxQuickCheck && normalizedText.test(value)) return value
  return (
    value
      .slice(0, maxCharacters)
      .replace(/\p{Cs}+/gu, "") // half of a character that a shop truncated
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim() || null
  )
}

/** A normalized text with its entities decoded once, for texts that are not HTML. */
export const decodeText = (value: unknown): string | null =>
  normalizeText(typeof value === "string" ? decodeEntities(value) : value)

/**
 * Price columns have 14 digits before the point and 4 after it. One digit less is accepted, since 99999999999999.99999
 * would be rounded up to 15 digits; a longer price is a mistake or an attack.
 */
const decimalShape = /^(\d{1,13})(?:\.(\d{1,20}))?$/
const fractionDigits = 4

/** Rounds half up, as the columns do. */
const roundHalfUp = (whole: string, fraction: string): string => {
  const up = (fraction[fractionDigits] ?? "0") >= "5" ? 1n : 0n
  const digits = String(BigInt(whole + fraction.slice(0, fractionDigits)) + up).padStart(fractionDigits + 1, "0")
  return `${digits.slice(0, -fractionDigits)}.${digits.slice(-fractionDigits)}`.replace(/\.?0+$/, "")
}

/**
 * `"520.00"` → `520`, `"0.50"` → `0.5`, `"1,299.90"` → `1299.9`, `"0.33335"` → `0.3334`. A value that is not a price,
 * is below 0 or has too many digits is null: `"free"`, `"12,50"`, `"15.00 USD"`, `"-1"`, `"1e3"`. DuckDB can cast every
 * result to DECIMAL(18, 4).
 */
export const parseDecimal = (value: unknown): string | null => {
  const text = normalizeText(value)
  const match = decimalShape.exec((text === null ? undefined : numberToken(text)) ?? "")
  if (match === null) return null
  const [, whole = "", digits = ""] = match
  const fraction = digits.replace(/0+$/, "")
  if (fraction.length > fractionDigits) return roundHalfUp(whole, fraction)
  return fraction === "" ? whole : `${whole}.${fraction}`
}

/** `("277666", 2)` → `2776.66`, for shops that count in cents. */
export const parseMinorUnits = (amount: unknown, minorUnit: number): string | null => {
  const digits = normalizeText(amount)
  if (digits === null || !/^\d{1,18}$/.test(digits)) return null
  if (!Number.isInteger(minorUnit) || minorUnit < 0 || minorUnit > 8) return null
  if (minorUnit === 0) return parseDecimal(digits)
  const padded = digits.padStart(minorUnit + 1, "0")
  return parseDecimal(`${padded.slice(0, -minorUnit)}.${padded.slice(-minorUnit)}`)
}

/** Shopify ids have up to 15 digits. A number that a double cannot hold exactly is rejected: it has already changed. */
export const parseId = (value: unknown): string | null => {
  if (typeof value === "number") return Number.isSafeInteger(value) && value > 0 ? String(value) : null
  return typeof value === "string" && /^[1-9]\d{0,19}$/.test(value) ? value : null
}

/** A whole number from 1 that a column of 32 bits can hold; otherwise null. */
export const parseCount = (value: unknown): number | null => {
  const number = typeof value === "string" && /^\d{1,10}$/.test(value) ? Number(value) : value
  return typeof number === "number" && Number.isInteger(number) && number > 0 && number < 2 ** 31 ? number : null
}

const compareStrings = (a: string, b: string) => Number(a > b) - Number(a < b)

/** Below 0, 0 or above 0, if `a` is less than, equal to or more than `b`. Both are results of `parseDecimal`. */
export const compareDecimals = (a: string, b: string): number => {
  const [wholeA = "", fractionA = ""] = a.split(".")
  const [wholeB = "", fractionB = ""] = b.split(".")
  return wholeA.length - wholeB.length || compareStrings(wholeA, wholeB) || compareStrings(fractionA, fractionB)
}

/** The price before a reduction, if it is above the price. Shops also state the price itself here, less, or 0. */
export const dropLowerPrice = (compareAt: string | null, price: string | null): string | null =>
  compareAt !== null && price !== null && compareDecimals(compareAt, price) > 0 ? compareAt : null

const instant = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,3})\d*)? ?(Z|[+-]\d\d:?\d\d)$/i

/** `2026-06-06T18:11:05+05:30` → `2026-06-06T12:41:05.000Z`. Null for a time without an offset. */
export const parseTime = (value: unknown): string | null => {
  const match = typeof value === "string" ? instant.exec(value.trim()) : null
  if (match === null) return null
  const [, year = "", month = "", day = "", minutes = "", seconds = ":00", fraction = "", zone = ""] = match
  // Date.parse reads 30 February as 2 March.
  if (Number(day) > 28 && Number(day) > new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()) return null
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()
  const time = Date.parse(`${year}-${month}-${day}T${minutes}${seconds}.${fraction.padEnd(3, "0")}${offset}`)
  if (Number.isNaN(time)) return null
  const text = new Date(time).toISOString()
  return /^\d{4}-/.test(text) && !text.startsWith("0000") ? text : null
}

/** Google accepts 2,000 characters. Every variant may repeat the address of a picture, so a long one multiplies. */
const maxAddressLength = 4096

/** In ASCII, as most are. */
const usualAddress = /^https?:\/\/[!-.0-~][!-~]*$/i

/**
 * An address that a browser would load, with its entities decoded; `//cdn…` becomes https. Null if it is neither http nor
 * https, contains a control character, or is too long.
 */
export const parseWebAddress = (value: unknown): string | null => {
  const text = typeof value === "string" ? decodeEntities(value).trim() : ""
  const address = text.startsWith("//") ? `https:${text}` : text
  if (address.length > maxAddressLength) return null
  if (usualAddress.test(address)) return address
  return /^https?:\/\/[^\s/]/i.test(address) && !/\p{Cc}/u.test(address) ? address.toWellFormed() : null
}

const separators = new Set([",", ";", "|", " ", "\t", "\r", "\n", "\u00a0"])
const trimSeparators = (text: string): string => {
  let end = text.length
  while (separators.has(text[end - 1] ?? "")) end--
  return text.slice(0, end)
}

/**
 * The addresses of a list in one text: `http` or `//` after a comma, semicolon, bar or whitespace begins the next one. A comma
 * within an address stays.
 */
export const splitAddresses = (text: string): ReadonlyArray<string> => {
  if (!text.includes("//", "http://".length)) return [text]
  const addresses = text.split(/(?<=[\s,;|])(?=(?:https?:)?\/\/)/i)
  return addresses.length === 1 ? addresses : addresses.map(trimSeparators).filter((address) => address !== "")
}
