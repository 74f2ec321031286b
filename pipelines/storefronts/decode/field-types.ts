/** The types of the fields of a feed: what a value of each looks like, and how it is read. */
import { isPlaceholder } from "../../run/placeholders.ts"
import { decodeEntities } from "./entities.ts"
import { htmlToLine, htmlToText } from "./html-text.ts"
import { isObject } from "./responses.ts"
import { decodeText, normalizeText, parseCount, parseDecimal, parseId, parseTime, parseWebAddress } from "./texts.ts"

export interface FieldType<A> {
  /** With its article, as the end of the sentence "it is 5, which is not …". */
  readonly name: string
  /** Why a value is of another type, in place of "which is not …", if there is more to say. */
  readonly explain?: (value: unknown) => string | undefined
  /** Undefined for a value of another type; null for one that means "not known", such as 0 grams. */
  readonly read: (value: unknown) => A | null | undefined
  /** In names and other free texts, `NA` may be a value. */
  readonly keepsPlaceholders?: true
}

const isText = (value: unknown) => typeof value === "string" || (typeof value === "number" && Number.isFinite(value))
const isNumber = (value: unknown) =>
  typeof value === "string" ? /^\s*[+-]?(?:\d+\.?\d*|\.\d+)\s*$/.test(value) : isText(value)

const textType = (read: (value: unknown) => string | null): FieldType<string> => ({
  name: "a string",
  read: (value) => (isText(value) ? read(value) : undefined),
  keepsPlaceholders: true
})
/** `parse` returns null for a value of another type. */
const parsedType = <A>(name: string, parse: (value: unknown) => A | null): FieldType<A> => ({
  name,
  read: (value) => parse(value) ?? undefined
})

/** Spreadsheets show long numbers like this, without most of their digits. */
const spreadsheetNumber = /^\d+(?:[.,]\d+)?E\+?\d+$/i

/** Codes may look like such a number, but not with a `+`. Spreadsheets always write it. */
const isAbbreviated = (code: string) => code.includes("+") && spreadsheetNumber.test(code)
/** `#N/A`, `#REF!`: a formula that failed. */
const isFormulaError = (code: string) => /^#(?:N\/A|[A-Z/\d]+[!?])$/.test(code)

const explainSheetValue = (value: unknown) => {
  const code = String(value).trim().replace(/^'+/, "")
  if (isFormulaError(code)) return "the error of a formula in a spreadsheet"
  return isAbbreviated(code)
    ? "a number that a spreadsheet abbreviated, so digits are lost: export the file again with this column as text"
    : undefined
}

/** `read` returns null for "no value". */
const codeType = (read: (value: unknown) => string | null) => ({
  name: "a code",
  explain: explainSheetValue,
  read: (value: unknown) => {
    const code = isText(value) ? read(value) : undefined
    return typeof code === "string" && (isAbbreviated(code) || isFormulaError(code)) ? undefined : code
  }
})

/** Files contain a leading `'`, or `="0012"`, which keep spreadsheets from reading a code as a number. */
const dropSheetQuotes = (value: unknown): string | null => {
  const text = decodeEntities(String(value)).trim()
  const code = normalizeText(text.startsWith('="') ? text.replace(/^="(.*)"$/, "$1") : text.replace(/^'+/, ""))
  return code === null || isPlaceholder(code) ? null : code
}

export const types = {
  text: textType(decodeText),
  line: textType(htmlToLine),
  body: textType(htmlToText),
  /** Identifies a row, and is kept as it was sent: the ids that derive from it are permanent. */
  key: codeType(normalizeText),
  /** SKUs and the like: unlike a name, `NA` is no value in them. */
  code: codeType(decodeText),
  /** A code in a file that may come from a spreadsheet. */
  sheetCode: codeType(dropSheetQuotes),
  barcode: {
    name: "a barcode",
    read: (value: unknown) => {
      const code = isText(value) ? dropSheetQuotes(value) : undefined
      return code !== null && code !== undefined && spreadsheetNumber.test(code) ? undefined : code
    }
  },
  address: parsedType("a web address", parseWebAddress),
  price: parsedType("a price", parseDecimal),
  time: parsedType("a time", parseTime),
  id: parsedType("an id", parseId),
  boolean: parsedType("a boolean", (value) => (typeof value === "boolean" ? value : null)),
  list: parsedType("a list", (value): ReadonlyArray<unknown> | null => (Array.isArray(value) ? value : null)),
  object: parsedType("an object", (value) => (isObject(value) ? value : null)),
  count: {
    name: "a number",
    read: (value: unknown) => (isNumber(value) ? parseCount(value) : undefined)
  },
  /** 0 means "not known". */
  grams: {
    name: "a weight",
    read: (value: unknown) => {
      const grams = isNumber(value) ? parseDecimal(value) : null
      return grams === null ? undefined : Number(grams) || null
    }
  }
}

export const isMissing = (value: unknown, { keepsPlaceholders }: FieldType<unknown>) =>
  value === undefined ||
  value === null ||
  (typeof value === "string" && (keepsPlaceholders ? value.trim() === "" : isPlaceholder(value)))
