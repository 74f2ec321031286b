/**
 * The commodity catalog: which number of which report belongs to which metric. It is data, in four tab-separated tables
 * under `catalog/`; a new metric is a new line in `metrics.tsv`. `catalog/README.md` explains the columns.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Frequency, Licence } from "@larder/schemas"
import { Schema } from "effect"
import { assertUnique, BadLine, type Located, linesOf } from "../run/files/hand-edited.ts"
import { commodityMappingVersion } from "./mapping-version.ts"

/** One section of a report, as the service returns it. */
export interface Feed {
  readonly feed: string
  readonly source: "gov-mars" | "gov-mpr"
  readonly title: string
  /** Paths below the service's base address. A later path is requested if an earlier one does not exist. */
  readonly paths: ReadonlyArray<string>
  /** The section that the answer must be or contain; empty if the report has no sections. */
  readonly section: string
  readonly frequency: Frequency
  readonly period: PeriodKey
  readonly final: boolean
  /** The field by which a window of days is requested, in exactly this spelling. */
  readonly windowField: string
  /** How many days that field may be from the day of a reading: a year-to-date report begins on 1 January. */
  readonly windowReachDays: number
  /** Days that every run reads again, because reports are revised. */
  readonly lookBackDays: number
  /** Fields that identify the report of a row, and their accepted values. */
  readonly states: ReadonlyArray<Condition>
  readonly metrics: ReadonlyArray<CatalogMetric>
  /** Changes with everything that determines what is read from the feed. */
  readonly mapping_sha256: string
}

/** The field of the day, or the fields of the month and its year. */
export type PeriodKey =
  | { readonly kind: "day"; readonly field: string; readonly exactly: boolean }
  | {
      readonly kind: "month"
      readonly month: string
      readonly year: string
      /** `year` names a field with a whole day. */
      readonly yearOfDay: boolean
      readonly announcedAhead: boolean
    }

/** A field and its accepted values. */
export interface Condition {
  readonly field: string
  readonly values: ReadonlyArray<string>
}

export interface CatalogMetric {
  readonly metric_name: string
  readonly product_slug: string
  readonly feeds: ReadonlyArray<string>
  /** A row belongs to the metric if all conditions hold. */
  readonly where: ReadonlyArray<Condition>
  readonly column: ColumnRule
  readonly unit: string
  readonly region: string
  readonly market_level: string
  readonly freight: string
  readonly licence: Licence
}

