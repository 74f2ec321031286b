/**
 * Which column of a feed holds a metric's number, as written in `metrics.tsv`:
 *
 * - `close_price`: the column of that name. `price_min ?`: it may be missing.
 * - `class_1_Price | class_1_base_Price`: exactly one of these names is there.
 * - `weekly Av ~ weekly av`: the only column with numbers whose name contains both words.
 * - `monthly_average ~ only number`: the only column with numbers.
 *
 * The last two are for reports whose columns are documented nowhere; the name before `~` stands in the catalog until the
 * first payload tells the real one.
 */
import { numberToken } from "@larder/schemas/decimals.ts"
import { DriftFound, findField, isScalar, normalisedKey, type PayloadRow, textOf } from "./field.ts"

export type ColumnRule = {
  /** What the catalog shows before a payload was read. */
  readonly name: string
  readonly optional: boolean
  readonly by:
    | { readonly names: ReadonlyArray<string> }
    | { readonly words: ReadonlyArray<string> }
    | { readonly only: "number" }
}

export const parseColumn = (text: string): ColumnRule => {
  const optional = text.endsWith("?")
  const [names = "", rule] = text.replace(/\?$/, "").split("~")
  const candidates = names.split("|").map((name) => name.trim())
  const name = candidates[0] ?? ""
  if (rule === undefined) return { name, optional, by: { names: candidates } }
  if (rule.trim() === "only number") return { name, optional, by: { only: "number" } }
  return { name, optional, by: { words: rule.trim().split(/\s+/) } }
}

/** Numeric columns that are keys, not values. */
const isKey = (field: string) => /(^|_)(id|year|code|date|week|month)(_|$)/.test(normalisedKey(field))

/** Columns that hold numbers wherever they hold anything, in these rows. */
const numberColumns = (fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) =>
  fields.filter((field) => {
    if (isKey(field)) return false
    let numbers = 0
    for (const row of rows) {
      const text = textOf(row[field])
      if (text === undefined) continue
      if (!isScalar(row[field]) || numberToken(text) === undefined) return false
      numbers++
    }
    return numbers > 0
  })

const one = (candidates: ReadonlyArray<string>, feed: string, wanted: string, found: ReadonlyArray<string>) => {
  if (candidates.length === 1) return candidates[0]
  const problem =
    candidates.length === 0
      ? `${wanted} is missing`
      : `${wanted} could be ${candidates.join(" or ")}, and guessing between them would publish wrong prices`
  throw new DriftFound({ feed, problem, found: [...found] })
}

/**
 * The column of a rule among the fields of a payload, judged by the rows that the metric selects. Undefined where an
 * optional column is missing, or where no selected row tells. Throws `DriftFound`.
 */
export const resolveColumn = (
  rule: ColumnRule,
  feed: string,
  fields: ReadonlyArray<string>,
  selected: ReadonlyArray<PayloadRow>
): string | undefined => {
  if ("names" in rule.by) {
    const found = rule.by.names.flatMap((name) => {
      const match = findField(fields, name)
      if (match === undefined) return []
      return "field" in match ? [match.field] : match.ambiguous
    })
    const distinct = [...new Set(found)]
    if (distinct.length === 0 && rule.optional) return undefined
    return one(distinct, feed, `the column ${rule.by.names.join(" or ")}`, fields)
  }
  if (selected.length === 0) return undefined
  const numeric = numberColumns(fields, selected)
  if ("only" in rule.by) return one(numeric, feed, "the only column with numbers", fields)
  const { words } = rule.by
  return one(
    numeric.filter((field) => words.every((word) => normalisedKey(field).includes(word))),
    feed,
    `the column with numbers whose name contains ${words.join(" and ")}`,
    fields
  )
}
