/**
 * Fields of payload rows. Upstream spells keys with spaces and in mixed case (`"weekly Av"`, `lot_Desc`,
 * `published_Date`), so they are looked up by exact name first and then by normalised name. Two keys that normalise to
 * the same name, such as `"Week Ending Date"` and `week_ending_date`, mean different things and are never confused.
 */
import { PublishedNumber } from "@larder/schemas/decimals.ts"
import { Schema } from "effect"

export type PayloadRow = Readonly<Record<string, unknown>>

/** The payload does not have what the mapping needs: upstream has changed. */
export class DriftFound extends Schema.TaggedError<DriftFound>()("DriftFound", {
  problem: Schema.String,
  found: Schema.Array(Schema.String)
}) {
  override get message() {
    const found = this.found.length === 0 ? "" : ` The payload has: ${this.found.join(", ")}.`
    return `The report has changed: ${this.problem}.${found}`
  }
}

export const normalisedKey = (key: string) => key.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")

/** Names of the fields that occur in any row, in order of appearance. */
export const fieldsOf = (rows: ReadonlyArray<PayloadRow>): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const row of rows) for (const name of Object.keys(row)) names.add(name)
  return [...names]
}

export type Found = { readonly field: string } | { readonly ambiguous: ReadonlyArray<string> } | undefined

/** The field for a name: the exact match, or otherwise the only field that normalises to the same name. */
export const findField = (fields: ReadonlyArray<string>, name: string): Found => {
  if (fields.includes(name)) return { field: name }
  const alike = fields.filter((field) => normalisedKey(field) === normalisedKey(name))
  if (alike.length > 1) return { ambiguous: alike }
  return alike[0] === undefined ? undefined : { field: alike[0] }
}

/** A cell as text; undefined if it is absent, null, empty or "N/A". Other types than text and number become JSON. */
export const textOf = (cell: unknown): string | undefined => {
  if (cell === null || cell === undefined) return undefined
  if (!isScalar(cell)) return JSON.stringify(cell)
  const text = (cell instanceof PublishedNumber ? cell.token : String(cell)).trim()
  return text === "" || /^n\/a$/i.test(text) ? undefined : text
}

/** A cell for messages: its JSON, at most 60 characters. */
export const quoted = (cell: unknown): string => {
  const text = JSON.stringify(cell ?? null)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

export const isStated = (cell: unknown) => textOf(cell) !== undefined

/** Whether a cell can hold a number or a text: objects, arrays and booleans cannot. */
export const isScalar = (cell: unknown) =>
  cell === null || cell === undefined || typeof cell === "string" || cell instanceof PublishedNumber
