/** What a column is, in words, from its field in the record: its comment in SQL, and its line in the dictionary. */
import { annotationOf, codesOf, listCodes } from "@larder/schemas"
import { Schema } from "effect"

export const descriptionOf = (schema: Schema.Constraint): string => Schema.resolveAnnotations(schema)?.description ?? ""

const acceptsNull = (column: Schema.Constraint) => Schema.is(Schema.toType(column))(null)
const saysEmptyList = (description: string) => /`\[\]` if/.test(description)

/**
 * Whether a value can be null. A list that is `[]` if nothing is stated never is, although its column in the file of the
 * data set accepts null.
 */
export const isNullable = (column: Schema.Constraint | undefined): boolean => {
  if (column === undefined || !acceptsNull(column)) return false
  const description = descriptionOf(column)
  return !saysEmptyList(description) || /\bnull\b/i.test(description)
}

const isDay = (column: Schema.Constraint): boolean => {
  const isValue = Schema.is(Schema.toType(column))
  return isValue("2026-01-01") && !isValue("")
}

export interface ColumnWords {
  /** Meaning, codes, and when it is null. */
  readonly meaning: string
  readonly isNullable: boolean
  /** The unit of its numbers, or the zone of its times. */
  readonly unit: string | undefined
  readonly transformation: string | undefined
  /** The column that it refers to, as `schema.table.column`. */
  readonly references: string | undefined
}

const timeZone = (column: Schema.Constraint, description: string) => {
  if (isDay(column)) return undefined
  if (/\bUTC\b/.test(description)) return "UTC"
  return /local time/.test(description) ? "local time" : undefined
}

export const wordsOf = (column: Schema.Constraint): ColumnWords => {
  const description = descriptionOf(column)
  const codes = codesOf(column)
  const areListed = codes.every((code) => description.includes(`\`${code}\``))
  const mayBeNull = isNullable(column)
  return {
    meaning: [
      description,
      ...(areListed ? [] : [`One of ${listCodes(codes, "disjunction")}.`]),
      ...(mayBeNull && !/\bnull\b/i.test(description) ? ["Null if it is not stated."] : [])
    ].join(" "),
    isNullable: mayBeNull,
    unit: annotationOf("unit", column) ?? timeZone(column, description),
    transformation: annotationOf("transformation", column),
    references: annotationOf("references", column)
  }
}

/** A comparison of a time in UTC with `now()` would depend on the time zone of the session. */
export const columnComment = (column: Schema.Constraint): string => {
  const { meaning, references, transformation, unit } = wordsOf(column)
  return [
    meaning,
    ...(transformation === undefined ? [] : [transformation]),
    ...(unit === "UTC" ? ["Compare it with `now() at time zone 'UTC'`."] : []),
    ...(references === undefined ? [] : [`Refers to \`${references}\`.`])
  ].join(" ")
}
