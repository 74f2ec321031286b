/**
 * Checks that the rows of a payload belong to the requested report: everything that they state about their report is
 * compared with `states` of the catalog. A single row may state nothing about its report, but at least one row must
 * identify it.
 */
import { PublishedNumber } from "@larder/schemas/decimals.ts"
import type { Feed } from "../catalog.ts"
import { fieldsOf, findField, isStated, type PayloadRow, quoted, textOf } from "./field.ts"

/** Words that one report has and another leaves out, for the same place or title. */
const filling = new Set(["and", "of", "the", "u", "s", "us", "united", "states"])

/** `East and Central U.S.` and `Central/East US` are one region: the words in any order, without text in brackets. */
const wordsOf = (text: string) =>
  [
    ...new Set(
      text
        .toLowerCase()
        .replaceAll(/\([^)]*\)/g, " ")
        .match(/[a-z0-9]+/g) ?? []
    )
  ]
    .filter((word) => !filling.has(word))
    .sort()
    .join(" ")

/** The conditions of a feed whose fields the payload has, with these fields. */
const stating = (feed: Feed, fields: ReadonlyArray<string>) =>
  feed.states.flatMap(({ field: name, values }) => {
    const found = findField(fields, name)
    if (found === undefined || "ambiguous" in found) return []
    return [{ field: found.field, values, isNumber: name === "slug_id" }]
  })

/** Fields that identify the report, and whether a cell has a valid type. Report numbers may be texts, too. */
export const identityFields = (feed: Feed, fields: ReadonlyArray<string>) =>
  stating(feed, fields).map(({ field, isNumber }) => ({
    field,
    fits: (cell: unknown) => typeof cell === "string" || (isNumber && cell instanceof PublishedNumber)
  }))

/** Each of these identifies a report; many reports share a region or a commodity. */
const names = ["slug_id", "slug_name", "report_title"]

const isNamed = (fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) =>
  names.some((name) => {
    const found = findField(fields, name)
    return found !== undefined && "field" in found && rows.some((row) => isStated(row[found.field]))
  })

/** Why the rows are not known to belong to the report, or belong to another one; undefined if they match. */
export const otherReport = (feed: Feed, rows: ReadonlyArray<PayloadRow>): string | undefined => {
  if (rows.length > 0 && !isNamed(fieldsOf(rows), rows)) {
    return `no row states the number, the name or the title of its report (${names.join(", ")})`
  }
  for (const { field, isNumber, values } of stating(feed, fieldsOf(rows))) {
    const accepted = new Set(values.map(wordsOf))
    const seen = new Set<string>() // most rows state the same value
    const place = rows.findIndex((row) => {
      const cell = row[field]
      const isText = typeof cell === "string" || (isNumber && cell instanceof PublishedNumber)
      if (!isText || !isStated(cell)) return false
      const text = textOf(cell) ?? ""
      if (seen.has(text)) return false
      seen.add(text)
      return !accepted.has(wordsOf(text))
    })
    if (place === -1) continue
    return `row ${place + 1} states ${field} ${quoted(rows[place]?.[field])}, where ${values.join(" or ")} was asked for`
  }
  return undefined
}
