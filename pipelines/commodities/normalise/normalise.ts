/**
 * Converts the rows of a report into readings: metric, day, number and time of publication. No I/O and no clock.
 *
 * Every row ends in exactly one place: it gives readings, it is silent (no metric of ours, no value, or outside the
 * wanted days), or it is rejected as a whole with its reason. A null never becomes a number, and a missing number never
 * becomes a reading.
 */
import { daysBefore } from "@larder/schemas"
import type { DayRange } from "../../run/pipeline.ts"
import type { CatalogMetric, Feed } from "../catalog.ts"
import { knownFields } from "../decode/known-fields.ts"
import { cellText, fieldNames, isRow, onlyField, type Payload, type PayloadRow, quoteCell } from "../decode/payload.ts"
import { assertAnnouncedAhead, parseDay, periodReader, publicationReader } from "./dates.ts"
import { assertOneValue, assertReport, assertTypes, drift, identityFields, misfitIn, type TypedField } from "./drift.ts"
import {
  assertStillStated,
  type MappedMetric,
  mapPayload,
  numberInCell,
  selectorFields,
  type Valued
} from "./mapping.ts"

export interface PriceReading {
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
  readonly readings: ReadonlyArray<PriceReading>
  readonly rejects: ReadonlyArray<Rejected>
  readonly unknown_fields: ReadonlyArray<{ readonly field: string; readonly example: string }>
  /** The column that each metric was read from: its `measure`. */
  readonly measures: ReadonlyMap<string, string>
  /** Metrics for which the payload has no row. */
  readonly absent: ReadonlyArray<string>
}

export interface Limits {
  /** Wanted days of readings; others are left out. */
  readonly days?: DayRange | undefined
  /** Days requested from the service by the feed's window field. A row outside shows that it ignored the filter. */
  readonly asked?: DayRange | undefined
  /** Metrics that have had values, and on which days. Their columns, rows and values must not disappear silently. */
  readonly valued?: Valued | undefined
}

type Read =
  | { readonly kind: "readings"; readonly readings: ReadonlyArray<PriceReading> }
  /** A row of another product or market. */
  | { readonly kind: "not ours" }
  | { readonly kind: "no value" }
  | { readonly kind: "other days" }
  /** `undated`: the row states no date at all, which occurs and says nothing about the other rows. */
  | { readonly kind: "rejected"; readonly reason: string; readonly undated: boolean }

const rejected = (reason: string, undated = false): Read => ({ kind: "rejected", reason, undated })
const noObject = rejected("the row is not a JSON object")

/** At most twelve digits before the point and 30 characters, and above zero; only a basis may be zero or negative. */
const isPrice = (metric: CatalogMetric, token: string) =>
  token.length <= 30 &&
  /^-?\d{1,12}(\.\d+)?$/.test(token) &&
  (metric.unit === "usd_per_lb_basis" || /^[^-]*[1-9]/.test(token))

/** The order matters: "Dollars per 100 Pounds" is not a price per pound. Other words state no unit. */
const wordings: ReadonlyArray<readonly [RegExp, unit: string]> = [
  [/\bbasis\b/i, "usd_per_lb_basis"],
  [/\bcents?\b/i, "cents"],
  [/\bton(ne)?s?\b/i, "usd_per_metric_ton"],
  [/\bcwt\b|hundredweight|\b100 (lbs?|pounds?)\b/i, "usd_per_cwt"],
  [/\blbs?\b|\bpounds?\b/i, "usd_per_lb"]
]

/** Reads the unit that a row states for its prices; undefined if it states no known unit. */
const unitReader = (fields: ReadonlyArray<string>) => {
  const field = onlyField(fields, "price_unit")
  return (row: PayloadRow): { readonly unit: string; readonly stated: string } | undefined => {
    const stated = field === undefined ? undefined : cellText(row[field])
    const unit = stated === undefined ? undefined : wordings.find(([words]) => words.test(stated))?.[1]
    return stated === undefined || unit === undefined ? undefined : { unit, stated }
  }
}

/**
 * The maximum number of days from publication to the day of a reading: a Thursday report may end on Friday, and Class I
 * is announced for the next month.
 */
const furthestAhead = 31

const isWithin = (day: string, { from, to }: DayRange) => day >= from && day <= to

const assertAsked = (feed: Feed, row: PayloadRow, asked: DayRange | undefined) => {
  const day = asked && parseDay(cellText(row[feed.windowField]) ?? "")
  if (asked === undefined || day === undefined || isWithin(day, asked)) return
  const problem = `${feed.windowField} was requested from ${asked.from} to ${asked.to}, and a row of ${day} came: the service ignored the filter`
  throw drift(problem)
}

/** Fields that determine which rows are read, apart from dates and numbers. */
const typedFields = (feed: Feed, fields: ReadonlyArray<string>, { asked }: Limits): ReadonlyArray<TypedField> => {
  const isDate = (cell: unknown) => parseDay(cellText(cell) ?? "") !== undefined
  const window = asked === undefined ? [] : [{ field: feed.windowField, fits: isDate }]
  return [...identityFields(feed, fields), ...selectorFields(feed, fields), ...window]
}

