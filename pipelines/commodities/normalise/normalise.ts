/**
 * Converts the rows of a report into readings: metric, day, number and time of publication. No I/O and no clock.
 *
 * Every row has exactly one result: it has readings, is silent (no metric of the catalog, no value, or outside the days
 * of the run), or is rejected as a whole with its reason. A null or a missing number never becomes a reading.
 */
import { daysBefore } from "@larder/schemas"
import type { DayRange } from "../../run/pipeline.ts"
import type { CatalogMetric, Feed } from "../catalog.ts"
import {
  findOnlyField,
  isRow,
  isStated,
  listFields,
  type Payload,
  type PayloadRow,
  quoteCell,
  readCell
} from "../decode/payload.ts"
import { assertAnnouncedAhead, makePeriodReader, makePublicationReader, parseDay } from "./dates.ts"
import {
  assertOneValue,
  assertReport,
  assertTypes,
  findMisfit,
  identityFields,
  makeDrift,
  type TypedField
} from "./drift.ts"
import {
  assertStillHasValues,
  type DaysWithValues,
  listSelectorFields,
  type MappedMetric,
  mapPayload,
  readNumber
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

export interface Normalised {
  readonly rows_read: number
  readonly rows_silent: number
  readonly readings: ReadonlyArray<PriceReading>
  /** `position`: row in the payload, from 1. */
  readonly rejects: ReadonlyArray<{ readonly position: number; readonly reason: string; readonly payload: string }>
  readonly unknown_fields: ReadonlyArray<{ readonly field: string; readonly example: string }>
  /** Per metric, the column that it was read from (stored as `measure`). */
  readonly measures: ReadonlyMap<string, string>
  readonly metrics_without_rows: ReadonlyArray<string>
}

export interface NormaliseOptions {
  readonly runDays?: DayRange | undefined
  /** Days that the window field requested. A row outside this range shows that the service ignored the filter. */
  readonly requestedWindow?: DayRange | undefined
  /** Metrics that have had values, and on which days. Their columns, rows and values must not disappear silently. */
  readonly daysWithValues?: DaysWithValues | undefined
}

type RowResult =
  | { readonly kind: "readings"; readonly readings: ReadonlyArray<PriceReading> }
  /** A row of another product or market. */
  | { readonly kind: "not selected" }
  | { readonly kind: "no value" }
  | { readonly kind: "other days" }
  /** `undated`: the row has no date. This happens occasionally, and is no sign that the format changed. */
  | { readonly kind: "rejected"; readonly reason: string; readonly undated: boolean }

const reject = (reason: string, undated = false): RowResult => ({ kind: "rejected", reason, undated })
const notAnObject = reject("the row is not a JSON object")

/** At most 30 characters, and at most twelve digits before the decimal point. Positive, unless it is a basis. */
const isPrice = (metric: CatalogMetric, token: string) =>
  token.length <= 30 &&
  /^-?\d{1,12}(\.\d+)?$/.test(token) &&
  (metric.unit === "usd_per_lb_basis" || /^[^-]*[1-9]/.test(token))

/** The order matters: "Dollars per 100 Pounds" must match before "pounds". No match counts as no unit. */
const unitPatterns: ReadonlyArray<readonly [RegExp, unit: string]> = [
  [/\bbasis\b/i, "usd_per_lb_basis"],
  [/\bcents?\b/i, "cents"],
  [/\bton(ne)?s?\b/i, "usd_per_metric_ton"],
  [/\bcwt\b|hundredweight|\b100 (lbs?|pounds?)\b/i, "usd_per_cwt"],
  [/\blbs?\b|\bpounds?\b/i, "usd_per_lb"]
]

const makeUnitReader = (fields: ReadonlyArray<string>) => {
  const field = findOnlyField(fields, "price_unit")
  return (row: PayloadRow) => {
    const unitText = (field && readCell(row[field])) ?? ""
    const unit = unitPatterns.find(([pattern]) => pattern.test(unitText))?.[1]
    return unit === undefined ? undefined : { unit, unitText }
  }
}

/** From publication to the day of a reading. A Thursday report may end on Friday, and Class I is for the next month. */
const maxDaysAhead = 31

const isWithin = (day: string, { from, to }: DayRange) => day >= from && day <= to

const assertRequested = (feed: Feed, row: PayloadRow, window: DayRange | undefined) => {
  const day = window && parseDay(readCell(row[feed.window_field]) ?? "")
  if (window === undefined || day === undefined || isWithin(day, window)) return
  throw makeDrift(
    `${feed.window_field} was requested from ${window.from} to ${window.to}, and a row for ${day} was returned: the service ignored the filter`
  )
}

/** The fields whose values must have a fixed type: identity, selectors, and the requested window's date. */
const listTypedFields = (
  feed: Feed,
  fields: ReadonlyArray<string>,
  { requestedWindow }: NormaliseOptions
): ReadonlyArray<TypedField> => {
  const isDate = (cell: unknown) => parseDay(readCell(cell) ?? "") !== undefined
  const window = requestedWindow === undefined ? [] : [{ field: feed.window_field, fits: isDate }]
  return [...identityFields(feed, fields), ...listSelectorFields(feed, fields), ...window]
}

const makeRowReader = (
  feed: Feed,
  fields: ReadonlyArray<string>,
  mapping: ReadonlyArray<MappedMetric>,
  selectedRows: ReadonlyArray<PayloadRow>,
  options: NormaliseOptions
) => {
  const { requestedWindow, runDays } = options
  const readPeriod = makePeriodReader(feed.period, fields)
  const readPublication = makePublicationReader(fields, selectedRows)
  const readUnit = makeUnitReader(fields)
  const typed = listTypedFields(feed, fields, options)
  return (row: unknown, source_row: number): RowResult => {
    if (!isRow(row)) return notAnObject
    assertRequested(feed, row, requestedWindow)
    const misfit = findMisfit(typed, row)
    if (misfit !== undefined) return reject(`${misfit} is ${quoteCell(row[misfit])}, a value of another type`)
    const metrics = mapping.filter(({ selects }) => selects(row))
    if (metrics.length === 0) return { kind: "not selected" }
    const period = readPeriod(row)
    if ("fault" in period) return reject(period.fault, !period.stated)
    const metricsWithValue = metrics.flatMap(({ column, metric }) =>
      column !== undefined && readCell(row[column]) !== undefined ? [{ metric, column }] : []
    )
    if (metricsWithValue.length === 0) return { kind: "no value" }
    const unit = readUnit(row)
    const mismatched = unit && metricsWithValue.find(({ metric }) => metric.unit !== unit.unit)
    if (mismatched !== undefined)
      return reject(`its unit is "${unit?.unitText}", but ${mismatched.metric.unit} was expected`)
    const publication = readPublication(row, period.day)
    if ("fault" in publication) return reject(publication.fault)
    const published_on = publication.timestamp.slice(0, 10)
    const isAhead = period.day > published_on // other rows need no calendar arithmetic
    if (isAhead && period.day > daysBefore(published_on, -maxDaysAhead)) {
      return reject(
        `its day is ${period.day}, more than ${maxDaysAhead} days after it was published on ${published_on}`
      )
    }
    const readings: Array<PriceReading> = []
    for (const { column, metric } of metricsWithValue) {
      const value_text = readNumber(row[column])
      if (value_text === undefined || !isPrice(metric, value_text)) {
        return reject(`${column} is ${quoteCell(row[column])}, which is not a price`)
      }
      readings.push({
        metric_name: metric.metric_name,
        observed_on: period.day,
        value_text,
        published_at: publication.timestamp,
        is_final: feed.isFinal,
        source_row
      })
    }
    return runDays === undefined || isWithin(period.day, runDays)
      ? { kind: "readings", readings }
      : { kind: "other days" }
  }
}

const assertSelected = (
  feed: Feed,
  rows: ReadonlyArray<PayloadRow>,
  selectedRows: ReadonlyArray<PayloadRow>,
  { runDays, daysWithValues }: NormaliseOptions
) => {
  if (rows.length === 0 || selectedRows.length > 0 || runDays !== undefined) return
  const metricWithHistory = feed.metrics.find(({ metric_name }) => daysWithValues?.has(metric_name))
  if (metricWithHistory === undefined) return
  const conditions = metricWithHistory.where.map(({ field, values }) => `${field} ${values.join(" or ")}`).join(", ")
  throw makeDrift(
    `none of the report's ${rows.length} rows matches the conditions that earlier prices matched, such as ${conditions}`
  )
}

/** Single bad rows are rejects. If no row has a reading and more are rejected than have no value, a field has changed. */
const assertReadable = (fields: ReadonlyArray<string>, results: ReadonlyArray<RowResult>) => {
  const unreadable = results.flatMap((result) => (result.kind === "rejected" && !result.undated ? [result.reason] : []))
  const hasReadableRow = results.some(({ kind }) => kind === "readings" || kind === "other days")
  const withoutValue = results.filter(({ kind }) => kind === "no value").length
  if (hasReadableRow || unreadable.length <= withoutValue) return
  const problem = `${unreadable.length} of ${results.length} rows cannot be read, and no other row has a price; the first: ${unreadable[0]}`
  throw makeDrift(problem, fields)
}

const findUnknownFields = (
  { knownFields }: Feed,
  fields: ReadonlyArray<string>,
  rows: ReadonlyArray<PayloadRow>,
  mapped: ReadonlySet<string>
) =>
  fields
    .filter((field) => !mapped.has(field) && !knownFields.has(field.toLowerCase()))
    .map((field) => ({
      field,
      example: JSON.stringify(rows.find((row) => isStated(row[field]))?.[field] ?? null).slice(0, 200)
    }))

/**
 * Reads the rows of one payload. Throws `PayloadUnreadable` if it is not the report of the feed, and `DriftFound` if its
 * content does not fit the mapping or contradicts itself.
 */
export const normalise = (feed: Feed, payload: Payload, options: NormaliseOptions = {}): Normalised => {
  const { daysWithValues = new Map() } = options
  assertReport(feed, payload)
  const rows = payload.rows.filter(isRow)
  const fields = listFields(rows)
  assertTypes(listTypedFields(feed, fields, options), rows)
  const { mapping, selectedRows } =
    rows.length === 0 ? { mapping: [], selectedRows: [] } : mapPayload(feed, fields, rows, daysWithValues)
  assertSelected(feed, rows, selectedRows, options)
  if (selectedRows.length > 0)
    assertStillHasValues(mapping, selectedRows, makePeriodReader(feed.period, fields), daysWithValues)
  const readRow = rows.length === 0 ? () => notAnObject : makeRowReader(feed, fields, mapping, selectedRows, options)
  const results = payload.rows.map((row, index) => readRow(row, index + 1))
  assertReadable(fields, results)

  const readings = results.flatMap((result) => (result.kind === "readings" ? result.readings : []))
  assertOneValue(readings)
  assertAnnouncedAhead(feed, readings)
  const rejects = results.flatMap((result, index) =>
    result.kind === "rejected"
      ? [{ position: index + 1, reason: result.reason, payload: JSON.stringify(payload.rows[index]) }]
      : []
  )
  const measures = new Map<string, string>()
  for (const { column, metric } of mapping) if (column !== undefined) measures.set(metric.metric_name, column)
  return {
    rows_read: payload.rows.length,
    rows_silent: results.filter(({ kind }) => kind !== "readings" && kind !== "rejected").length,
    readings,
    rejects,
    unknown_fields: findUnknownFields(feed, fields, rows, new Set(measures.values())),
    measures,
    metrics_without_rows: mapping.flatMap(({ metric, selectedCount }) =>
      selectedCount === 0 ? [metric.metric_name] : []
    )
  }
}
