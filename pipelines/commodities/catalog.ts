/**
 * The commodity catalog assigns the numbers of reports to metrics. It is data, in tab-separated tables under `catalog/`;
 * a new metric is a new line in `metrics.tsv`. `catalog/README.md` explains the columns.
 */
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import {
  Day,
  Frequency,
  findScheduleFault,
  Licence,
  Printed,
  type RevisionStatus,
  revisionStatuses,
  Unit
} from "@larder/schemas"
import { Schema } from "effect"
import { BadLine, type Located, parseTable } from "../run/files/hand-edited.ts"
import { type Condition, isIncomplete, parseConditions, parsePair, splitTrimmed } from "./conditions.ts"
import { commodityMappingVersion } from "./mapping-version.ts"
import { appliesTo, type Note, NoteLine, parseNote } from "./notes.ts"

export interface Feed extends Omit<typeof FeedLine.Type, "path" | "period" | "revision_status" | "states"> {
  readonly source: "gov-mars" | "gov-mpr"
  /** Paths below the service's base address. A later path is requested if an earlier one does not exist. */
  readonly paths: ReadonlyArray<string>
  readonly period: PeriodKey
  /** Null if the report has no section of final values. */
  readonly revision_status: RevisionStatus | null
  readonly states: ReadonlyArray<Condition>
  readonly metrics: ReadonlyArray<CatalogMetric>
  /** Fields in lower case that need no warning: the service is known to send them in addition to the mapped ones. */
  readonly knownFields: ReadonlySet<string>
  /** Changes with everything that determines which values are read from the feed. */
  readonly mapping_sha256: string
}

export type PeriodKey =
  | { readonly kind: "day"; readonly field: string; readonly isExact: boolean }
  /** The Friday of the week of a day: of the first field, or of the second one where the first states none. */
  | { readonly kind: "friday"; readonly fields: readonly [string, string] }
  | {
      readonly kind: "month"
      readonly month: string
      readonly year: string
      /** Whether `year` names a field with a whole day. */
      readonly isYearOfDay: boolean
      /** Whether it is the month after the publication. Then `month` must name that month or the one of publication. */
      readonly isAfterPublication: boolean
    }

/** Texts of a field that a product is known to have, and texts that contradict it. */
interface ProductTexts {
  readonly field: string
  readonly expected: ReadonlyArray<string>
  readonly contradictions: ReadonlyArray<string>
}

export interface CatalogMetric
  extends Omit<typeof MetricLine.Type, "feed" | "where" | "column" | "freight_texts" | "ended_on"> {
  readonly feeds: ReadonlyArray<string>
  readonly where: ReadonlyArray<Condition>
  readonly column: ColumnRule
  /** Accepted texts of the field `freight`, which may also state nothing. */
  readonly freightTexts: ReadonlyArray<string>
  readonly ended_on: string | null
  readonly texts: ReadonlyArray<ProductTexts>
}

/** How to find the column of a metric: by one of several names, by words of a name, or as the only one with numbers. */
export interface ColumnRule {
  /** The name that the catalog shows until a payload has been read. */
  readonly name: string
  readonly isOptional: boolean
  readonly by:
    | { readonly names: ReadonlyArray<string> }
    | { readonly words: ReadonlyArray<string> }
    | { readonly only: "number" }
}

