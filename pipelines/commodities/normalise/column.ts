/**
 * Finds the column of a feed that holds a metric's number, as written in `metrics.tsv`:
 *
 * - `close_price`: the column of that name. `price_min ?`: it may be missing.
 * - `class_1_Price | class_1_base_Price`: exactly one of these names exists.
 * - `weekly Av ~ weekly av`: the only column with numbers whose name contains both words.
 * - `monthly_average ~ only number`: the only column with numbers.
 *
 * The last two are for reports whose columns are not documented. The catalog shows the name before `~` until the first
 * payload shows the real one.
 */
import { numberToken } from "@larder/schemas/decimals.ts"
import type { ColumnRule } from "../catalog.ts"
import { DriftFound, findField, isScalar, normalisedKey, type PayloadRow, textOf } from "../decode/field.ts"

/** Fields that identify rows or date them. A number in them is never a price. */
const keys =
  /(^|_)(id|code|year|date)$|^(report_)?(month|week)$|^(commodity|package|grade|other_grades|quality|application|lot_desc|region|community|category|group)$/

/** Columns whose stated values in these rows are mostly numbers: a single odd cell is a bad row, not a text column. */
const numberColumns = (fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) =>
  fields.filter((field) => {
    const stated = rows.filter((row) => textOf(row[field]) !== undefined)
    const numbers = stated.filter((row) => isScalar(row[field]) && numberToken(textOf(row[field]) ?? "") !== undefined)
    return numbers.length * 2 > stated.length
  })

const one = (candidates: ReadonlyArray<string>, wanted: string, found: ReadonlyArray<string>) => {
  if (candidates.length === 1) return candidates[0]
  const problem =
    candidates.length === 0
      ? `${wanted} is missing`
      : `${wanted} could be ${candidates.join(" or ")}, and guessing between them would publish wrong prices`
  throw new DriftFound({ problem, found: [...found] })
}

/**
 * The column of a rule among the fields of a payload, judged by the rows that the feed's metrics select. Undefined if
 * an optional column is missing, or if the rule needs rows and none is selected. Throws `DriftFound`.
 */
export const resolveColumn = (
  rule: ColumnRule,
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
    return one(distinct, `the column ${rule.by.names.join(" or ")}`, fields)
  }
  if (selected.length === 0) return undefined
  const values = fields.filter((field) => !keys.test(normalisedKey(field)))
  if ("only" in rule.by) return one(numberColumns(values, selected), "the only column with numbers", fields)
  const { words } = rule.by
  const named = values.filter((field) => words.every((word) => normalisedKey(field).includes(word)))
  const isSilent = named.length === 1 && selected.every((row) => textOf(row[named[0] ?? ""]) === undefined)
  return one(
    isSilent ? named : numberColumns(named, selected),
    `the column with numbers whose name contains ${words.join(" and ")}`,
    fields
  )
}
