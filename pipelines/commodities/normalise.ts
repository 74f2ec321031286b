/**
 * From the rows of a report to readings: which metric, which day, which number, published when. No I/O and no clock.
 *
 * A row ends in exactly one place: it gives readings, it is silent (no metric of ours, no value, or not of the days wanted),
 * or it is rejected as a whole with its reason. A null never becomes a number, and a missing number never becomes a reading.
 */
import type { DayRange } from "../run/pipeline.ts"
import type { Feed, Metric } from "./catalog.ts"
import { DriftFound, fieldsOf, type PayloadRow, textOf } from "./field.ts"
import { knownFields } from "./known-fields.ts"
import { type MappedMetric, mapPayload, tokenOf } from "./payload-mapping.ts"
import { parseDay, periodReader } from "./period.ts"
import { publicationReader } from "./publication.ts"
import { isRow } from "./wire.ts"

export interface Reading {
  readonly metric_name: string
  readonly observed_on: string
  /** The number as a JSON token, with its digits as printed. */
  readonly value_text: string
  readonly published_at: string
  readonly is_final: boolean
  /** Row in the payload, from 1. */
  readonly source_row: number
}

export interface Rejected {
  /** Row in the payload, from 1. */
  readonly position: number
  readonly reason: string
  readonly payload: string
}

export interface Normalised {
  readonly rows_read: number
  readonly rows_silent: number
  readonly readings: ReadonlyArray<Reading>
  readonly rejects: ReadonlyArray<Rejected>
  readonly unknown_fields: ReadonlyArray<{ readonly field: string; readonly example: string }>
  /** The column that each metric was read from: its `measure`. */
  readonly measures: ReadonlyMap<string, string>
  /** Metrics of which the payload has no row. */
  readonly absent: ReadonlyArray<string>
}

export interface Limits {
  /** Days of readings wanted; others are left out. */
  readonly days?: DayRange | undefined
  /** Days that the service was asked for, by the feed's window field. A row outside says that it ignored the question. */
  readonly asked?: DayRange | undefined
}

type Read =
  | { readonly kind: "readings"; readonly readings: ReadonlyArray<Reading> }
  /** A row of another product or market. */
  | { readonly kind: "not ours" }
  | { readonly kind: "no value" }
  | { readonly kind: "other days" }
  /** `undated`: the row states no date at all, which occurs and tells nothing about the others. */
  | { readonly kind: "rejected"; readonly reason: string; readonly undated: boolean }

const rejected = (reason: string, undated = false): Read => ({ kind: "rejected", reason, undated })
const noObject = rejected("the row is no JSON object")

/** How the reason of a row begins that says something else than an earlier one. */
export const contradicts = "contradicts row"

/** At most twelve digits before the point, and above zero; only a basis may be zero or negative. */
const isPrice = (metric: Metric, token: string) =>
  /^-?\d{1,12}(\.\d+)?$/.test(token) && (metric.unit === "usd_per_lb_basis" || /^[^-]*[1-9]/.test(token))

const isWithin = (day: string, { from, to }: DayRange) => day >= from && day <= to

const assertAsked = (feed: Feed, row: PayloadRow, asked: DayRange | undefined) => {
  const day = asked && parseDay(textOf(row[feed.windowField]) ?? "")
  if (asked === undefined || day === undefined || isWithin(day, asked)) return
  const problem = `${feed.windowField} was asked from ${asked.from} to ${asked.to}, and a row of ${day} came: the filter was ignored`
  throw new DriftFound({ feed: feed.feed, problem, found: [] })
}

const rowReader = (
  feed: Feed,
  fields: ReadonlyArray<string>,
  mapping: ReadonlyArray<MappedMetric>,
  { asked, days }: Limits
) => {
  const periodOf = periodReader(feed.period, feed.feed, fields)
  const publicationOf = publicationReader(feed.feed, fields)
  return (row: unknown, source_row: number): Read => {
    if (!isRow(row)) return noObject
    assertAsked(feed, row, asked)
    const own = mapping.filter(({ selects }) => selects(row))
    if (own.length === 0) return { kind: "not ours" }
    const period = periodOf(row)
    if ("fault" in period) return rejected(period.fault, !period.stated)
    const stated = own.flatMap(({ column, metric }) =>
      column !== undefined && textOf(row[column]) !== undefined ? [{ metric, column }] : []
    )
    if (stated.length === 0) return { kind: "no value" }
    const publication = publicationOf(row, period.day)
    if ("fault" in publication) return rejected(publication.fault)
    const readings: Array<Reading> = []
    for (const { column, metric } of stated) {
      const value_text = tokenOf(row[column])
      if (value_text === undefined || !isPrice(metric, value_text)) {
        return rejected(`${column} is ${JSON.stringify(row[column])}, which is no price`)
      }
      readings.push({
        metric_name: metric.metric_name,
        observed_on: period.day,
        value_text,
        published_at: publication.moment,
        is_final: feed.final,
        source_row
      })
    }
    return days === undefined || isWithin(period.day, days) ? { kind: "readings", readings } : { kind: "other days" }
  }
}

