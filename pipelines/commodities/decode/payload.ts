/**
 * Payloads of My Market News (MARS) and Datamart (MPR): the format that a response must have before its rows are
 * trusted, and how its fields and cells are read. Both return `{ stats, results }`. MARS also returns an array of such
 * objects, one per section. MPR spells the names in `stats` with a trailing colon.
 */
import { PublishedNumber, parseJsonKeepingNumbers } from "@larder/schemas"
import { Result, Schema } from "effect"
import { isPlaceholder } from "../../run/placeholders.ts"
import type { Feed } from "../catalog.ts"

export type PayloadRow = Readonly<Record<string, unknown>>

export class PayloadUnreadable extends Schema.TaggedError<PayloadUnreadable>()("PayloadUnreadable", {
  url: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The payload of ${this.url} ${this.problem}.`
  }
}

const Count = Schema.Union([Schema.String, Schema.instanceOf(PublishedNumber)])
const Section = Schema.Struct({
  reportSection: Schema.optionalKey(Schema.NullOr(Schema.String)),
  reportSections: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.String))),
  stats: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.NullOr(Count)))),
  message: Schema.optionalKey(Schema.Unknown),
  results: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Unknown)))
})
type Section = typeof Section.Type
const decodeSection = Schema.decodeUnknownResult(Section)

type Fail = (problem: string) => never

/** Reads a count of the stats, with or without the colon that MPR adds to its name; undefined if it is not a count. */
const readCount = (section: Section, name: string): number | undefined => {
  const text = String(section.stats?.[name] ?? section.stats?.[`${name}:`] ?? "").replaceAll(",", "")
  return /^\d+$/.test(text) ? Number(text) : undefined
}

/** The `userAllowedRows` that the services state, for responses that do not state it. */
const rowCap = { "gov-mars": 100_000, "gov-mpr": 99_999 }

/** Both services truncate at their row cap, silently and with status 200. MPR returns one row more than its cap. */
const findTruncation = (section: Section, rows: number, cap: number): string | undefined => {
  const returned = Math.max(readCount(section, "returnedRows") ?? 0, rows)
  const allowed = readCount(section, "userAllowedRows") ?? cap
  const total = readCount(section, "totalRows") ?? 0
  if (returned >= allowed) {
    return `was truncated at the row cap: ${returned} rows returned, ${allowed} allowed. Read it in parts with --from and --to`
  }
  return total > returned ? `was truncated: ${returned} of ${total} rows returned` : undefined
}

/** "No Results Found" has status 200, a message, and null or no results. Some responses have only a count of 0. */
const statesNoResults = (section: Section) =>
  /no results/i.test(String(section.message ?? "")) || readCount(section, "returnedRows") === 0

const explainMissingRows = ({ message, results }: Section) => {
  if (message !== undefined) return `contains a message instead of rows: ${JSON.stringify(message)}`
  return Array.isArray(results)
    ? "has no row, and does not state that nothing was found"
    : "has neither results nor a message"
}

const parseJson = (text: string, fail: Fail): unknown => {
  try {
    return parseJsonKeepingNumbers(text)
  } catch (cause) {
    return fail(`is not complete JSON: ${cause instanceof Error ? cause.message : cause}`)
  }
}

const isSameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase()

/** Selects a section by its name, if stated, because rolling and final sections have the same columns. */
const selectSection = (feed: Feed, sections: readonly [Section, ...ReadonlyArray<Section>], fail: Fail): Section => {
  const [first] = sections
  const names = sections.map((section) => section.reportSection ?? "")
  const reported = first.reportSections ?? []
  const quoteNames = (list: ReadonlyArray<string>) => list.map((name) => `"${name}"`).join(", ")
  if (feed.section === "") {
    const found = sections.length > 1 ? names : reported
    return found.length > 1 ? fail(`has several sections, but the report has none: ${quoteNames(found)}`) : first
  }
  const named = sections.find((_, index) => isSameName(names[index] ?? "", feed.section))
  const section = named ?? (sections.length === 1 && names[0] === "" ? first : undefined)
  if (section === undefined) return fail(`lacks the section "${feed.section}"; it has: ${quoteNames(names)}`)
  if (reported.length === 0 || reported.some((name) => isSameName(name, feed.section))) return section
  return fail(`is of a report without the section "${feed.section}"; it has: ${quoteNames(reported)}`)
}

interface ReceivedPayload {
  readonly url: string
  readonly text: string
  readonly content_type: string | null
  /** From a recording or a sample, not from the service itself. */
  readonly isRecorded: boolean
}

export interface Payload {
  readonly url: string
  /** As in the payload, with numbers as printed. */
  readonly rows: ReadonlyArray<unknown>
  /** The number of rows that it says it has; null if it does not say that. */
  readonly rows_stated: number | null
  /** A fault of a payload that is still readable: it contains fewer or more rows than it states. */
  readonly remark: string | undefined
  /** JSON under another content type, which is read: for a warning. */
  readonly otherType: string | undefined
}

const isGzip = (bytes: Uint8Array) => bytes[0] === 0x1f && bytes[1] === 0x8b

export const decodeText = (url: string, bytes: Uint8Array): string => {
  if (isGzip(bytes)) {
    const problem = "is compressed with gzip, which neither its name nor a header states: unpack it, or name it .gz"
    throw new PayloadUnreadable({ url, problem })
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new PayloadUnreadable({ url, problem: "is not valid UTF-8" })
  }
}

/** Parses the rows of a feed's payload. Throws `PayloadUnreadable`. */
export const parseRows = (feed: Feed, { url, text, content_type, isRecorded }: ReceivedPayload): Payload => {
  const fail: Fail = (problem) => {
    throw new PayloadUnreadable({ url, problem })
  }
  if (text.trim() === "") return fail("is empty")
  if (/^\s*</.test(text))
    return fail(
      "is an HTML or XML page, not JSON: a proxy or a captive portal may respond in place of the service; sign in to the network with a browser, or allow the host in the proxy"
    )
  const otherType =
    content_type === null || /json/i.test(content_type)
      ? undefined
      : `has the content type ${content_type}, but is JSON`
  const value = parseJson(text, fail)
  const objects = (Array.isArray(value) ? value : [value]).filter((section) => section !== null)
  const [first, ...others] = objects.map((section) =>
    Result.getOrElse(decodeSection(section), (error) =>
      fail(`does not have the shape {stats, results}: ${error.message}`)
    )
  )
  if (first === undefined) return fail(`has no section: it is ${text.trim().slice(0, 40)}`)
  const section = selectSection(feed, [first, ...others], fail)
  const rows = section.results ?? []
  const truncation = findTruncation(section, rows.length, rowCap[feed.source])
  if (truncation !== undefined) return fail(truncation)
  const rows_stated = readCount(section, "returnedRows") ?? null
  const stated = rows_stated ?? rows.length
  const remark = stated === rows.length ? undefined : `states ${stated} rows and contains ${rows.length}`
  // Recordings truncated by hand keep their counts. A live response with fewer rows than it states is incomplete.
  if (remark !== undefined && !isRecorded && rows.length < stated) return fail(remark)
  if (rows.length === 0 && !statesNoResults(section)) return fail(explainMissingRows(section))
  return { url, rows, rows_stated, remark, otherType }
}

export const isRow = (row: unknown): row is PayloadRow =>
  typeof row === "object" && row !== null && !Array.isArray(row) && !(row instanceof PublishedNumber)

/** Upstream spells keys with spaces and in mixed case: `"weekly Av"`, `lot_Desc`, `published_Date`. */
export const normaliseKey = (key: string) => key.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")

export const listFields = (rows: ReadonlyArray<PayloadRow>): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const row of rows) for (const name of Object.keys(row)) names.add(name)
  return [...names]
}

type FieldMatch = { readonly field: string } | { readonly ambiguous: ReadonlyArray<string> } | undefined

/**
 * Finds the field for a name: the exact match, or otherwise the only field that normalises to the same name. Two such
 * fields, like `"Week Ending Date"` and `week_ending_date`, mean different things.
 */
export const findField = (fields: ReadonlyArray<string>, name: string): FieldMatch => {
  if (fields.includes(name)) return { field: name }
  const similar = fields.filter((field) => normaliseKey(field) === normaliseKey(name))
  if (similar.length > 1) return { ambiguous: similar }
  return similar[0] === undefined ? undefined : { field: similar[0] }
}

export const findOnlyField = (fields: ReadonlyArray<string>, name: string): string | undefined => {
  const match = findField(fields, name)
  return match !== undefined && "field" in match ? match.field : undefined
}

/** Returns a cell as text; undefined if it has no value. Types other than string and number become JSON. */
export const readCell = (cell: unknown): string | undefined => {
  if (cell === null || cell === undefined) return undefined
  if (!isScalar(cell)) return JSON.stringify(cell)
  const text = (cell instanceof PublishedNumber ? cell.token : String(cell)).trim()
  return isPlaceholder(text) ? undefined : text
}

/** Formats a cell for messages: its JSON, at most 60 characters. */
export const quoteCell = (cell: unknown): string => {
  const text = JSON.stringify(cell ?? null)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

export const isStated = (cell: unknown) => readCell(cell) !== undefined

/** Whether a cell is empty, a number or a string, and not an object, an array or a boolean. */
export const isScalar = (cell: unknown) =>
  cell === null || cell === undefined || typeof cell === "string" || cell instanceof PublishedNumber