const rowReader = (
  feed: Feed,
  fields: ReadonlyArray<string>,
  mapping: ReadonlyArray<MappedMetric>,
  ours: ReadonlyArray<PayloadRow>,
  limits: Limits
) => {
  const { asked, days } = limits
  const periodOf = periodReader(feed.period, fields)
  const publicationOf = publicationReader(fields, ours)
  const unitOf = unitReader(fields)
  const typed = typedFields(feed, fields, limits)
  return (row: unknown, source_row: number): Read => {
    if (!isRow(row)) return noObject
    assertAsked(feed, row, asked)
    const misfit = misfitIn(typed, row)
    if (misfit !== undefined) return rejected(`${misfit} is ${quoteCell(row[misfit])}, a value of another type`)
    const own = mapping.filter(({ selects }) => selects(row))
    if (own.length === 0) return { kind: "not ours" }
    const period = periodOf(row)
    if ("fault" in period) return rejected(period.fault, !period.stated)
    const stated = own.flatMap(({ column, metric }) =>
      column !== undefined && cellText(row[column]) !== undefined ? [{ metric, column }] : []
    )
    if (stated.length === 0) return { kind: "no value" }
    const unit = unitOf(row)
    const other = unit && stated.find(({ metric }) => metric.unit !== unit.unit)
    if (other !== undefined) return rejected(`its unit is "${unit?.stated}", where ${other.metric.unit} was expected`)
    const publication = publicationOf(row, period.day)
    if ("fault" in publication) return rejected(publication.fault)
    const published_on = publication.moment.slice(0, 10)
    const isAhead = period.day > published_on // other rows need no calendar arithmetic
    if (isAhead && period.day > daysBefore(published_on, -furthestAhead)) {
      return rejected(
        `it is of ${period.day}, more than ${furthestAhead} days after it was published on ${published_on}`
      )
    }
    const readings: Array<PriceReading> = []
    for (const { column, metric } of stated) {
      const value_text = numberInCell(row[column])
      if (value_text === undefined || !isPrice(metric, value_text)) {
        return rejected(`${column} is ${quoteCell(row[column])}, which is not a price`)
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

/** Throws `DriftFound` if a feed that has given values has only rows of something else. */
const assertOurs = (
  feed: Feed,
  rows: ReadonlyArray<PayloadRow>,
  ours: ReadonlyArray<PayloadRow>,
  { days, valued }: Limits
) => {
  if (rows.length === 0 || ours.length > 0 || days !== undefined) return
  const lost = feed.metrics.find(({ metric_name }) => valued?.has(metric_name))
  if (lost === undefined) return
  const wanted = lost.where.map(({ field, values }) => `${field} ${values.join(" or ")}`).join(", ")
  const problem = `none of its ${rows.length} rows has the values that selected earlier prices, such as ${wanted}`
  throw drift(problem)
}

/** Single bad rows are rejects. If no row gives a reading, and more are unreadable than empty, a field has changed. */
const assertReadable = (fields: ReadonlyArray<string>, reads: ReadonlyArray<Read>) => {
  const unreadable = reads.flatMap((read) => (read.kind === "rejected" && !read.undated ? [read.reason] : []))
  const isComplete = reads.some(({ kind }) => kind === "readings" || kind === "other days")
  const withoutValue = reads.filter(({ kind }) => kind === "no value").length
  if (isComplete || unreadable.length <= withoutValue) return
  const problem = `${unreadable.length} of ${reads.length} rows cannot be read, and no other row has a price; the first: ${unreadable[0]}`
  throw drift(problem, fields)
}

const dayReader = (feed: Feed, fields: ReadonlyArray<string>) => {
  const periodOf = periodReader(feed.period, fields)
  return (row: PayloadRow) => {
    const period = periodOf(row)
    return "day" in period ? period.day : undefined
  }
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
      example: JSON.stringify(rows.find((row) => cellText(row[field]) !== undefined)?.[field] ?? null).slice(0, 200)
    }))
}

/** Reads the rows of one payload. Throws `DriftFound` if the payload lacks what the mapping needs. */
export const normalise = (feed: Feed, payload: Payload, limits: Limits = {}): Normalised => {
  const { valued = new Map() } = limits
  assertReport(feed, payload)
  const rows = payload.rows.filter(isRow)
  const fields = fieldNames(rows)
  assertTypes(typedFields(feed, fields, limits), rows)
  const mapping = rows.length === 0 ? [] : mapPayload(feed, fields, rows, valued)
  const ours = rows.filter((row) => mapping.some(({ selects }) => selects(row)))
  assertOurs(feed, rows, ours, limits)
  if (ours.length > 0) assertStillStated(mapping, ours, dayReader(feed, fields), valued)
  const readRow = rows.length === 0 ? () => noObject : rowReader(feed, fields, mapping, ours, limits)
  const reads = payload.rows.map((row, index) => readRow(row, index + 1))
  assertReadable(fields, reads)

  const readings = reads.flatMap((read) => (read.kind === "readings" ? read.readings : []))
  assertOneValue(readings)
  assertAnnouncedAhead(feed, readings)
  const rejects = reads.flatMap(
    (read, index): ReadonlyArray<Rejected> =>
      read.kind === "rejected"
        ? [{ position: index + 1, reason: read.reason, payload: JSON.stringify(payload.rows[index]) }]
        : []
  )
  const measures = new Map<string, string>()
  for (const { column, metric } of mapping) if (column !== undefined) measures.set(metric.metric_name, column)
  return {
    rows_read: payload.rows.length,
    rows_silent: reads.filter(({ kind }) => kind !== "readings" && kind !== "rejected").length,
    readings,
    rejects,
    unknown_fields: unknownFields(feed, fields, rows, new Set(measures.values())),
    measures,
    absent: mapping.flatMap(({ metric, selected }) => (selected === 0 ? [metric.metric_name] : []))
  }
}
