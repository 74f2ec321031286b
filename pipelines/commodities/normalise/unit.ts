/** The unit that a row states for its prices, to compare with the catalog's: per ton is not per pound. */
import { findField, type PayloadRow, textOf } from "../decode/field.ts"

/** The order matters: "Dollars per 100 Pounds" is not a price per pound. Other words state no unit. */
const wordings: ReadonlyArray<readonly [RegExp, unit: string]> = [
  [/\bbasis\b/i, "usd_per_lb_basis"],
  [/\bcents?\b/i, "cents"],
  [/\bton(ne)?s?\b/i, "usd_per_metric_ton"],
  [/\bcwt\b|hundredweight|\b100 (lbs?|pounds?)\b/i, "usd_per_cwt"],
  [/\blbs?\b|\bpounds?\b/i, "usd_per_lb"]
]

/** Reads the unit of a row; undefined if it states no known unit. */
export const unitReader = (fields: ReadonlyArray<string>) => {
  const found = findField(fields, "price_unit")
  return (row: PayloadRow): { readonly unit: string; readonly stated: string } | undefined => {
    const text = found !== undefined && "field" in found ? textOf(row[found.field]) : undefined
    const unit = wordings.find(([words]) => words.test(text ?? ""))?.[1]
    return text === undefined || unit === undefined ? undefined : { unit, stated: text }
  }
}
