/** The lines of the tables, before anything is assembled from them. `README.md` explains the columns. */
import { Day, Frequency, Licence, Printed, revisionStatuses, Unit } from "@larder/schemas"
import { Schema } from "effect"
import type { BadLine, Located } from "../../run/files/hand-edited.ts"
import { readTable } from "../../run/files/hand-edited.ts"
import { NoteLine } from "../notes.ts"

const Token = Schema.String.check(Schema.isPattern(/^[a-z0-9]+(_[a-z0-9]+)*$/u))
const Days = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))

export const FeedLine = Schema.Struct({
  feed: Schema.String.check(Schema.isPattern(/^gov-(mars|mpr)\/.+$/u)),
  title: Schema.NonEmptyString,
  path: Schema.NonEmptyString,
  /** The section that the response must be or contain; empty if the report has no sections. */
  section: Schema.String,
  frequency: Frequency,
  /** The weekday on which each period ends; empty unless the report is weekly or biweekly. */
  ending_weekday: Schema.Literals(["", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
  /** See `schemas/commodity/schedule.ts`. */
  publishes_on: Schema.NonEmptyString,
  period: Schema.NonEmptyString,
  revision_status: Schema.Literals([...revisionStatuses, ""]),
  /** The field by which a window of days is requested, in exactly this spelling. */
  window_field: Schema.NonEmptyString,
  /** How many days that field may be from the day of a reading: a year-to-date report begins on 1 January. */
  window_reach_days: Days,
  look_back_days: Days,
  states: Schema.NonEmptyString
})
export type FeedLine = typeof FeedLine.Type

export const MetricLine = Schema.Struct({
  metric_name: Token,
  title: Schema.NonEmptyString,
  product_slug: Schema.NonEmptyString,
  feed: Schema.NonEmptyString,
  where: Schema.String,
  column: Schema.NonEmptyString,
  printed: Printed,
  unit: Unit,
  region: Token,
  market_level: Token,
  freight: Token,
  freight_texts: Schema.String,
  licence: Licence,
  /** The day of the last value of a series that has ended; else empty. */
  ended_on: Schema.Union([Day, Schema.Literal("")])
})
export type MetricLine = typeof MetricLine.Type

const SeriesLine = Schema.Struct({
  slug: Schema.NonEmptyString,
  commodity: Schema.NonEmptyString,
  spec: Schema.String,
  market: Schema.NonEmptyString,
  unit: Schema.Literals(["USD/lb", "USD/cwt"])
})

export const ProductLine = Schema.Struct({
  slug: Schema.String.check(Schema.isPattern(/^[a-z0-9]+(-[a-z0-9]+)*$/u)),
  category: Schema.String.check(Schema.isPattern(/^[a-z0-9-]+(\/[a-z0-9-]+)*$/u)),
  attributes: Schema.String,
  description: Schema.NonEmptyString
})
export type ProductLine = typeof ProductLine.Type

const TextLine = Schema.Struct({
  product_slug: Schema.NonEmptyString,
  field: Schema.NonEmptyString,
  expected: Schema.String,
  contradictions: Schema.String
})
export type TextLine = typeof TextLine.Type

const KnownFieldLine = Schema.Struct({
  source: Schema.Literals(["both", "gov-mars", "gov-mpr"]),
  field: Schema.NonEmptyString
})
export type KnownFieldLine = typeof KnownFieldLine.Type

export interface CatalogLines {
  readonly feeds: ReadonlyArray<Located<FeedLine>>
  readonly metrics: ReadonlyArray<Located<MetricLine>>
  readonly series: ReadonlyArray<Located<typeof SeriesLine.Type>>
  readonly products: ReadonlyArray<Located<ProductLine>>
  readonly notes: ReadonlyArray<Located<typeof NoteLine.Type>>
  readonly texts: ReadonlyArray<Located<TextLine>>
  readonly knownFields: ReadonlyArray<Located<KnownFieldLine>>
}

export type TableName = "feeds" | "metrics" | "notes" | "series" | "products" | "texts" | "known-fields"

/** The lines of the bundled tables, and the faults of single lines. */
export const readLines = (
  readText: (name: TableName) => string
): { readonly lines: CatalogLines; readonly faults: ReadonlyArray<BadLine> } => {
  const faults: Array<BadLine> = []
  const read = <const Fields extends Schema.Struct.Fields>(
    name: TableName,
    struct: Schema.Struct<Fields>,
    ...unique: ReadonlyArray<keyof Schema.Struct<Fields>["Type"] & string>
  ) => {
    const table = readTable(`pipelines/commodities/catalog/${name}.tsv`, readText(name), struct, ...unique)
    faults.push(...table.faults)
    return table.rows
  }
  const lines: CatalogLines = {
    feeds: read("feeds", FeedLine, "feed"),
    metrics: read("metrics", MetricLine, "metric_name", "title"),
    series: read("series", SeriesLine, "slug"),
    products: read("products", ProductLine, "slug"),
    notes: read("notes", NoteLine, "note"),
    texts: read("texts", TextLine),
    knownFields: read("known-fields", KnownFieldLine)
  }
  return { lines, faults }
}
