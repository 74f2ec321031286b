/**
 * Reads the fields of a row and checks their types. A value of another type rejects its row; it never counts as absent.
 * If all values of a field have another type, in several rows, the feed as a whole is rejected: its source has changed,
 * and nothing else in it can be trusted.
 */
import { isObject, type JsonObject, shownJson } from "./answers.ts"
import { htmlToLine, htmlToText } from "./html-text.ts"
import { countOf, idOf, Unusable } from "./page.ts"
import { decimalText, tidied, utcTime, webAddress } from "./texts.ts"

/** `read` returns undefined for a value of another type, and null for a value that means "not known", such as 0 grams. */
export interface Type<A> {
  /** As the end of the sentence "it is 5, which is no …". */
  readonly what: string
  readonly read: (value: unknown) => A | null | undefined
}

const isText = (value: unknown) => typeof value === "string" || (typeof value === "number" && Number.isFinite(value))
const isNumber = (value: unknown) =>
  (typeof value === "number" && Number.isFinite(value)) ||
  (typeof value === "string" && /^\s*[+-]?(?:\d+\.?\d*|\.\d+)\s*$/.test(value))

const texts = (read: (value: unknown) => string | null): Type<string> => ({
  what: "text",
  read: (value) => (isText(value) ? read(value) : undefined)
})

export const text = texts(tidied)
export const line = texts(htmlToLine)
export const body = texts(htmlToText)
/** An address that no browser would load is null. */
export const address = texts(webAddress)
export const price: Type<string> = { what: "price", read: (value) => decimalText(value) ?? undefined }
export const time: Type<string> = { what: "time", read: (value) => utcTime(value) ?? undefined }
export const id: Type<string> = { what: "id", read: (value) => idOf(value) ?? undefined }
export const flag: Type<boolean> = {
  what: "boolean",
  read: (value) => (typeof value === "boolean" ? value : undefined)
}
export const count: Type<number> = { what: "number", read: (value) => (isNumber(value) ? countOf(value) : undefined) }
/** 0 means "not known". */
export const grams: Type<number> = {
  what: "weight",
  read: (value) => (isNumber(value) ? Number(decimalText(value)) || null : undefined)
}
export const list: Type<ReadonlyArray<unknown>> = {
  what: "list",
  read: (value) => (Array.isArray(value) ? value : undefined)
}
export const object: Type<JsonObject> = { what: "object", read: (value) => (isObject(value) ? value : undefined) }

const isAbsent = (value: unknown) =>
  value === undefined || value === null || (typeof value === "string" && value.trim() === "")

/** If few rows have the field, fewer than this may all be wrong by chance. */
const leastWrong = 3

interface Wrong {
  rows: number
  /** Of the first such row. */
  readonly reason: string
}

/** What is known of the fields of all rows of one feed. Its size does not grow with the number of rows. */
export class Judged {
  #used = 0
  #rejected = 0
  #first: string | undefined
  readonly #right = new Map<string, Set<string>>()
  readonly #wrong = new Map<string, Wrong>()
  readonly #seen = new Set<string>()

  /** Fields, columns or elements that occur in any row, even without a value: `vendor`, `variant sku`. */
  get seen(): ReadonlySet<string> {
    return this.#seen
  }

  saw(field: string) {
    this.#seen.add(field)
  }

  /** Fields that had a value of the right type, in the row itself or in a part of it, such as its variants. */
  rightOf(part: string): Set<string> {
    const known = this.#right.get(part)
    if (known !== undefined) return known
    const fresh = new Set<string>()
    this.#right.set(part, fresh)
    return fresh
  }

  mistyped(part: string, field: string, reason: string) {
    const key = JSON.stringify([part, field])
    const wrong = this.#wrong.get(key) ?? { rows: 0, reason }
    wrong.rows += 1
    this.#wrong.set(key, wrong)
  }

  use() {
    this.#used += 1
  }

  reject(reason: string) {
    this.#rejected += 1
    this.#first ??= reason
  }

  get rejected() {
    return this.#rejected
  }

  /** Why the feed as a whole cannot be trusted; null if it can. Some row must have each field of `needed`. */
  fault(needed: ReadonlyArray<string> = []): string | null {
    if (this.#used === 0) {
      return this.#rejected === 0 ? null : `not one of its ${this.#rejected} rows can be used: ${this.#first}`
    }
    const missing = needed.find((field) => !this.rightOf("").has(field))
    if (missing !== undefined) return `not one of its ${this.#used} rows states a ${missing}`
    for (const [key, { reason, rows }] of this.#wrong) {
      const [part = "", field = ""]: ReadonlyArray<string> = JSON.parse(key)
      if (rows < leastWrong || this.rightOf(part).has(field)) continue
      return `all ${rows} rows that state ${field} state something else: ${reason}`
    }
    return null
  }
}

/** The fields of one row, or of a part of it, such as its second variant. */
export class Fields {
  readonly #judged: Judged
  readonly #part: string
  readonly #number: number
  readonly #right: Set<string>
  readonly #prefix: string

  constructor(judged: Judged, part = "", number = 0) {
    this.#judged = judged
    this.#part = part
    this.#number = number
    this.#right = judged.rightOf(part)
    this.#prefix = part === "" ? "" : `${part} `
  }

  /** Null if there is no value. Fails with `Unusable` for a value of another type. `name` is the name in messages. */
  read<A>(field: string, value: unknown, { read, what }: Type<A>, name = field): A | null {
    if (value !== undefined) this.#judged.saw(this.#prefix + field)
    if (isAbsent(value)) return null
    const found = read(value)
    if (found !== undefined) {
      this.#right.add(field)
      return found
    }
    return this.refuse(field, `is ${shownJson(value).slice(0, 100)}, which is no ${what}`, name)
  }

  /** The objects of a list, which may contain only objects and null. */
  objects(field: string, value: unknown): ReadonlyArray<JsonObject> {
    const entries = this.read(field, value, list) ?? []
    const place = entries.findIndex((entry) => !isObject(entry) && entry !== null)
    if (place === -1) return entries.filter(isObject)
    return this.refuse(field, `holds ${shownJson(entries[place]).slice(0, 100)}, which is no object`)
  }

  refuse(field: string, problem: string, name = field): never {
    const whose = this.#part === "" ? `its ${name}` : `the ${name} of its ${this.#part} ${this.#number}`
    const reason = `${whose} ${problem}`
    this.#judged.mistyped(this.#part, field, reason)
    throw new Unusable(reason)
  }
}
