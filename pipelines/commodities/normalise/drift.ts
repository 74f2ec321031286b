/**
 * Detects payloads that differ from what the catalog expects: rows of the requested report, cells of the expected
 * types, one value per day and publication.
 */
import { PublishedNumber } from "@larder/schemas"
import { Schema } from "effect"
import type { Feed } from "../catalog.ts"
import {
  findOnlyField,
  isRow,
  isStated,
  listFields,
  type Payload,
  type PayloadRow,
  PayloadUnreadable,
  quoteCell,
  readCell
} from "../decode/payload.ts"
import type { PriceReading } from "./normalise.ts"

/** The payload is not what the mapping needs, or contradicts itself: upstream has probably changed. */
export class DriftFound extends Schema.TaggedError<DriftFound>()("DriftFound", {
  problem: Schema.String,
  found: Schema.Array(Schema.String)
}) {
  override get message() {
    const found = this.found.length === 0 ? "" : ` The payload has: ${this.found.join(", ")}.`
    return `The report has changed: ${this.problem}.${found}`
  }
}

/** `found`: the fields of the payload, if the message must name them. */
export const makeDrift = (problem: string, found: ReadonlyArray<string> = []) => new DriftFound({ problem, found })

export interface TypedField {
  readonly field: string
  readonly fits: (cell: unknown) => boolean
}

export const findMisfit = (typed: ReadonlyArray<TypedField>, row: PayloadRow): string | undefined =>
  typed.find(({ field, fits }) => isStated(row[field]) && !fits(row[field]))?.field

/** Throws `DriftFound` if every stated value of a column is of another type. */
export const assertTypes = (typed: ReadonlyArray<TypedField>, rows: ReadonlyArray<PayloadRow>) => {
  for (const { field, fits } of typed) {
    const stated = rows.filter((row) => isStated(row[field]))
    if (stated.length === 0 || stated.some((row) => fits(row[field]))) continue
    throw makeDrift(
      `the column ${field} contains only values of another type, such as ${quoteCell(stated[0]?.[field])}`
    )
  }
}

/** Words that the name of a place or a title may omit. */
const optionalWords = new Set(["and", "of", "the", "u", "s", "us", "united", "states"])

/** `East and Central U.S.` and `Central/East US` are one region: the words in any order, without text in brackets. */
const normaliseName = (text: string) => {
  const words = text
    .toLowerCase()
    .replaceAll(/\([^)]*\)/g, " ")
    .match(/[a-z0-9]+/g)
  return [...new Set(words)]
    .filter((word) => !optionalWords.has(word))
    .sort()
    .join(" ")
}

/** Returns the fields that identify the report, with their accepted values and types. Its number may also be text. */
export const identityFields = (feed: Feed, fields: ReadonlyArray<string>) =>
  feed.states.flatMap(({ field: name, values }) => {
    const field = findOnlyField(fields, name)
    if (field === undefined) return []
    const fits = (cell: unknown) => typeof cell === "string" || (name === "slug_id" && cell instanceof PublishedNumber)
    return [{ field, values, fits }]
  })

/** Each of these identifies a report; many reports share a region or a commodity. */
const reportFields = ["slug_id", "slug_name", "report_title"]

/**
 * Everything that the rows state about their report must be in `states` of the catalog. A single row may state nothing,
 * but at least one row must identify the report. Throws `PayloadUnreadable`.
 */
export const assertReport = (feed: Feed, { url, ...payload }: Payload) => {
  const rows = payload.rows.filter(isRow)
  const fields = listFields(rows)
  const toError = (reason: string) => new PayloadUnreadable({ url, problem: `is not the requested report: ${reason}` })
  const named = reportFields.flatMap((name) => findOnlyField(fields, name) ?? [])
  if (rows.length > 0 && !named.some((field) => rows.some((row) => isStated(row[field])))) {
    throw toError(`no row states the number, the name or the title of its report (${reportFields.join(", ")})`)
  }
  for (const { field, fits, values } of identityFields(feed, fields)) {
    const accepted = new Set(values.map(normaliseName))
    const checked = new Set<string>() // most rows state the same value
    for (const [index, row] of rows.entries()) {
      const text = fits(row[field]) ? readCell(row[field]) : undefined
      if (text === undefined || checked.has(text)) continue
      checked.add(text)
      if (accepted.has(normaliseName(text))) continue
      const expected = values.join(" or ")
      throw toError(`row ${index + 1} states ${field} ${quoteCell(row[field])}, but ${expected} was requested`)
    }
  }
}

/** `1.40` and `1.4` are one value. */
const trimZeros = (token: string) => (token.includes(".") ? token.replace(/\.?0+$/, "") : token)

/** Throws `DriftFound` if two rows state different values for a metric, day and publication: either may be right. */
export const assertOneValue = (readings: ReadonlyArray<PriceReading>) => {
  const known = new Map<string, PriceReading>()
  for (const reading of readings) {
    const key = `${reading.metric_name} ${reading.observed_on} ${reading.published_at}`
    const before = known.get(key) ?? reading
    known.set(key, before)
    if (trimZeros(before.value_text) === trimZeros(reading.value_text)) continue
    const problem = `row ${reading.source_row} contradicts row ${before.source_row}: ${reading.metric_name} of ${reading.observed_on} is ${before.value_text} there and ${reading.value_text} here, in one publication`
    throw makeDrift(problem)
  }
}
