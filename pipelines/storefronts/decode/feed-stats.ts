/**
 * Statistics of the fields in the rows of one feed. If all values of a key or substance have another type, in several
 * rows, the whole feed is rejected: its source has changed, and nothing else in it can be trusted.
 */
import type { OddValue } from "../../run/odd-values.ts"
import { thresholds } from "../../run/thresholds.ts"
import { formatJson } from "./responses.ts"

/** Characters of an odd value that are kept until it is counted. */
const maxSaid = 1000

interface Mistyped {
  rows: number
  readonly reason: string
}

/** A value of an optional field that was not understood, so the field is null. */
export type FeedOddValue = Pick<OddValue, "field" | "said">

/** Names of the fields of a row, or of a part of it, such as its variants. */
interface FieldNames {
  /** Fields, columns or elements that occur in any row, even without a value. */
  readonly seen: Set<string>
  /** Fields that had a value of the right type. */
  readonly typed: Set<string>
}

/** A field in messages and reports: `vendor`, `variant sku`. */
export const qualifyField = (part: string, field: string) => (part === "" ? field : `${part} ${field}`)

/** Their size does not grow with the number of rows. */
export class FeedStats {
  #usedCount = 0
  #rejectCount = 0
  #firstReason: string | undefined
  readonly #parts = new Map<string, FieldNames>()
  readonly #mistyped = new Map<string, Mistyped>()
  #currencyConflict: string | null = null
  #saleChange = Number.POSITIVE_INFINITY
  #oddValues: Array<FeedOddValue> = []

  /** The qualified names of all that are seen. */
  get fieldsSeen(): ReadonlySet<string> {
    return new Set([...this.#parts].flatMap(([part, { seen }]) => [...seen].map((field) => qualifyField(part, field))))
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
    this.fieldsOf("").seen.add(field)
  }

  /** The names are per part: qualifying each field of each variant takes longer than reading it. */
  fieldsOf(part: string): FieldNames {
    const names = this.#parts.get(part)
    if (names !== undefined) return names
    const noNames: FieldNames = { seen: new Set(), typed: new Set() }
    this.#parts.set(part, noNames)
    return noNames
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
    const missing = required.find((field) => !this.fieldsOf("").typed.has(field))
    if (missing !== undefined) return `none of its ${this.#usedCount} rows has a ${missing}`
    for (const [key, { reason, rows }] of this.#mistyped) {
      const [part = "", field = ""]: ReadonlyArray<string> = JSON.parse(key)
      if (!thresholds.mistypedRows.isMetBy(rows) || this.fieldsOf(part).typed.has(field)) continue
      return `all ${rows} rows with a value in ${field} have one of another type there: ${reason}`
    }
    return null
  }
}
