/** A line of the catalog of commodities: what a test does not set is null, or "-" if it cannot be null. */
import { catalogMetricTable } from "@larder/warehouse"
import { Option, Schema } from "effect"

const isNullable = (field: Schema.Constraint) =>
  Option.isSome(Schema.decodeUnknownOption(Schema.toType(field) as Schema.Codec<unknown>)(null)) // columns need no services

const empty = Object.fromEntries(
  Object.entries(catalogMetricTable.record.fields).map(([column, field]) => [column, isNullable(field) ? null : "-"])
)

export const aCatalogLine = (line: Readonly<Record<string, string>>) => ({ ...empty, ...line })
