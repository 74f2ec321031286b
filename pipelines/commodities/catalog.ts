/**
 * The commodity catalog: which number of which report is which metric. It is data, in four tab-separated tables under
 * `catalog/`; a new metric is a new line in `metrics.tsv`. `catalog/README.md` explains their columns.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Frequency, Licence } from "@larder/schemas/commodity/records.ts"
import { Schema } from "effect"
import { type ColumnRule, parseColumn } from "./column.ts"
import { type PeriodKey, parsePeriod } from "./period.ts"

/** One report section as the service answers it. */
export interface Feed {
  readonly feed: string
  readonly source: "gov-mars" | "gov-mpr"
  readonly title: string
  /** Paths below the service's base address; a later one is asked where an earlier one is not there. */
  readonly paths: ReadonlyArray<string>
  /** Section that the answer must be, or be taken from; empty where the report has none. */
  readonly section: string
  readonly frequency: Frequency
  readonly period: PeriodKey
  readonly final: boolean
  /** Field that a window of days is asked by, in exactly this spelling. */
  readonly windowField: string
  /** How far that field may lie from the day of a row's reading: a year-to-date report begins on 1 January. */
  readonly windowReachDays: number
  /** Days that every run reads again, because reports are revised. */
  readonly lookBackDays: number
  /** Fields that tell which report a row is of, and what they may say. */
  readonly states: ReadonlyArray<Condition>
}

/** A field, and the values it may have. */
export interface Condition {
  readonly field: string
  readonly values: ReadonlyArray<string>
}

export interface Metric {
  readonly metric_name: string
  readonly product_slug: string
  readonly feeds: ReadonlyArray<string>
  /** Field and the values it may have; a row belongs to the metric when all hold. */
  readonly where: ReadonlyArray<Condition>
  readonly column: ColumnRule
  readonly unit: string
  readonly region: string
  readonly market_level: string
  readonly freight: string
  readonly licence: Licence
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

/** Reads a tab-separated table; a line that does not fit stops the start with its number and its fault. */
const tableOf = <S extends Schema.ConstraintDecoder<unknown, never>>(
  name: string,
  line: S
): ReadonlyArray<S["Type"]> => {
  const decode = Schema.decodeUnknownSync(line, { errors: "all" })
  const text = readFileSync(new URL(`./catalog/${name}.tsv`, import.meta.url), "utf8")
  const [header = "", ...lines] = text.trimEnd().split(/\r?\n/)
  const columns = header.split("\t")
  return lines.map((content, index) => {
    const cells = content.split("\t")
    const wrong = (fault: string) => new Error(`catalog/${name}.tsv, line ${index + 2}: ${fault}`)
    if (cells.length !== columns.length) throw wrong(`${cells.length} cells, where there are ${columns.length} columns`)
    try {
      return decode(Object.fromEntries(columns.map((column, i) => [column, cells[i]])))
    } catch (cause) {
      throw wrong(cause instanceof Error ? cause.message : String(cause))
    }
  })
}

const feedLines = tableOf("feeds", FeedLine)
const metricLines = tableOf("metrics", MetricLine)

export const feeds: ReadonlyArray<Feed> = feedLines.map((line) => ({
  feed: line.feed,
  source: line.feed.startsWith("gov-mars/") ? "gov-mars" : "gov-mpr",
  title: line.title,
  paths: parts(line.path, "|"),
  section: line.section,
  frequency: line.frequency,
  period: parsePeriod(line.period),
  final: line.values === "final",
  windowField: line.window_field,
  windowReachDays: line.window_reach_days,
  lookBackDays: line.look_back_days,
  states: [
    { field: "slug_id", values: [line.feed.split("/")[1] ?? ""] },
    { field: "report_title", values: [line.title] },
    ...conditionsOf(line.states)
  ]
}))

export const metrics: ReadonlyArray<Metric> = metricLines.map((line) => ({
  ...line,
  feeds: parts(line.feed, "|"),
  where: conditionsOf(line.where),
  column: parseColumn(line.column)
}))

/** The 24 curated series; each is the metric named like its slug, with underscores. */
export const series = tableOf("series", SeriesLine).map((line) => ({
  ...line,
  spec: line.spec === "" ? null : line.spec,
  metric_name: line.slug.replaceAll("-", "_")
}))

export const products = tableOf("products", ProductLine).map((line) => ({
  slug: line.slug,
  category: line.category,
  attributes: Object.fromEntries(parts(line.attributes, ";").map(pair)),
  details: { description: line.description }
}))

export const feedOf = new Map(feeds.map((feed) => [feed.feed, feed]))
export const metricsOf = (feed: Feed): ReadonlyArray<Metric> =>
  metrics.filter((metric) => metric.feeds.includes(feed.feed))

/** Whoever adds a line and mistypes a name learns it at the start, not from a metric that stays empty. */
for (const { feeds: named, metric_name, product_slug, where } of metrics) {
  const wrong = (fault: string) => new Error(`catalog/metrics.tsv: ${metric_name} ${fault}`)
  const feed = named.find((name) => !feedOf.has(name))
  if (feed !== undefined) throw wrong(`is read from ${feed}, which is not in feeds.tsv`)
  if (!products.some(({ slug }) => slug === product_slug))
    throw wrong(`is of ${product_slug}, which is not in products.tsv`)
  if (where.some(isIncomplete)) throw wrong("has a condition that is not field=value")
}
for (const { feed, states } of feeds) {
  if (states.some(isIncomplete))
    throw new Error(`catalog/feeds.tsv: ${feed} states a condition that is not field=value`)
}

/** Grows when the code reads payloads differently, so that known payloads are read again. */
const readerVersion = 2

/** Whose the numbers are does not change them. */
const withoutLicence = ({ licence: _, ...line }: typeof MetricLine.Type) => line

/** SHA-256 of all that decides what is read from a feed. */
export const mappingHash = (feed: Feed): string =>
  createHash("sha256")
    .update(
      JSON.stringify([
        readerVersion,
        feedLines.find((line) => line.feed === feed.feed),
        metricLines.filter((line) => parts(line.feed, "|").includes(feed.feed)).map(withoutLicence)
      ])
    )
    .digest("hex")