/** `1.40` and `1.4` are one value. */
const withoutPadding = (token: string) => (token.includes(".") ? token.replace(/\.?0+$/, "") : token)

/**
 * A payload says one thing about a metric, a day and a publication. A row that says another is rejected; that the run is not
 * published then, because a row selector is too wide, is the check `rows_do_not_contradict`.
 */
const contradictionFinder = () => {
  const said = new Map<string, Reading>()
  return (read: Read): Read => {
    if (read.kind !== "readings") return read
    for (const reading of read.readings) {
      const key = `${reading.metric_name} ${reading.observed_on} ${reading.published_at}`
      const before = said.get(key) ?? reading
      said.set(key, before)
      if (withoutPadding(before.value_text) === withoutPadding(reading.value_text)) continue
      return rejected(
        `${contradicts} ${before.source_row}: ${reading.metric_name} of ${reading.observed_on} is ${before.value_text} there and ${reading.value_text} here`
      )
    }
    return read
  }
}

/** Single bad rows are rejects. Where no row at all can be read, and not for want of values, a field has changed. */
const assertReadable = (feed: Feed, fields: ReadonlyArray<string>, reads: ReadonlyArray<Read>) => {
  const unreadable = reads.flatMap((read) => (read.kind === "rejected" && !read.undated ? [read.reason] : []))
  const isComplete = reads.some(({ kind }) => kind === "readings" || kind === "other days")
  const withoutValue = reads.filter(({ kind }) => kind === "no value").length
  if (isComplete || unreadable.length <= withoutValue) return
  const problem = `${unreadable.length} of ${reads.length} rows cannot be read, and no other tells anything; the first: ${unreadable[0]}`
  throw new DriftFound({ feed: feed.feed, problem, found: [...fields] })
}

const unknownFields = (
  feed: Feed,
  fields: ReadonlyArray<string>,
  rows: ReadonlyArray<PayloadRow>,
  mapped: ReadonlySet<string>
) => {
  const known = knownFields(feed.source)
  return fields
    .filter((field) => !mapped.has(field) && !known.has(field.toLowerCase()))
    .map((field) => ({
      field,
      example: JSON.stringify(rows.find((row) => textOf(row[field]) !== undefined)?.[field] ?? null).slice(0, 200)
    }))
}

/** Reads the rows of one payload. Throws `DriftFound` where the payload lacks what the mapping needs. */
export const normalise = (feed: Feed, payload: ReadonlyArray<unknown>, limits: Limits = {}): Normalised => {
  const rows = payload.filter(isRow)
  const fields = fieldsOf(rows)
  const mapping = rows.length === 0 ? [] : mapPayload(feed, fields, rows)
  const readRow = rows.length === 0 ? () => noObject : rowReader(feed, fields, mapping, limits)
  const withoutContradiction = contradictionFinder()
  const reads = payload.map((row, index) => withoutContradiction(readRow(row, index + 1)))
  assertReadable(feed, fields, reads)

  const readings = reads.flatMap((read) => (read.kind === "readings" ? read.readings : []))
  const rejects = reads.flatMap(
    (read, index): ReadonlyArray<Rejected> =>
      read.kind === "rejected"
        ? [{ position: index + 1, reason: read.reason, payload: JSON.stringify(payload[index]) }]
        : []
  )
  const measures = new Map<string, string>()
  for (const { column, metric } of mapping) if (column !== undefined) measures.set(metric.metric_name, column)
  return {
    rows_read: payload.length,
    rows_silent: reads.filter(({ kind }) => kind !== "readings" && kind !== "rejected").length,
    readings,
    rejects,
    unknown_fields: unknownFields(feed, fields, rows, new Set(measures.values())),
    measures,
    absent: mapping.flatMap(({ metric, selected }) => (selected === 0 ? [metric.metric_name] : []))
  }
}
