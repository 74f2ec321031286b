/**
 * Converts the rows of a report into readings: metric, day, number and time of publication. No I/O and no clock.
 *
 * Every row has exactly one result: it has readings, is skipped (no metric of the catalog, no value, or outside the days
 * of the run), or is rejected as a whole with its reason. A null or a missing number never becomes a reading.
 *
 * A fault in the newest publication excludes the whole feed, because the report may have changed. A fault in an
 * older row rejects only that row.
 */

import { addDays } from "@larder/schemas"
import { type OddValue, OddValueCounter } from "../../run/odd-values.ts"
import type { DayRange } from "../../run/pipeline.ts"
import type { Feed } from "../catalog.ts"
import { isRow, isStated, listFields, type Payload, type PayloadRow, readCell } from "../decode/payload.ts"
import { unifySpellings } from "../decode/spellings.ts"
import { findContradictions } from "./contradictions.ts"
import {
  estimateReportDay,
  makePeriodReader,
  makePublicationReader,
  type PublicationReader,
  parseDay
} from "./dates.ts"
import { assertTypes, makeDrift, type TypedField } from "./drift.ts"
import { findStrangers, identityFields } from "./identity.ts"
import {
  type DaysWithValues,
  findEmptied,
  listPriceColumns,
  listSelectorFields,
  mapPayload,
  readNumber
} from "./mapping.ts"
import { makeRowReader, type PriceReading, type RowResult, reject } from "./rows.ts"
import {
  describeText,
  explainLostMetrics,
  explainMissingMetrics,
  groupUnmatched,
  type UnmatchedText
} from "./unmatched.ts"

export interface PriceReject {
  /** Row in the payload, from 1. */
  readonly position: number
  readonly reason: string
  readonly payload: string
  /** Of the newest publication of the report. */
  readonly is_newest: boolean
}

export interface Normalised {
  readonly rows_read: number
  readonly rows_skipped: number
  /** Rows that match a metric, and rejected rows: what the share of rejects is counted over. */
  readonly rows_judged: number
  readonly readings: ReadonlyArray<PriceReading>
  readonly rejects: ReadonlyArray<PriceReject>
  readonly odd_values: ReadonlyArray<OddValue>
  readonly unknown_fields: ReadonlyArray<{ readonly field: string; readonly example: string }>
  /** Per metric, the column that it was read from (stored as `measure`). */
  readonly measures: ReadonlyMap<string, string>
  readonly metrics_without_rows: ReadonlyArray<string>
  /** Messages about metrics that lost their value, with the text that is the probable cause. */
  readonly lost_metrics: ReadonlyArray<string>
  /** Messages about metrics without any value, beside texts that may be another spelling of theirs. */
  readonly possible_spellings: ReadonlyArray<string>
  /** Messages about optional columns that had values and are now missing or empty. */
  readonly emptied_columns: ReadonlyArray<string>
}