const Days = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))
const FeedLine = Schema.Struct({
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
const MetricLine = Schema.Struct({
  metric_name: Schema.String.check(Schema.isPattern(/^[a-z0-9]+(_[a-z0-9]+)*$/u)),
  title: Schema.NonEmptyString,
  product_slug: Schema.NonEmptyString,
  feed: Schema.NonEmptyString,
  where: Schema.String,
  column: Schema.NonEmptyString,
  printed: Printed,
  unit: Unit,
  region: Schema.NonEmptyString,
  market_level: Schema.NonEmptyString,
  freight: Schema.NonEmptyString,
  freight_texts: Schema.String,
  licence: Licence,
  /** The day of the last value of a series that has ended; else empty. */
  ended_on: Schema.Union([Day, Schema.Literal("")])
})
const SeriesLine = Schema.Struct({
  slug: Schema.NonEmptyString,
  commodity: Schema.NonEmptyString,
  spec: Schema.String,
  market: Schema.NonEmptyString,
  unit: Schema.Literals(["USD/lb", "USD/cwt"])
})
const ProductLine = Schema.Struct({
  slug: Schema.NonEmptyString,
  category: Schema.String.check(Schema.isPattern(/^[a-z0-9-]+(\/[a-z0-9-]+)*$/u)),
  attributes: Schema.String,
  description: Schema.NonEmptyString
})
const TextLine = Schema.Struct({
  product_slug: Schema.NonEmptyString,
  field: Schema.NonEmptyString,
  expected: Schema.String,
  contradictions: Schema.String
})
const KnownFieldLine = Schema.Struct({
  source: Schema.Literals(["both", "gov-mars", "gov-mpr"]),
  field: Schema.NonEmptyString
})

/**
 * `report_date`, `exactly Week Ending Date`, `friday of report_begin_date, else report_end_date`, or
 * `report_month, year of report_end_date`
 */
export const parsePeriod = (text: string): PeriodKey => {
  const [first = "", second, third] = splitTrimmed(text, ",")
  if (first.startsWith("friday of ")) {
    return { kind: "friday", fields: [first.replace(/^friday of /, ""), (second ?? "").replace(/^else /, "")] }
  }
  if (second === undefined) {
    return { kind: "day", field: first.replace(/^exactly /, ""), isExact: first.startsWith("exactly ") }
  }
  return {
    kind: "month",
    month: first,
    year: second.replace(/^year of /, ""),
    isYearOfDay: second.startsWith("year of "),
    isAfterPublication: third === "month after publication"
  }
}

/** `close_price`, `price_min ?`, `class_1_Price | class_1_base_Price`, or `weekly Av ~ weekly av` */
export const parseColumn = (text: string): ColumnRule => {
  const isOptional = text.endsWith("?")
  const [names = "", rule] = splitTrimmed(text.replace(/\?$/, ""), "~")
  const candidates = splitTrimmed(names, "|")
  const name = candidates[0] ?? ""
  if (rule === undefined) return { name, isOptional, by: { names: candidates } }
  if (rule === "only number") return { name, isOptional, by: { only: "number" } }
  return { name, isOptional, by: { words: rule.split(/\s+/) } }
}

export type TableName = "feeds" | "metrics" | "notes" | "series" | "products" | "texts" | "known-fields"
const tableFile = (name: TableName) => `pipelines/commodities/catalog/${name}.tsv`

const badCell = (name: TableName, line: number, column: string, problem: string) =>
  new BadLine({ file: tableFile(name), line, column, problem })

type TextLines = ReadonlyArray<typeof TextLine.Type>

const isTextOf = (product: string) => (line: typeof TextLine.Type) =>
  splitTrimmed(line.product_slug, "|").includes(product)

/** Lines of several fields, and several lines of one field. */
const joinTexts = (lines: TextLines): ReadonlyArray<ProductTexts> => {
  const single = lines.flatMap(({ field, ...line }) =>
    splitTrimmed(field, "|").map((name) => ({ ...line, field: name }))
  )
  return [...Map.groupBy(single, ({ field }) => field)].map(([field, group]) => ({
    field,
    expected: group.flatMap(({ expected }) => splitTrimmed(expected, "|")),
    contradictions: group.flatMap(({ contradictions }) => splitTrimmed(contradictions, "|"))
  }))
}

const parseMetric =
  (texts: TextLines) =>
  ({ freight_texts, ...row }: typeof MetricLine.Type): CatalogMetric => ({
    ...row,
    feeds: splitTrimmed(row.feed, "|"),
    where: parseConditions(row.where),
    column: parseColumn(row.column),
    freightTexts: splitTrimmed(freight_texts, "|"),
    ended_on: row.ended_on === "" ? null : row.ended_on,
    texts: joinTexts(texts.filter(isTextOf(row.product_slug)))
  })

/** Covers everything that determines which values are read from a feed: the code, and its lines without texts, schedules and licences. */
const hashMapping = (
  { ending_weekday: _weekday, publishes_on: _schedule, ...feed }: typeof FeedLine.Type,
  metricRows: ReadonlyArray<typeof MetricLine.Type>,
  textRows: TextLines
): string => {
  const metrics = metricRows.map(
    ({ ended_on: _ended, licence: _licence, printed: _printed, title: _title, ...row }) => row
  )
  const texts = textRows.filter((line) => metricRows.some(({ product_slug }) => isTextOf(product_slug)(line)))
  return hash("sha256", JSON.stringify({ mappingVersion: commodityMappingVersion, feed, metrics, texts }), "hex")
}

/** Conditions of the same field are one condition with the values of all. */
const joinConditions = (conditions: ReadonlyArray<Condition>): ReadonlyArray<Condition> =>
  [...Map.groupBy(conditions, ({ field }) => field)].map(([field, group]) => ({
    field,
    values: group.flatMap(({ values }) => values)
  }))

/** Throws `BadLine` for a schedule that does not suit the frequency of its report. */
const assertSchedules = (feeds: ReadonlyArray<Located<typeof FeedLine.Type>>) => {
  for (const { line, row } of feeds) {
    const fault = findScheduleFault(row.publishes_on, row.frequency)
    if (fault !== undefined) throw badCell("feeds", line, "publishes_on", fault)
  }
}

const parseFeed = (
  row: typeof FeedLine.Type,
  metrics: ReadonlyArray<typeof MetricLine.Type>,
  texts: TextLines,
  known: ReadonlyArray<typeof KnownFieldLine.Type>
): Feed => {
  const { path, period, revision_status, states, ...line } = row
  const source = row.feed.startsWith("gov-mars/") ? "gov-mars" : "gov-mpr"
  const feedMetrics = metrics.filter((metric) => splitTrimmed(metric.feed, "|").includes(row.feed))
  const knownFields = known.filter((field) => field.source === "both" || field.source === source)
  return {
    ...line,
    source,
    paths: splitTrimmed(path, "|"),
    period: parsePeriod(period),
    revision_status: revision_status === "" ? null : revision_status,
    states: joinConditions([
      { field: "slug_id", values: [row.feed.split("/")[1] ?? ""] },
      { field: "report_title", values: [row.title] },
      ...parseConditions(states)
    ]),
    metrics: feedMetrics.map(parseMetric(texts)),
    knownFields: new Set(knownFields.map(({ field }) => field)),
    mapping_sha256: hashMapping(row, feedMetrics, texts)
  }
}

/** Throws `BadLine` for an unknown name: a mistyped name would leave its metric empty. */
const assertNames = (
  metrics: ReadonlyArray<Located<typeof MetricLine.Type>>,
  feeds: ReadonlyArray<Located<typeof FeedLine.Type>>,
  products: ReadonlyArray<Located<typeof ProductLine.Type>>,
  texts: ReadonlyArray<Located<typeof TextLine.Type>>
) => {
  const feedNames = new Set(feeds.map(({ row }) => row.feed))
  const slugs = new Set(products.map(({ row }) => row.slug))
  const assertConditions = (name: TableName, line: number, column: string, text: string) => {
    if (!parseConditions(text).some(isIncomplete)) return
    throw badCell(name, line, column, "it has a condition that is not field=value")
  }
  for (const { line, row } of metrics) {
    const feed = splitTrimmed(row.feed, "|").find((name) => !feedNames.has(name))
    if (feed !== undefined) throw badCell("metrics", line, "feed", `${feed} is not in feeds.tsv`)
    if (!slugs.has(row.product_slug)) {
      throw badCell("metrics", line, "product_slug", `${row.product_slug} is not in products.tsv`)
    }
    assertConditions("metrics", line, "where", row.where)
  }
  for (const { line, row } of feeds) {
    assertConditions("feeds", line, "states", row.states)
    const hasWeekday = row.frequency === "weekly" || row.frequency === "biweekly"
    if (hasWeekday !== (row.ending_weekday !== "")) {
      throw badCell("feeds", line, "ending_weekday", "weekly and biweekly feeds have a weekday, and no others")
    }
  }
  for (const { line, row } of texts) {
    const slug = splitTrimmed(row.product_slug, "|").find((name) => !slugs.has(name))
    if (slug !== undefined) throw badCell("texts", line, "product_slug", `${slug} is not in products.tsv`)
  }
}

/** Throws `BadLine` for a note that applies to no metric: its condition would be mistyped. */
const assertNotes = (
  notes: ReadonlyArray<Located<Note>>,
  metrics: ReadonlyArray<CatalogMetric>,
  feeds: ReadonlyMap<string, Feed>
) => {
  const applies = (note: Note) =>
    metrics.some((metric) =>
      metric.feeds.some((name) => {
        const feed = feeds.get(name)
        return feed !== undefined && appliesTo(note, metric, feed)
      })
    )
  const useless = notes.find(({ row }) => !applies(row))
  if (useless !== undefined) throw badCell("notes", useless.line, "applies_to", "it applies to no metric")
}

export const parseCatalog = (readText: (name: TableName) => string) => {
  const parse = <const Fields extends Schema.Struct.Fields>(
    name: TableName,
    struct: Schema.Struct<Fields>,
    ...unique: ReadonlyArray<keyof Fields & string>
  ) => parseTable(tableFile(name), readText(name), struct, ...unique)
  const feedLines = parse("feeds", FeedLine, "feed")
  const metricLines = parse("metrics", MetricLine, "metric_name", "title")
  const seriesLines = parse("series", SeriesLine, "slug")
  const productLines = parse("products", ProductLine, "slug")
  const noteLines = parse("notes", NoteLine, "note").map(({ line, row }) => ({ line, row: parseNote(row) }))
  const textLines = parse("texts", TextLine)
  const knownFields = parse("known-fields", KnownFieldLine).map(({ row }) => row)
  assertNames(metricLines, feedLines, productLines, textLines)
  assertSchedules(feedLines)
  const texts = textLines.map(({ row }) => row)
  const metricRows = metricLines.map(({ row }) => row)
  const feeds = feedLines.map(({ row }) => parseFeed(row, metricRows, texts, knownFields))
  const metrics = metricRows.map(parseMetric(texts))
  const names = new Set(metrics.map(({ metric_name }) => metric_name))
  const feedsByName = new Map(feeds.map((feed) => [feed.feed, feed]))
  assertNotes(noteLines, metrics, feedsByName)
  return {
    feeds,
    feedsByName,
    metrics,
    notes: noteLines.map(({ row }) => row),
    /** The 24 curated series. Each is the metric that is named like its slug, with underscores. */
    series: seriesLines.map(({ line, row }) => {
      const metric_name = row.slug.replaceAll("-", "_")
      if (!names.has(metric_name)) throw badCell("series", line, "slug", `${metric_name} is not in metrics.tsv`)
      return { ...row, spec: row.spec === "" ? null : row.spec, metric_name }
    }),
    products: productLines.map(({ row }) => ({
      slug: row.slug,
      category: row.category,
      attributes: Object.fromEntries(splitTrimmed(row.attributes, ";").map(parsePair)),
      details: { description: row.description }
    }))
  }
}
export type Catalog = ReturnType<typeof parseCatalog>

let loaded: Catalog | undefined

/** The catalog of this version, read once. Throws `BadLine`. */
export const catalog = (): Catalog => {
  loaded ??= parseCatalog((name) => readFileSync(new URL(`./catalog/${name}.tsv`, import.meta.url), "utf8"))
  return loaded
}
