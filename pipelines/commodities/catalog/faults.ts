/** Faults of lines that only other cells or other tables show: a mistyped name would leave its metric empty. */
import { findScheduleFault } from "@larder/schemas"
import { type BadLine, faultAt, type Located } from "../../run/files/hand-edited.ts"
import { isIncomplete, parseConditions, splitTrimmed } from "../conditions.ts"
import { appliesTo, parseNote } from "../notes.ts"
import { findColumnFault, findPeriodFault, parseColumn } from "./cells.ts"
import type { CatalogLines, FeedLine, MetricLine } from "./lines.ts"

type Fault = readonly [column: string, problem: string | undefined | false]

const listFaults = <A>(lines: ReadonlyArray<Located<A>>, judge: (row: A) => ReadonlyArray<Fault>) =>
  lines.flatMap((line) =>
    judge(line.row).flatMap(([column, problem]) => (problem ? [faultAt(line, column, problem)] : []))
  )

const findConditionFault = (text: string) =>
  parseConditions(text).some(isIncomplete) && "it has a condition that is not field=value"

/** `gov-mpr/2993/Butter Prices and Sales` → `gov-mpr/2993` */
const reportOf = (feed: string) => feed.split("/", 2).join("/")
const feedsOf = ({ feed }: Pick<MetricLine, "feed">) => splitTrimmed(feed, "|")

const findWeekdayFault = ({ ending_weekday, frequency }: FeedLine) => {
  const hasWeekday = frequency === "weekly" || frequency === "biweekly"
  return hasWeekday !== (ending_weekday !== "") && "weekly and biweekly feeds have a weekday, and no others"
}

/** The text is requested below the address of the service. */
const findPathFault = ({ feed, path }: FeedLine) => {
  const [, report = ""] = feed.split("/")
  const isUsable = (text: string) =>
    text.startsWith(report) && /^([/?]|$)/.test(text.slice(report.length)) && !/\s|#|\.\.|%2e|\/\//i.test(text)
  return (
    !splitTrimmed(path, "|").every(isUsable) &&
    `it must begin with ${report}, the report in the name of the feed, with spaces as %20`
  )
}

/** Datamart responds with the section in the path. */
const findSectionFault = ({ feed, path, section }: FeedLine) => {
  const [, requested] = (splitTrimmed(path, "|")[0] ?? "").split("/")
  return (
    feed.startsWith("gov-mpr/") &&
    encodeURIComponent(section) !== requested &&
    "it must be the section in the path of a feed of Datamart, which has it percent-encoded"
  )
}

/** Names that exist, also those of lines that have other faults. */
export interface Names {
  readonly feeds: ReadonlySet<string>
  readonly products: ReadonlySet<string>
  /** Feeds that lines of metrics name. */
  readonly feedsOfMetrics: ReadonlySet<string>
  readonly productsOfMetrics: ReadonlySet<string>
}
export const namesIn = ({ feeds, metrics, products }: CatalogLines): Names => ({
  feeds: new Set(feeds.map(({ row }) => row.feed)),
  products: new Set(products.map(({ row }) => row.slug)),
  feedsOfMetrics: new Set(metrics.flatMap(({ row }) => feedsOf(row))),
  productsOfMetrics: new Set(metrics.map(({ row }) => row.product_slug))
})

const findFeedFaults = (row: FeedLine, { feedsOfMetrics }: Names): ReadonlyArray<Fault> => [
  ["feed", !feedsOfMetrics.has(row.feed) && "no line of metrics.tsv names it: a feed has at least one metric"],
  ["path", findPathFault(row)],
  ["section", findSectionFault(row)],
  ["ending_weekday", findWeekdayFault(row)],
  ["publishes_on", findScheduleFault(row.publishes_on, row.frequency)],
  ["period", findPeriodFault(row.period)],
  ["states", findConditionFault(row.states)]
]

const findMetricFaults = (
  row: MetricLine,
  feeds: ReadonlyMap<string, FeedLine>,
  names: Names
): ReadonlyArray<Fault> => {
  const unknown = feedsOf(row).find((name) => !names.feeds.has(name))
  const frequencies = new Set(feedsOf(row).flatMap((name) => feeds.get(name)?.frequency ?? []))
  const [frequency] = frequencies
  const isMixed = frequencies.size > 1 || new Set(feedsOf(row).map(reportOf)).size > 1
  return [
    [
      "metric_name",
      frequency !== undefined &&
        !row.metric_name.endsWith(`_${frequency}`) &&
        `it must end in _${frequency}, the frequency of its feed`
    ],
    ["product_slug", !names.products.has(row.product_slug) && `${row.product_slug} is not in products.tsv`],
    ["feed", unknown !== undefined && `${unknown} is not in feeds.tsv`],
    ["feed", unknown === undefined && isMixed && "its feeds must be sections of one report, of one frequency"],
    ["where", findConditionFault(row.where)],
    ["column", findColumnFault(row.column)]
  ]
}

const isNoteUseful = (text: string, { feeds, metrics }: CatalogLines) => {
  const note = parseNote({ applies_to: text, note: text })
  return metrics.some(({ row }) =>
    feeds.some(
      (feed) =>
        feedsOf(row).includes(feed.row.feed) && appliesTo(note, { ...row, column: parseColumn(row.column) }, feed.row)
    )
  )
}

export const findFaults = (lines: CatalogLines, names: Names = namesIn(lines)): ReadonlyArray<BadLine> => {
  const feeds = new Map(lines.feeds.map(({ row }) => [row.feed, row]))
  const metricNames = new Set(lines.metrics.map(({ row }) => row.metric_name))
  return [
    ...listFaults(lines.metrics, (row) => findMetricFaults(row, feeds, names)),
    ...listFaults(lines.feeds, (row) => findFeedFaults(row, names)),
    ...listFaults(lines.products, ({ slug }) => [
      [
        "slug",
        !names.productsOfMetrics.has(slug) && "no line of metrics.tsv names it: a product has at least one metric"
      ]
    ]),
    ...listFaults(lines.texts, ({ product_slug }) =>
      splitTrimmed(product_slug, "|").map(
        (slug): Fault => ["product_slug", !names.products.has(slug) && `${slug} is not in products.tsv`]
      )
    ),
    ...listFaults(lines.notes, ({ applies_to }) => [
      ["applies_to", !isNoteUseful(applies_to, lines) && "it applies to no metric"]
    ]),
    ...listFaults(lines.series, ({ slug }) => {
      const metric = slug.replaceAll("-", "_")
      return [["slug", !metricNames.has(metric) && `${metric} is not in metrics.tsv`]]
    })
  ]
}
