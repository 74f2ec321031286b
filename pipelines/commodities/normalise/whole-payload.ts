/** Checks of a whole payload: each row can be read, but together they do not mean what the mapping assumes. */
import type { Feed } from "../catalog.ts"
import { DriftFound, isStated, type PayloadRow } from "../decode/field.ts"
import type { Reading } from "./normalise.ts"
import type { MappedMetric } from "./payload-mapping.ts"
import { isUnstamped } from "./publication.ts"

/** Days on which each metric has had values. */
export type Valued = ReadonlyMap<string, ReadonlySet<string>>

const changed = (problem: string) => new DriftFound({ problem, found: [] })

/** `1.40` and `1.4` are one value. */
const withoutPadding = (token: string) => (token.includes(".") ? token.replace(/\.?0+$/, "") : token)

/**
 * A payload states one value for a metric, a day and a publication. If two rows state different values, a row selector
 * is too wide, and it is unclear which row it was meant for. Throws `DriftFound`.
 */
export const assertOneValue = (readings: ReadonlyArray<Reading>) => {
  const said = new Map<string, Reading>()
  for (const reading of readings) {
    const key = `${reading.metric_name} ${reading.observed_on} ${reading.published_at}`
    const before = said.get(key) ?? reading
    said.set(key, before)
    if (withoutPadding(before.value_text) === withoutPadding(reading.value_text)) continue
    const problem = `row ${reading.source_row} contradicts row ${before.source_row}: ${reading.metric_name} of ${reading.observed_on} is ${before.value_text} there and ${reading.value_text} here, in one publication`
    throw changed(problem)
  }
}

/**
 * A rolling report restates five weeks. After a price has ended, its nulls cover four weeks that had a value, so this
 * many days prove nothing.
 */
const restated = 5

/**
 * Throws `DriftFound` if every row of a metric has no value, although the metric has had one on more than five of the
 * days of these rows. Rows of other days may have none: a price that is not quoted, or one that has ended.
 */
export const assertStillStated = (
  mapping: ReadonlyArray<MappedMetric>,
  ours: ReadonlyArray<PayloadRow>,
  dayOf: (row: PayloadRow) => string | undefined,
  valued: Valued
) => {
  for (const { column, metric, selects } of mapping) {
    const known = valued.get(metric.metric_name)
    if (column === undefined || known === undefined) continue
    const own = ours.filter(selects)
    if (own.some((row) => isStated(row[column]))) continue
    const lost = new Set(own.map(dayOf).filter((day) => day !== undefined && known.has(day)))
    if (lost.size <= restated) continue
    throw changed(
      `the column ${column} of ${metric.metric_name} is empty in all ${own.length} rows, ${lost.size} days among them that had a value`
    )
  }
}

/** Only announcements within this many days of their month count, not a history that was published again later. */
const nearMonth = 31

/**
 * Throws `DriftFound` if most months of a feed whose prices are announced ahead were announced after they began: the
 * month field would then mean the month of the announcement. A single late announcement has occurred.
 */
export const assertAnnouncedAhead = ({ period }: Feed, readings: ReadonlyArray<Reading>) => {
  if (period.kind !== "month" || !period.announcedAhead) return
  const announced = new Map<string, string>()
  for (const { observed_on, published_at } of readings) {
    const before = announced.get(observed_on)
    const days = (Date.parse(published_at.slice(0, 10)) - Date.parse(observed_on)) / 86_400_000
    if (isUnstamped(published_at) || Math.abs(days) > nearMonth) continue
    if (before === undefined || published_at < before) announced.set(observed_on, published_at)
  }
  const late = [...announced].filter(([month, at]) => at.slice(0, 10) >= month)
  const [first] = late
  if (first === undefined || late.length === 1 || late.length * 2 <= announced.size) return
  throw changed(
    `${period.month} no longer means the month that is priced: ${late.length} of ${announced.size} months were announced after they began, such as ${first[0].slice(0, 7)} on ${first[1].slice(0, 10)}`
  )
}