/** How to find the column: by names of which exactly one exists, by words in its name, or as the only one with numbers. */
export interface ColumnRule {
  /** What the catalog shows until a payload has been read. */
  readonly name: string
  readonly optional: boolean
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
  section: Schema.String,
  frequency: Frequency,
  period: Schema.NonEmptyString,
  values: Schema.Literals(["provisional", "final"]),
  window_field: Schema.NonEmptyString,
  window_reach_days: Days,
  look_back_days: Days,
  states: Schema.NonEmptyString
})
const MetricLine = Schema.Struct({
  metric_name: Schema.String.check(Schema.isPattern(/^[a-z0-9]+(_[a-z0-9]+)*$/u)),
  product_slug: Schema.NonEmptyString,
  feed: Schema.NonEmptyString,
  where: Schema.String,
  column: Schema.NonEmptyString,
  unit: Schema.Literals(["usd_per_lb", "usd_per_cwt", "usd_per_metric_ton", "usd_per_lb_basis"]),
  region: Schema.NonEmptyString,
  market_level: Schema.NonEmptyString,
  freight: Schema.NonEmptyString,
  licence: Licence
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

const parts = (text: string, by: string) => (text === "" ? [] : text.split(by).map((part) => part.trim()))
const pair = (text: string): [string, string] => {
  const [name = "", value = ""] = parts(text, "=")
  return [name, value]
}

/** `field=value; field=value|value` */
const conditionsOf = (text: string): ReadonlyArray<Condition> =>
  parts(text, ";").map((condition) => {
    const [field, values] = pair(condition)
    return { field, values: parts(values, "|") }
  })
const isIncomplete = ({ field, values }: Condition) => field === "" || values.length === 0 || values.includes("")

/** `report_date`, `exactly Week Ending Date`, or `report_month, year of report_end_date` */
export const parsePeriod = (text: string): PeriodKey => {
  const [first = "", second, third] = parts(text, ",")
  if (second === undefined) {
    return { kind: "day", field: first.replace(/^exactly /, ""), exactly: first.startsWith("exactly ") }
  }
  return {
    kind: "month",
    month: first,
    year: second.replace(/^year of /, ""),
    yearOfDay: second.startsWith("year of "),
    announcedAhead: third === "announced ahead"
  }
}

/** `close_price`, `price_min ?`, `class_1_Price | class_1_base_Price`, or `weekly Av ~ weekly av` */
export const parseColumn = (text: string): ColumnRule => {
  const optional = text.endsWith("?")
  const [names = "", rule] = parts(text.replace(/\?$/, ""), "~")
  const candidates = parts(names, "|")
  const name = candidates[0] ?? ""
  if (rule === undefined) return { name, optional, by: { names: candidates } }
  if (rule === "only number") return { name, optional, by: { only: "number" } }
  return { name, optional, by: { words: rule.split(/\s+/) } }
}

/** A table of the catalog, by its file name without `.tsv`. */
export type TableName = "feeds" | "metrics" | "series" | "products"
const fileOf = (name: TableName) => `pipelines/commodities/catalog/${name}.tsv`

const wrong = (name: TableName, line: number, column: string, problem: string) =>
  new BadLine({ file: fileOf(name), line, column, problem })

/** What determines the numbers of a metric: not its licence. */
const withoutLicence = ({ licence: _, ...row }: typeof MetricLine.Type) => row

type LineOf<S extends { readonly Type: unknown }> = Located<S["Type"]>

const metricOf = ({ row }: LineOf<typeof MetricLine>): CatalogMetric => ({
  ...row,
  feeds: parts(row.feed, "|"),
  where: conditionsOf(row.where),
  column: parseColumn(row.column)
})

/** SHA-256 of everything that determines what is read from a feed: its lines, and the version of the code. */
const mappingHash = (feed: LineOf<typeof FeedLine>, metrics: ReadonlyArray<LineOf<typeof MetricLine>>): string =>
  createHash("sha256")
    .update(
      JSON.stringify({
        mappingVersion: commodityMappingVersion,
        feed: feed.row,
        metrics: metrics.map(({ row }) => withoutLicence(row))
      })
    )
    .digest("hex")

const feedOf = (feed: LineOf<typeof FeedLine>, lines: ReadonlyArray<LineOf<typeof MetricLine>>): Feed => {
  const { row } = feed
  const own = lines.filter((line) => parts(line.row.feed, "|").includes(row.feed))
  return {
    feed: row.feed,
    source: row.feed.startsWith("gov-mars/") ? "gov-mars" : "gov-mpr",
    title: row.title,
    paths: parts(row.path, "|"),
    section: row.section,
    frequency: row.frequency,
    period: parsePeriod(row.period),
    final: row.values === "final",
    windowField: row.window_field,
    windowReachDays: row.window_reach_days,
    lookBackDays: row.look_back_days,
    states: [
      { field: "slug_id", values: [row.feed.split("/")[1] ?? ""] },
      { field: "report_title", values: [row.title] },
      ...conditionsOf(row.states)
    ],
    metrics: own.map(metricOf),
    mapping_sha256: mappingHash(feed, own)
  }
}

/** A mistyped name is reported with its line, instead of as a metric that stays empty. */
const assertNames = (
  metrics: ReadonlyArray<LineOf<typeof MetricLine>>,
  feeds: ReadonlyArray<LineOf<typeof FeedLine>>,
  products: ReadonlyArray<LineOf<typeof ProductLine>>
) => {
  const feedNames = new Set(feeds.map(({ row }) => row.feed))
  const slugs = new Set(products.map(({ row }) => row.slug))
  for (const { line, row } of metrics) {
    const feed = parts(row.feed, "|").find((name) => !feedNames.has(name))
    if (feed !== undefined) throw wrong("metrics", line, "feed", `${feed} is not in feeds.tsv`)
    if (!slugs.has(row.product_slug)) {
      throw wrong("metrics", line, "product_slug", `${row.product_slug} is not in products.tsv`)
    }
    if (conditionsOf(row.where).some(isIncomplete)) {
      throw wrong("metrics", line, "where", "it has a condition that is not field=value")
    }
  }
  for (const { line, row } of feeds) {
    if (conditionsOf(row.states).some(isIncomplete)) {
      throw wrong("feeds", line, "states", "it has a condition that is not field=value")
    }
  }
}

/** Parses the tables of the catalog. Throws `BadLine`. */
export const parseCatalog = (textOf: (name: TableName) => string) => {
  const feedLines = linesOf(fileOf("feeds"), textOf("feeds"), FeedLine)
  const metricLines = linesOf(fileOf("metrics"), textOf("metrics"), MetricLine)
  const seriesLines = linesOf(fileOf("series"), textOf("series"), SeriesLine)
  const productLines = linesOf(fileOf("products"), textOf("products"), ProductLine)
  assertUnique(fileOf("feeds"), feedLines, "feed")
  assertUnique(fileOf("metrics"), metricLines, "metric_name")
  assertUnique(fileOf("series"), seriesLines, "slug")
  assertUnique(fileOf("products"), productLines, "slug")
  assertNames(metricLines, feedLines, productLines)
  const feeds: ReadonlyArray<Feed> = feedLines.map((line) => feedOf(line, metricLines))
  const metrics: ReadonlyArray<CatalogMetric> = metricLines.map(metricOf)
  const names = new Set(metrics.map(({ metric_name }) => metric_name))
  return {
    feeds,
    feedOf: new Map(feeds.map((feed) => [feed.feed, feed])),
    metrics,
    /** The 24 curated series. Each is the metric that is named like its slug, with underscores. */
    series: seriesLines.map(({ line, row }) => {
      const metric_name = row.slug.replaceAll("-", "_")
      if (!names.has(metric_name)) throw wrong("series", line, "slug", `${metric_name} is not in metrics.tsv`)
      return { ...row, spec: row.spec === "" ? null : row.spec, metric_name }
    }),
    products: productLines.map(({ row }) => ({
      slug: row.slug,
      category: row.category,
      attributes: Object.fromEntries(parts(row.attributes, ";").map(pair)),
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
