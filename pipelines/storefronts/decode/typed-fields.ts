/**
 * Reads the fields of a row and checks their types. A value of another type rejects its row, except in an optional
 * field: there it is null and recorded as an odd value. If all values of a key or substance have another type, in several
 * rows, the whole feed is rejected: its source has changed, and nothing else in it can be trusted.
 */
import type { OddValue } from "../../run/odd-values.ts"
import { isPlaceholder } from "../../run/placeholders.ts"
import { thresholds } from "../../run/thresholds.ts"
import { decodeEntities } from "./entities.ts"
import { UnusableRow } from "./feed-errors.ts"
import type { Role } from "./field-roles.ts"
import { htmlToLine, htmlToText } from "./html-text.ts"
import { formatJson, isObject, type JsonObject } from "./responses.ts"
import {
  decodeText,
  normalizeText,
  parseCount,
  parseDecimal,
  parseId,
  parseTime,
  parseWebAddress,
  splitAddresses
} from "./texts.ts"

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

const isMissing = (value: unknown, { keepsPlaceholders }: FieldType<unknown>) =>
  value === undefined ||
  value === null ||
  (typeof value === "string" && (keepsPlaceholders ? value.trim() === "" : isPlaceholder(value)))

/** Characters of an odd value that are kept until it is counted. */
const maxSaid = 1000

interface Mistyped {
  rows: number
  readonly reason: string
}

/** A value of an optional field that was not understood, so the field is null. */
export type FeedOddValue = Pick<OddValue, "field" | "said">

/** Statistics of the fields in the rows of one feed. Their size does not grow with the number of rows. */
export class FeedStats {
  #usedCount = 0
  #rejectCount = 0
  #firstReason: string | undefined
  readonly #typed = new Map<string, Set<string>>()
  readonly #mistyped = new Map<string, Mistyped>()
  readonly #fieldsSeen = new Set<string>()
  #currencyConflict: string | null = null
  #saleChange = Number.POSITIVE_INFINITY
  #oddValues: Array<FeedOddValue> = []

  /** Fields, columns or elements that occur in any row, even without a value: `vendor`, `variant sku`. */
  get fieldsSeen(): ReadonlySet<string> {
    return this.#fieldsSeen
  }

  get rejectCount() {
    return this.#rejectCount
  }

  /** The first two statements about the currency of its prices that contradict each other; null if none do. */
  get currencyConflict() {
    return this.#currencyConflict
  }

  recordCurrencyConflict(conflict: string) {
    this.#currencyConflict ??= conflict
  }

  /** The first beginning or end of a sale after the read; null if no sale states one. */
  get saleChange(): Date | null {
    return Number.isFinite(this.#saleChange) ? new Date(this.#saleChange) : null
  }

  recordSaleChange(time: number) {
    this.#saleChange = Math.min(this.#saleChange, time)
  }

  recordField(field: string) {
    this.#fieldsSeen.add(field)
  }

  /** Fields that had a value of the right type, in the row itself or in a part of it, such as its variants. */
  typedFields(part: string): Set<string> {
    const fields = this.#typed.get(part)
    if (fields !== undefined) return fields
    const noFields = new Set<string>()
    this.#typed.set(part, noFields)
    return noFields
  }

  recordMistyped(part: string, field: string, reason: string) {
    const key = JSON.stringify([part, field])
    const mistyped = this.#mistyped.get(key) ?? { rows: 0, reason }
    mistyped.rows += 1
    this.#mistyped.set(key, mistyped)
  }

  /** A value of an optional field that is not understood. */
  recordOddValue(field: string, value: unknown) {
    const said = typeof value === "string" ? value : formatJson(value)
    this.#oddValues.push({ field, said: said.slice(0, maxSaid) })
  }

  /** The odd values since the last call: those of one row. */
  takeOddValues(): ReadonlyArray<FeedOddValue> {
    const found = this.#oddValues
    if (found.length > 0) this.#oddValues = []
    return found
  }

  recordUsed() {
    this.#usedCount += 1
  }

  recordReject(reason: string) {
    this.#rejectCount += 1
    this.#firstReason ??= reason
  }

  /** Why the feed as a whole cannot be trusted; null if it can. Each `required` field must occur in some row. */
  findFault(required: ReadonlyArray<string> = []): string | null {
    if (this.#usedCount === 0) {
      return this.#rejectCount === 0 ? null : `none of its ${this.#rejectCount} rows can be used: ${this.#firstReason}`
    }
    const missing = required.find((field) => !this.typedFields("").has(field))
    if (missing !== undefined) return `none of its ${this.#usedCount} rows has a ${missing}`
    for (const [key, { reason, rows }] of this.#mistyped) {
      const [part = "", field = ""]: ReadonlyArray<string> = JSON.parse(key)
      if (!thresholds.mistypedRows.isMetBy(rows) || this.typedFields(part).has(field)) continue
      return `all ${rows} rows with a value in ${field} have one of another type there: ${reason}`
    }
    return null
  }
}

/** The fields of a row, or of a part of it, such as a variant. Only fields with a role can be read. */
export class Fields<Name extends string> {
  readonly #stats: FeedStats
  readonly #roles: Readonly<Record<Name, Role>>
  readonly #part: string
  readonly #number: number
  readonly #typed: Set<string>

  constructor(stats: FeedStats, roles: Readonly<Record<Name, Role>>, part = "", number = 0) {
    this.#stats = stats
    this.#roles = roles
    this.#part = part
    this.#number = number
    this.#typed = stats.typedFields(part)
  }

  /**
   * Null if there is no value. Fails with `UnusableRow` for a value of another type, unless the field is optional. `name`
   * is the field's name in messages.
   */
  read<A>(field: Name, value: unknown, type: FieldType<A>, name: string = field): A | null {
    if (value !== undefined) this.#stats.recordField(this.#qualify(field))
    if (isMissing(value, type)) return null
    const result = type.read(value)
    if (result === undefined) {
      if (this.#roles[field] === "optional") return this.#recordOddValue(name, value)
      const problem = type.explain?.(value) ?? `which is not ${type.name}`
      return this.reject(field, `is ${formatJson(value).slice(0, 100)}, ${problem}`, name)
    }
    this.#typed.add(field)
    return result
  }

  /** The addresses in a text that may list several. */
  readAddresses(field: Name, value: string, name: string = field): ReadonlyArray<string> {
    const addresses = splitAddresses(value).map((address) => this.read(field, address, types.address, name))
    return addresses.filter((address) => address !== null)
  }

  /** The objects of a list, which may contain only objects and null. */
  readObjects(field: Name, value: unknown): ReadonlyArray<JsonObject> {
    return (this.read(field, value, types.list) ?? []).flatMap((entry) => {
      const object = this.read(field, entry, types.object)
      return object === null ? [] : [object]
    })
  }

  reject(field: Name, problem: string, name: string = field): never {
    const owner = this.#part === "" ? `its ${name}` : `the ${name} of its ${this.#part} ${this.#number}`
    const reason = `${owner} ${problem}`
    this.#stats.recordMistyped(this.#part, field, reason)
    throw new UnusableRow(reason)
  }

  #qualify(field: string) {
    return this.#part === "" ? field : `${this.#part} ${field}`
  }

  #recordOddValue(field: string, value: unknown): null {
    this.#stats.recordOddValue(this.#qualify(field), value)
    return null
  }
}
