/**
 * Payloads of My Market News (MARS) and Datamart (MPR): what an answer must look like before its rows are trusted. Both
 * answer `{ stats, results }`, MARS also an array of one such section each; MPR spells the stats with a trailing colon.
 */
import { PublishedNumber, parseJsonKeepingNumbers } from "@larder/schemas/decimals.ts"
import { Result, Schema } from "effect"
import type { Feed } from "./catalog.ts"
import type { PayloadRow } from "./field.ts"

/** The answer cannot be read as what the service documents. */
export class PayloadUnreadable extends Schema.TaggedError<PayloadUnreadable>()("PayloadUnreadable", {
  feed: Schema.String,
  url: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.feed}: the payload of ${this.url} ${this.problem}. Nothing of this run was published; run again later, or look at the payload.`
  }
}

const Count = Schema.Union([Schema.String, Schema.instanceOf(PublishedNumber)])
const Section = Schema.Struct({
  reportSection: Schema.optionalKey(Schema.NullOr(Schema.String)),
  stats: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.NullOr(Count)))),
  message: Schema.optionalKey(Schema.Unknown),
  results: Schema.optionalKey(Schema.NullOr(Schema.Array(Schema.Unknown)))
})
type Section = typeof Section.Type
const decodeSection = Schema.decodeUnknownResult(Section)

const sectionsIn = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value.filter((section) => section !== null) : [value]

/** A count of the stats, with or without the colon that MPR puts behind its name. */
const countOf = (section: Section, name: string): number | undefined => {
  const value = section.stats?.[name] ?? section.stats?.[`${name}:`]
  return value === null || value === undefined ? undefined : Number(String(value).replaceAll(",", ""))
}

/**
 * Why an answer is not complete: both services cut at their row cap, silently and with status 200. MPR answers one row
 * more than its cap.
 */
const truncation = (section: Section): string | undefined => {
  const returned = countOf(section, "returnedRows")
  const allowed = countOf(section, "userAllowedRows")
  const total = countOf(section, "totalRows")
  if (returned === undefined) return undefined
  if (allowed !== undefined && returned >= allowed) {
    return `was cut at the row cap: ${returned} rows returned, ${allowed} allowed. Read it in parts with --from and --to`
  }
  if (total !== undefined && total > returned) return `was cut: ${returned} of ${total} rows returned`
  return undefined
}

const looksLikeHtml = (text: string) => /^\s*(<!doctype|<html|<\?xml|<[a-z]+[\s>])/i.test(text)

/** The rows of a feed's payload, numbers as printed. Throws `PayloadUnreadable`. */
export const rowsOf = (feed: Feed, url: string, text: string, contentType: string | null): ReadonlyArray<unknown> => {
  const fail = (problem: string): never => {
    throw new PayloadUnreadable({ feed: feed.feed, url, problem })
  }
  if (text.trim() === "") return fail("is empty")
  if (looksLikeHtml(text)) return fail("is an HTML or XML page, not JSON")
  if (contentType !== null && !/json/i.test(contentType)) return fail(`has the content type ${contentType}, not JSON`)
  let value: unknown
  try {
    value = parseJsonKeepingNumbers(text)
  } catch (cause) {
    return fail(`is not whole JSON: ${cause instanceof Error ? cause.message : cause}`)
  }
  const sections = sectionsIn(value).map((section) =>
    Result.getOrElse(decodeSection(section), (error) => fail(`has not the shape {stats, results}: ${error.message}`))
  )
  const section = pick(feed, sections, fail)
  const cut = section === undefined ? undefined : truncation(section)
  if (cut !== undefined) return fail(cut)
  return section?.results ?? []
}

const pick = (feed: Feed, sections: ReadonlyArray<Section>, fail: (problem: string) => never): Section | undefined => {
  const named = sections.find((section) => section.reportSection === feed.section)
  const section = feed.section !== "" && named !== undefined ? named : sections[0]
  if (section === undefined) return undefined
  if (sections.length > 1 && feed.section !== "" && named === undefined) {
    const names = sections.map((other) => other.reportSection ?? "(unnamed)").join(", ")
    return fail(`lacks the section "${feed.section}"; it has: ${names}`)
  }
  // "No Results Found" comes with status 200, a message, and results that are null or absent.
  const isEmptyAnswer = section.message !== undefined || Array.isArray(section.results)
  return isEmptyAnswer ? section : fail("has neither results nor a message")
}

export const isRow = (row: unknown): row is PayloadRow =>
  typeof row === "object" && row !== null && !Array.isArray(row) && !(row instanceof PublishedNumber)