export interface NormaliseOptions {
  readonly runDays?: DayRange | undefined
  /** Days that the window field requested. A row outside this range shows that the service ignored the filter. */
  readonly requestedWindow?: DayRange | undefined
  /** Metrics that have had values, and on which days. Their columns, rows and values must not disappear silently. */
  readonly daysWithValues?: DaysWithValues | undefined
  /** The newest known publication of the report: a window of earlier days does not contain it. */
  readonly newestPublication?: string | undefined
  /** The day of the fetch: no report is published after it. */
  readonly fetchedOn?: string | undefined
  /** Days of which the rows say nothing about the report as a whole; true for the days of a run. */
  readonly isPartOfHistory?: boolean
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

/** Single bad rows are rejects. If no row has a reading and more are rejected than have no value, a field has changed. */
const assertReadable = (fields: ReadonlyArray<string>, results: ReadonlyArray<RowResult>) => {
  const unreadable = results.flatMap((result) => (result.kind === "rejected" && !result.undated ? [result.reason] : []))
  const hasReadableRow = results.some(({ kind }) => kind === "readings")
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

const timestampOf = (publication: ReturnType<PublicationReader>) =>
  publication !== undefined && "timestamp" in publication ? publication.timestamp : undefined

/** A day that a row states in another way may be some days before the publication. */
const estimateDays = 7

/**
 * Returns a test for rows of the newest publication: of its day. A row whose time of publication cannot be read may be of
 * it if it states a day shortly before. A publication after the fetch is a typing error, and never the newest.
 */
const makeNewestTest = (
  readPublication: PublicationReader,
  rows: ReadonlyArray<PayloadRow>,
  { fetchedOn, newestPublication = "" }: NormaliseOptions
) => {
  const latest = fetchedOn === undefined ? "9999-12-31" : addDays(fetchedOn, 1) // reports have another time zone
  const newest = rows.reduce(
    (last, row) => {
      const day = timestampOf(readPublication(row))?.slice(0, 10)
      return day !== undefined && day > last && day <= latest ? day : last
    },
    newestPublication.slice(0, 10)
  )
  const isNewestDay = (timestamp: string) => newest === "" || timestamp.slice(0, 10) === newest
  const isNewestRow = (row: PayloadRow) => {
    const timestamp = timestampOf(readPublication(row))
    if (timestamp !== undefined) return isNewestDay(timestamp)
    const estimate = estimateReportDay(row)
    return newest === "" || (estimate !== undefined && estimate >= addDays(newest, -estimateDays))
  }
  return { isNewestDay, isNewestRow }
}

/** Rejects all rows of each contradiction. Throws `DriftFound` for one in the newest publication. */
const rejectContradictions = (
  results: Array<RowResult>,
  isNewestDay: (timestamp: string) => boolean
): ReadonlyArray<RowResult> => {
  const readings = results.flatMap((result) => (result.kind === "readings" ? result.readings : []))
  for (const { problem, published_at, source_rows } of findContradictions(readings)) {
    if (isNewestDay(published_at)) throw makeDrift(problem)
    for (const source_row of source_rows) results[source_row - 1] = reject(problem)
  }
  return results
}

/**
 * Throws `DriftFound` if no row matches a metric although rows have prices, or metrics have had values.
 */
const assertMatched = (
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

const countOddValues = (results: ReadonlyArray<RowResult>, unmatched: ReadonlyArray<UnmatchedText>) => {
  const counter = new OddValueCounter()
  for (const result of results) {
    if ("odd" in result) for (const { field, kind, said } of result.odd) counter.add(kind, field, said)
  }
  for (const { field, rows, said } of unmatched) counter.add("unmatched", field, said, rows)
  return counter.list()
}

/** The day that a row prices; undefined if it cannot be read. */
const makeDayReader = (feed: Feed, fields: ReadonlyArray<string>, readPublication: PublicationReader) => {
  if (fields.length === 0) return () => undefined
  const readPeriod = makePeriodReader(feed.period, fields)
  return (row: PayloadRow) => {
    const publication = readPublication(row)
    const period = readPeriod(row, publication !== undefined && "timestamp" in publication ? publication : undefined)
    return "day" in period ? period.day : undefined
  }
}

/**
 * Reads the rows of one payload. Throws `PayloadUnreadable` if it is not the report of the feed, and `DriftFound` if its
 * content does not fit the mapping, or its newest publication contradicts itself.
 */
export const normalise = (feed: Feed, payload: Payload, options: NormaliseOptions = {}): Normalised => {
  const { daysWithValues = new Map(), isPartOfHistory = options.runDays !== undefined } = options
  const exact = new Set(feed.period.kind === "day" && feed.period.isExact ? [feed.period.field] : [])
  const objects = unifySpellings(payload.rows.filter(isRow), exact)
  const positions = payload.rows.flatMap((row, index) => (isRow(row) ? [index + 1] : []))
  const numbered = objects.map((row, index) => [row, positions[index] ?? 0] as const)
  const fields = listFields(objects)
  const parsePublication = makePublicationReader(feed.period, fields, objects)
  const publications = new Map(objects.map((row) => [row, parsePublication(row)])) // several steps need them
  const readPublication: PublicationReader = (row) => publications.get(row)
  const { isNewestDay, isNewestRow } = makeNewestTest(readPublication, objects, options)
  const strangers = findStrangers(feed, payload.url, fields, numbered, isNewestRow, isPartOfHistory)
  const rows = numbered.flatMap(([row, source_row]) => (strangers.has(source_row) ? [] : [row]))
  const typed = listTypedFields(feed, fields, options)
  assertTypes(typed, rows)
  const { mapping, selectedRows } =
    rows.length === 0 ? { mapping: [], selectedRows: [] } : mapPayload(feed, fields, rows)

  const byPosition = new Map(numbered.map(([row, source_row]) => [source_row, row]))
  const { requestedWindow, runDays } = options
  const readRow =
    rows.length === 0
      ? undefined
      : makeRowReader({ feed, fields, mapping, typed, readPublication, runDays, requestedWindow })
  const readResult = (source_row: number): RowResult => {
    const row = byPosition.get(source_row)
    if (row === undefined || readRow === undefined) return reject("the row is not a JSON object")
    const stranger = strangers.get(source_row)
    return stranger === undefined ? readRow(row, source_row) : reject(stranger)
  }
  const read = payload.rows.map((_, index) => readResult(index + 1))

  const prices = listPriceColumns(mapping, fields, rows)
  const readRowDay = makeDayReader(feed, fields, readPublication)
  const unmatchedRows = read.flatMap((result, index) => {
    const row = result.kind === "not selected" ? byPosition.get(index + 1) : undefined
    if (row === undefined || !prices.some((column) => readNumber(row[column]) !== undefined)) return []
    return [{ row, published_at: timestampOf(readPublication(row)) ?? "", observed_on: readRowDay(row) ?? "" }]
  })
  const unmatched = groupUnmatched(feed, fields, unmatchedRows)
  if (!isPartOfHistory) assertMatched(feed, rows.length, selectedRows.length, unmatched, daysWithValues)
  const emptied = findEmptied(mapping, selectedRows, readRowDay, daysWithValues)
  const fault = emptied.find(({ metric }) => !metric.column.isOptional)
  if (fault !== undefined) throw makeDrift(fault.problem)
  if (!isPartOfHistory) assertReadable(fields, read)
  const results = rejectContradictions(read, isNewestDay)

  const readings = results.flatMap((result) => (result.kind === "readings" ? result.readings : []))
  const staged = results.flatMap((result) =>
    result.kind === "readings" && !result.isOfOtherDays ? result.readings : []
  )
  const rejects = results.flatMap((result, index) => {
    if (result.kind !== "rejected") return []
    const row = byPosition.get(index + 1)
    const is_newest = row !== undefined && isNewestRow(row)
    return [{ position: index + 1, reason: result.reason, payload: JSON.stringify(payload.rows[index]), is_newest }]
  })
  const measures = new Map<string, string>()
  for (const { column, metric } of mapping) if (column !== undefined) measures.set(metric.metric_name, column)
  const hasReadings = (result: RowResult) => result.kind === "readings" && !result.isOfOtherDays
  return {
    rows_read: payload.rows.length,
    rows_skipped: results.filter((result) => !hasReadings(result) && result.kind !== "rejected").length,
    rows_judged: results.filter(({ kind }) => kind !== "not selected").length,
    readings: staged,
    rejects,
    odd_values: countOddValues(results, unmatched),
    unknown_fields: findUnknownFields(feed, fields, objects, new Set(measures.values())),
    measures,
    metrics_without_rows: mapping.flatMap(({ metric, selectedCount }) =>
      selectedCount === 0 ? [metric.metric_name] : []
    ),
    lost_metrics: explainLostMetrics(feed, unmatched, readings, { daysWithValues, isPartOfHistory }),
    possible_spellings: explainMissingMetrics(feed, unmatched, readings),
    emptied_columns: emptied.map(({ problem }) => problem)
  }
}
