/**
 * Rows with a price that match no metric: they are of another product or market, or the report spells a product in a
 * new way. Nothing would be missing then but the newest prices, so a metric that lost its value names the text.
 */
import type { CatalogMetric, Feed } from "../catalog.ts"
import { findOnlyField, type PayloadRow, quoteCell, readCell } from "../decode/payload.ts"
import { maxGapDays } from "../rhythm.ts"
import { daysBetween, newestOf } from "./dates.ts"
import { makeDrift } from "./drift.ts"
import { type DaysWithValues, listSelectors } from "./mapping.ts"
import type { PriceReading } from "./rows.ts"

export interface UnmatchedText {
  /** Names of the fields that distinguish products, separated by commas, and what they said. */
  readonly field: string
  readonly said: string
  readonly rows: number
  readonly cells: Readonly<Record<string, string | undefined>>
  /** The newest day that a row with this text prices, and the publication and day of all of them. */
  readonly newestDay: string
  readonly periods: ReadonlySet<string>
}

interface PricedRow {
  readonly cells: PayloadRow
  readonly published_at: string
  readonly observed_on: string
}

/** One report may repeat earlier days, so a publication alone is not enough. */
const identifyPeriod = ({ observed_on, published_at }: Pick<PricedRow, "published_at" | "observed_on">) =>
  `${published_at} ${observed_on}`

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
  const readText = ({ cells }: PricedRow) =>
    selectors.map(({ field }) => readCell(cells[field]) ?? "(empty)").join(", ")
  return [...Map.groupBy(rows, readText)].map(([said, group]) => ({
    field,
    said,
    rows: group.length,
    cells: Object.fromEntries(selectors.map(({ field, name }) => [name, readCell(group[0]?.cells[field])])),
    newestDay: newestOf(group.map(({ observed_on }) => observed_on)),
    periods: new Set(group.map(identifyPeriod))
  }))
}

export const describeText = ({ field, said }: Pick<UnmatchedText, "field" | "said">) => `${field} ${quoteCell(said)}`

/**
 * Throws `DriftFound` if no row matches a metric although rows have prices, or metrics have had values.
 */
export const assertMatched = (
  feed: Feed,
  rows: number,
  selected: number,
  unmatched: ReadonlyArray<UnmatchedText>,
  daysWithValues: DaysWithValues
) => {
  if (rows === 0 || selected > 0) return
  if (unmatched.length > 0) {
    const priced = unmatched.reduce((sum, text) => sum + text.rows, 0)
    const texts = unmatched.slice(0, 3).map(describeText)
    const more = unmatched.length > 3 ? ` and ${unmatched.length - 3} more` : ""
    throw makeDrift(`none of its ${priced} rows with a price matches a metric: they say ${texts.join("; ")}${more}`)
  }
  const known = feed.metrics.find(({ metric_name }) => daysWithValues.has(metric_name))
  if (known !== undefined)
    throw makeDrift(`none of its ${rows} rows matches ${known.metric_name}, which had values before`)
}

/**
 * Whether a text is likely a new spelling of a metric's: all of its conditions are met, except one. A metric with a single
 * condition has nothing else to compare, if others of its feed have more.
 */
const isSimilar = ({ metrics }: Feed, { where }: CatalogMetric, { cells }: UnmatchedText) => {
  if (where.length === 1 && metrics.some((other) => other.where.length > 1)) return false
  const fold = (text: string | undefined) => text?.toLowerCase()
  const met = where.filter(({ field, values }) => values.some((value) => fold(value) === fold(cells[field])))
  return met.length === where.length - 1
}

const formatNames = (metrics: ReadonlyArray<CatalogMetric>) => {
  const names = metrics.map(({ metric_name }) => metric_name)
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ")
}

interface Known {
  readonly daysWithValues: DaysWithValues
  /** The rows are of days that earlier runs may have read from other payloads. */
  readonly isPartOfHistory: boolean
}

const summarise = (
  metric: CatalogMetric,
  readings: ReadonlyArray<PriceReading>,
  { daysWithValues, isPartOfHistory }: Known
) => {
  const newestKnown = newestOf(daysWithValues.get(metric.metric_name) ?? [])
  const newestRead = newestOf(readings.map(({ observed_on }) => observed_on))
  return {
    metric,
    newestDay: newestOf([newestKnown, newestRead]),
    /** A text on a later day may be the reason why the metric has no value there. */
    lastDay: isPartOfHistory ? newestOf([newestKnown, newestRead]) : newestRead,
    periods: new Set(readings.map(identifyPeriod))
  }
}

/**
 * Returns a message for each text that is the probable cause why metrics lost their value: they had one before, and the
 * text has later days. A text that ever occurred beside a metric's own value is another product. A metric that ended long
 * before the others of its feed ended for another reason.
 */
export const explainLostMetrics = (
  feed: Feed,
  unmatched: ReadonlyArray<UnmatchedText>,
  readings: ReadonlyArray<PriceReading>,
  known: Known
): ReadonlyArray<string> => {
  if (unmatched.length === 0) return []
  const byMetric = Map.groupBy(readings, ({ metric_name }) => metric_name)
  const histories = feed.metrics.map((metric) => summarise(metric, byMetric.get(metric.metric_name) ?? [], known))
  const newestDay = newestOf(histories.map((history) => history.newestDay))
  const alive = histories.filter(
    (history) => history.newestDay !== "" && daysBetween(history.newestDay, newestDay) <= maxGapDays[feed.frequency]
  )
  return unmatched.flatMap((text) => {
    const lost = alive
      .filter(
        ({ lastDay, periods }) => text.newestDay > lastDay && ![...text.periods].some((period) => periods.has(period))
      )
      .map(({ metric }) => metric)
    const similar = lost.filter((metric) => isSimilar(feed, metric, text))
    const named = similar.length > 0 ? similar : lost
    if (named.length === 0) return []
    const [had, have] = named.length === 1 ? ["had a value before", "has none"] : ["had values before", "have none"]
    return [
      `rows with ${describeText(text)} match no metric, and ${formatNames(named)} ${had} and ${have} in the same publication`
    ]
  })
}

/** Returns a message for each text that may be another spelling of metrics that have no value at all. */
export const explainMissingMetrics = (
  feed: Feed,
  unmatched: ReadonlyArray<UnmatchedText>,
  readings: ReadonlyArray<PriceReading>
): ReadonlyArray<string> => {
  const found = new Set(readings.map(({ metric_name }) => metric_name))
  const missing = feed.metrics.filter(({ metric_name }) => !found.has(metric_name))
  return unmatched.flatMap((text) => {
    const similar = missing.filter((metric) => isSimilar(feed, metric, text))
    if (similar.length === 0) return []
    return [`${formatNames(similar)} would have no value, and rows with ${describeText(text)} match no metric`]
  })
}
