/**
 * Rows with a price that match no metric: they are of another product or market, or the report spells a product in a
 * new way. Nothing would be missing then but the newest prices, so a metric that lost its value names the text.
 */
import type { CatalogMetric, Feed } from "../catalog.ts"
import { findOnlyField, type PayloadRow, quoteCell, readCell } from "../decode/payload.ts"
import { maxGapDays } from "../rhythm.ts"
import { daysBetween } from "./dates.ts"
import type { DaysWithValues } from "./mapping.ts"
import type { PriceReading } from "./rows.ts"

export interface UnmatchedText {
  /** Names of the fields that distinguish products, separated by commas, and what they said. */
  readonly field: string
  readonly said: string
  readonly rows: number
  readonly cells: Readonly<Record<string, string | undefined>>
  readonly publications: ReadonlySet<string>
}

interface PricedRow {
  readonly row: PayloadRow
  readonly published_at: string
}

const listSelectors = ({ metrics }: Feed) => [
  ...new Set(metrics.flatMap(({ where }) => where.map(({ field }) => field)))
]

/** The different texts of rows that match no metric. */
export const groupUnmatched = (
  feed: Feed,
  fields: ReadonlyArray<string>,
  rows: ReadonlyArray<PricedRow>
): ReadonlyArray<UnmatchedText> => {
  const selectors = listSelectors(feed).flatMap((name) => {
    const field = findOnlyField(fields, name)
    return field === undefined ? [] : [{ name, field }]
  })
  const field = selectors.map(({ field }) => field).join(", ")
  const readText = ({ row }: PricedRow) => selectors.map(({ field }) => readCell(row[field]) ?? "(empty)").join(", ")
  return [...Map.groupBy(rows, readText)].map(([said, group]) => ({
    field,
    said,
    rows: group.length,
    cells: Object.fromEntries(selectors.map(({ field, name }) => [name, readCell(group[0]?.row[field])])),
    publications: new Set(group.map(({ published_at }) => published_at))
  }))
}

export const describeText = ({ field, said }: Pick<UnmatchedText, "field" | "said">) => `${field} ${quoteCell(said)}`

/** Whether a text may be a new spelling of a metric's: all of its conditions are met, except one. */
const mayBe = ({ where }: CatalogMetric, { cells }: UnmatchedText) => {
  const fold = (text: string | undefined) => text?.toLowerCase()
  const met = where.filter(({ field, values }) => values.some((value) => fold(value) === fold(cells[field])))
  return met.length >= where.length - 1
}

interface History {
  readonly newestDay: string
  readonly publications: ReadonlySet<string>
  readonly newestPublication: string
}

const summarise = (
  metric: CatalogMetric,
  readings: ReadonlyArray<PriceReading>,
  daysWithValues: DaysWithValues
): History => {
  const newest = (texts: Iterable<string>) => [...texts].reduce((last, text) => (text > last ? text : last), "")
  const known = newest(daysWithValues.get(metric.metric_name) ?? [])
  const publications = new Set(readings.map(({ published_at }) => published_at))
  return {
    newestDay: newest([known, ...readings.map(({ observed_on }) => observed_on)]),
    publications,
    newestPublication: newest(publications)
  }
}

/**
 * Returns a message for each text that is the probable cause why metrics lost their value: they had one before, and have none since
 * a publication that has the text. A text that ever occurred beside a metric's own value is another product. A metric that
 * ended long before the others of its feed ended for another reason.
 */
export const explainLostMetrics = (
  feed: Feed,
  unmatched: ReadonlyArray<UnmatchedText>,
  readings: ReadonlyArray<PriceReading>,
  daysWithValues: DaysWithValues
): ReadonlyArray<string> => {
  if (unmatched.length === 0) return []
  const byMetric = Map.groupBy(readings, ({ metric_name }) => metric_name)
  const histories = feed.metrics.map((metric) => ({
    metric,
    ...summarise(metric, byMetric.get(metric.metric_name) ?? [], daysWithValues)
  }))
  const newestDay = histories.reduce((last, history) => (history.newestDay > last ? history.newestDay : last), "")
  const alive = histories.filter(
    (history) => history.newestDay !== "" && daysBetween(history.newestDay, newestDay) <= maxGapDays[feed.frequency]
  )
  return unmatched.flatMap((text) => {
    const lost = alive.filter(
      ({ metric, newestPublication, publications }) =>
        mayBe(metric, text) &&
        [...text.publications].some((published_at) => published_at > newestPublication) &&
        ![...text.publications].some((published_at) => publications.has(published_at))
    )
    if (lost.length === 0) return []
    const names = lost.map(({ metric: { metric_name } }) => metric_name)
    const shown = names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ")
    return [
      `rows with ${describeText(text)} match no metric, and ${shown} had values before and ${names.length === 1 ? "has" : "have"} none in the same publication`
    ]
  })
}
