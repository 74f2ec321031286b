/**
 * Whether the rows of a payload are of the requested report. Rows of another report, and strangers in the newest
 * publication, cost the feed: it may be another report under the same address. Older rows under a name that the catalog
 * does not have are rejected alone.
 */
import { PublishedNumber } from "@larder/schemas"
import type { Feed } from "../catalog.ts"
import { findOnlyField, isStated, type PayloadRow, PayloadUnreadable, quoteCell, readCell } from "../decode/payload.ts"
import type { TypedField } from "./drift.ts"
import type { ReportRow } from "./report-rows.ts"

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

/** `MD_DA8*` matches every name that begins with `MD_DA8`, in any case. */
const makeNameTest = (values: ReadonlyArray<string>) => {
  const names = new Set(values.filter((value) => !value.endsWith("*")).map(normaliseName))
  const beginnings = values.filter((value) => value.endsWith("*")).map((value) => value.slice(0, -1).toLowerCase())
  const known = new Map<string, boolean>() // most rows state the same value
  return (text: string) => {
    const accepted =
      known.get(text) ??
      (names.has(normaliseName(text)) || beginnings.some((beginning) => text.toLowerCase().startsWith(beginning)))
    known.set(text, accepted)
    return accepted
  }
}

interface IdentityField extends TypedField {
  readonly name: string
  readonly values: ReadonlyArray<string>
  readonly accepts: (text: string) => boolean
}

/** Returns the fields that identify the report, with their accepted values and types. Its number may also be text. */
export const identityFields = (feed: Feed, fields: ReadonlyArray<string>): ReadonlyArray<IdentityField> =>
  feed.states.flatMap(({ field: name, values }) => {
    const field = findOnlyField(fields, name)
    if (field === undefined) return []
    const fits = (cell: unknown) => typeof cell === "string" || (name === "slug_id" && cell instanceof PublishedNumber)
    return [{ field, name, values, fits, accepts: makeNameTest(values) }]
  })

/** Each of these identifies a report; many reports share a region or a commodity. */
const reportFields = ["slug_id", "slug_name", "report_title"]

/** Returns what a row states about another report; undefined if nothing. A row may state nothing at all. */
type FindStranger = (row: PayloadRow) => IdentityField | undefined

const makeStrangerFinder =
  (identity: ReadonlyArray<IdentityField>): FindStranger =>
  (row) =>
    identity.find(({ accepts, field, fits }) => {
      const text = fits(row[field]) ? readCell(row[field]) : undefined
      return text !== undefined && !accepts(text)
    })

/**
 * Returns the reason for which each strange row is rejected. Throws `PayloadUnreadable` if no row names
 * the report, if a row has the number of another one, if a strange row is in the newest publication, or if all rows of a
 * whole report are strange.
 */
export const findStrangers = (
  feed: Feed,
  url: string,
  fields: ReadonlyArray<string>,
  rows: ReadonlyArray<ReportRow>,
  isNewest: (row: ReportRow) => boolean,
  isPartOfHistory: boolean
): ReadonlyMap<ReportRow, string> => {
  const strangers = new Map<ReportRow, string>()
  if (rows.length === 0) return strangers
  const fail = (reason: string): never => {
    throw new PayloadUnreadable({ url, problem: `is not the requested report: ${reason}` })
  }
  const named = reportFields.flatMap((name) => findOnlyField(fields, name) ?? [])
  if (!named.some((field) => rows.some(({ cells }) => isStated(cells[field])))) {
    fail(`no row states the number, the name or the title of its report (${reportFields.join(", ")})`)
  }
  const findStranger = makeStrangerFinder(identityFields(feed, fields))
  const describe = ({ cells }: ReportRow, { field }: IdentityField) => `${field} ${quoteCell(cells[field])}`
  for (const row of rows) {
    const stranger = findStranger(row.cells)
    if (stranger === undefined) continue
    const expected = stranger.values.join(" or ")
    if (stranger.name === "slug_id" || isNewest(row)) {
      fail(`row ${row.position} states ${describe(row, stranger)}, but ${expected} was requested`)
    }
    strangers.set(row, `it states ${describe(row, stranger)}, which the catalog does not know for this report`)
  }
  const [first] = rows
  if (first !== undefined && strangers.size === rows.length && !isPartOfHistory) {
    const stranger = findStranger(first.cells)
    if (stranger !== undefined) {
      fail(
        `all rows are of another one: row ${first.position} states ${describe(first, stranger)}, but ${stranger.values.join(" or ")} was requested`
      )
    }
  }
  return strangers
}
