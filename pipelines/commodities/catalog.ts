/**
 * The commodity catalog assigns the numbers of reports to metrics. It is data, in tab-separated tables under `catalog/`;
 * a new metric is a new line in `metrics.tsv`. `catalog/README.md` explains the columns. `catalog/in-force.ts` adds what
 * the operator's own folder says.
 */
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"
import type { RevisionStatus } from "@larder/schemas"
import { type ColumnRule, type PeriodKey, parseColumn, parsePeriod } from "./catalog/cells.ts"
import { findFaults } from "./catalog/faults.ts"
import {
  type CatalogLines,
  type FeedLine,
  type KnownFieldLine,
  type MetricLine,
  readLines,
  type TableName,
  type TextLine
} from "./catalog/lines.ts"
import { type Condition, parseConditions, parsePair, splitTrimmed } from "./conditions.ts"
import { commodityMappingVersion } from "./mapping-version.ts"
import { parseNote } from "./notes.ts"

export interface Feed extends Omit<FeedLine, "path" | "period" | "revision_status" | "states"> {
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
  /** Whether only the operator's catalog has it: the bundled samples do not contain it. */
  readonly isOwn: boolean
  /** Whether the operator's catalog switches it off: it is not requested. */
  readonly isOff: boolean
}

/** Texts of a field that a product is known to have, and texts that contradict it. */
interface ProductTexts {
  readonly field: string
  readonly expected: ReadonlyArray<string>
  readonly contradictions: ReadonlyArray<string>
}

export interface CatalogMetric extends Omit<MetricLine, "feed" | "where" | "column" | "freight_texts" | "ended_on"> {
  readonly feeds: ReadonlyArray<string>
  readonly where: ReadonlyArray<Condition>
  readonly column: ColumnRule
  /** Accepted texts of the field `freight`, which may also state nothing. */
  readonly freightTexts: ReadonlyArray<string>
  readonly ended_on: string | null
  readonly texts: ReadonlyArray<ProductTexts>
}

type TextLines = ReadonlyArray<TextLine>

const isTextOf = (product: string) => (line: TextLine) => splitTrimmed(line.product_slug, "|").includes(product)

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
  ({ freight_texts, ...row }: MetricLine): CatalogMetric => ({
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
  { ending_weekday: _weekday, publishes_on: _schedule, ...feed }: FeedLine,
  metricRows: ReadonlyArray<MetricLine>,
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

/** The names of feeds that the operator's catalog has alone, and of those that it switches off. */
interface OwnFeeds {
  readonly own: ReadonlySet<string>
  readonly off: ReadonlySet<string>
}

const parseFeed = (
  row: FeedLine,
  metrics: ReadonlyArray<MetricLine>,
  texts: TextLines,
  known: ReadonlyArray<KnownFieldLine>,
  { off, own }: OwnFeeds
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
    mapping_sha256: hashMapping(row, feedMetrics, texts),
    isOwn: own.has(row.feed),
    isOff: off.has(row.feed)
  }
}

const none: OwnFeeds = { own: new Set(), off: new Set() }

/** Assembles lines without faults. */
export const assembleCatalog = (lines: CatalogLines, ownFeeds = none) => {
  const texts = lines.texts.map(({ row }) => row)
  const knownFields = lines.knownFields.map(({ row }) => row)
  const metricRows = lines.metrics.map(({ row }) => row)
  const feeds = lines.feeds.map(({ row }) => parseFeed(row, metricRows, texts, knownFields, ownFeeds))
  return {
    feeds,
    feedsByName: new Map(feeds.map((feed) => [feed.feed, feed])),
    metrics: metricRows.map(parseMetric(texts)),
    notes: lines.notes.map(({ row }) => parseNote(row)),
    /** The 24 curated series. Each is the metric that is named like its slug, with underscores. */
    series: lines.series.map(({ row }) => ({
      ...row,
      spec: row.spec === "" ? null : row.spec,
      metric_name: row.slug.replaceAll("-", "_")
    })),
    products: lines.products.map(({ row }) => ({
      slug: row.slug,
      category: row.category,
      attributes: Object.fromEntries(splitTrimmed(row.attributes, ";").map(parsePair)),
      details: { description: row.description }
    }))
  }
}
export type Catalog = ReturnType<typeof assembleCatalog>

/** Reads the lines of the bundled tables. Throws `BadLine` for the first fault. */
const parseLines = (readText: (name: TableName) => string): CatalogLines => {
  const { faults, lines } = readLines(readText)
  const [first] = faults.length > 0 ? faults : findFaults(lines)
  if (first !== undefined) throw first
  return lines
}

/** Throws `BadLine` for the first fault. */
export const parseCatalog = (readText: (name: TableName) => string) => assembleCatalog(parseLines(readText))

let lines: CatalogLines | undefined
let loaded: Catalog | undefined

/** The lines of this version, read once. Throws `BadLine`. */
export const bundledLines = (): CatalogLines => {
  lines ??= parseLines((name) => readFileSync(new URL(`./catalog/${name}.tsv`, import.meta.url), "utf8"))
  return lines
}

/** The catalog of this version without the operator's, assembled once. Throws `BadLine`. */
export const catalog = (): Catalog => {
  loaded ??= assembleCatalog(bundledLines())
  return loaded
}
