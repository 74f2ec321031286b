/** A row of `commodity.metric` as a run stages it: what a test does not set is null, or else "-" or 0. */
import { metricTable } from "@larder/warehouse"
import { isNullable } from "@larder/warehouse/tables/column-comments.ts"
import { Schema } from "effect"

const emptyValue = (field: Schema.Constraint) => {
  if (isNullable(field)) return null
  return Schema.is(Schema.toType(field))(0) ? 0 : "-"
}

const empty = Object.fromEntries(
  Object.entries(metricTable.record.fields).map(([column, field]) => [column, emptyValue(field)])
)

export const aCatalogLine = (line: Readonly<Record<string, string>>) => ({ ...empty, ...line })
