/**
 * Converts the rows of a report into readings: metric, day, number and time of publication. No I/O and no clock.
 *
 * Every row has exactly one result: it has readings, is skipped (no metric of the catalog, no value, or outside the days
 * of the run), or is rejected as a whole with its reason. A null or a missing number never becomes a reading.
 *
 * A fault in the newest publication excludes the whole feed, because the report may have changed. A fault in an
 * older row rejects only that row.
 */

import { type OddValue, OddValueCounter } from "../../run/odd-values.ts"
import type { DayRange } from "../../run/pipeline.ts"
import type { Feed } from "../catalog.ts"
import { isStated, type Payload, readCell } from "../decode/payload.ts"
import { findContradictions } from "./contradictions.ts"
import { makePeriodReader, type PeriodReader, parseDay } from "./dates.ts"
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
import {
  type Entry,
  isFault,
  isReportRow,
  listEntries,
  makeNewestTest,
  publishedAt,
  type ReportRow
} from "./report-rows.ts"
import { makeRowReader, type PriceReading, type RowResult, reject } from "./rows.ts"
import {
  assertMatched,
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
const assertReadable = (fields: ReadonlyArray<string>, outcomes: ReadonlyArray<Outcome>) => {
  const results = outcomes.map(({ result }) => result)
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
  rows: ReadonlyArray<ReportRow>,
  mapped: ReadonlySet<string>
) =>
  fields
    .filter((field) => !mapped.has(field) && !knownFields.has(field.toLowerCase()))
    .map((field) => ({
      field,
      example: JSON.stringify(rows.find(({ cells }) => isStated(cells[field]))?.cells[field] ?? null).slice(0, 200)
    }))

/** What became of an entry of the payload. */
interface Outcome {
  readonly entry: Entry
  readonly result: RowResult
}

const listReadings = (outcomes: ReadonlyArray<Outcome>) =>
  outcomes.flatMap(({ result }) => (result.kind === "readings" ? result.readings : []))

/** Rejects all rows of each contradiction. Throws `DriftFound` for one in the newest publication. */
const rejectContradictions = (
  outcomes: ReadonlyArray<Outcome>,
  isNewestDay: (timestamp: string) => boolean
): ReadonlyArray<Outcome> => {
  const problems = new Map<number, string>()
  for (const { problem, published_at, source_rows } of findContradictions(listReadings(outcomes))) {
    if (isNewestDay(published_at)) throw makeDrift(problem)
    for (const source_row of source_rows) problems.set(source_row, problem)
  }
  if (problems.size === 0) return outcomes
  return outcomes.map((outcome) => {
    const problem = problems.get(outcome.entry.position)
    return problem === undefined ? outcome : { ...outcome, result: reject(problem) }
  })
}

/** The day that a row prices; undefined if it cannot be read. */
type DayReader = (row: ReportRow) => string | undefined

/** The rows that have a price and match no metric. */
const listUnmatched = (outcomes: ReadonlyArray<Outcome>, prices: ReadonlyArray<string>, readDay: DayReader) =>
  outcomes.flatMap(({ entry, result }) => {
    if (result.kind !== "not selected" || !isReportRow(entry)) return []
    const { cells } = entry
    if (!prices.some((column) => readNumber(cells[column]) !== undefined)) return []
    return [{ cells, published_at: publishedAt(entry) ?? "", observed_on: readDay(entry) ?? "" }]
  })

const countOddValues = (outcomes: ReadonlyArray<Outcome>, unmatched: ReadonlyArray<UnmatchedText>) => {
  const counter = new OddValueCounter()
  for (const { result } of outcomes) {
    if ("odd" in result) for (const { field, kind, said } of result.odd) counter.add(kind, field, said)
  }
  for (const { field, rows, said } of unmatched) counter.add("unmatched", field, said, rows)
  return counter.list()
}

/** For a payload without fields, and so without rows. */
const noPeriods: PeriodReader = () => ({ fault: "it has no field", stated: false })

/**
 * Reads the rows of one payload. Throws `PayloadUnreadable` if it is not the report of the feed, and `DriftFound` if its
 * content does not fit the mapping, or its newest publication contradicts itself.
 */
export const normalise = (feed: Feed, payload: Payload, options: NormaliseOptions = {}): Normalised => {
  const { daysWithValues = new Map(), isPartOfHistory = options.runDays !== undefined } = options
  const { entries, fields } = listEntries(feed, payload)
  const objects = entries.filter(isReportRow)
  const { isNewestDay, isNewestRow } = makeNewestTest(objects, options)
  const strangers = findStrangers(feed, payload.url, fields, objects, isNewestRow, isPartOfHistory)
  const rows = objects.filter((row) => !strangers.has(row))
  const cells = rows.map((row) => row.cells)
  const typed = listTypedFields(feed, fields, options)
  assertTypes(typed, cells)
  const { mapping, selectedRows } =
    rows.length === 0 ? { mapping: [], selectedRows: [] } : mapPayload(feed, fields, rows)

  const { requestedWindow, runDays } = options
  const readPeriod = fields.length === 0 ? noPeriods : makePeriodReader(feed.period, fields)
  const readRow = makeRowReader({ feed, fields, mapping, typed, readPeriod, runDays, requestedWindow })
  const readEntry = (entry: Entry): RowResult => {
    if (!isReportRow(entry)) return reject("the row is not a JSON object")
    const stranger = strangers.get(entry)
    return stranger === undefined ? readRow(entry) : reject(stranger)
  }
  const read = entries.map((entry): Outcome => ({ entry, result: readEntry(entry) }))

  const readDay: DayReader = (row) => {
    const period = readPeriod(row.cells, isFault(row.publication) ? undefined : row.publication)
    return "day" in period ? period.day : undefined
  }
  const unmatched = groupUnmatched(feed, fields, listUnmatched(read, listPriceColumns(mapping, fields, cells), readDay))
  if (!isPartOfHistory) assertMatched(feed, rows.length, selectedRows.length, unmatched, daysWithValues)
  const emptied = findEmptied(mapping, selectedRows, readDay, daysWithValues)
  const fault = emptied.find(({ metric }) => !metric.column.isOptional)
  if (fault !== undefined) throw makeDrift(fault.problem)
  if (!isPartOfHistory) assertReadable(fields, read)
  const outcomes = rejectContradictions(read, isNewestDay)

  const readings = listReadings(outcomes)
  const isStaged = ({ result }: Outcome) => result.kind === "readings" && !result.isOfOtherDays
  const rejects = outcomes.flatMap(({ entry, result }) => {
    if (result.kind !== "rejected") return []
    const { position, stated } = entry
    const is_newest = isReportRow(entry) && isNewestRow(entry)
    return [{ position, reason: result.reason, payload: JSON.stringify(stated), is_newest }]
  })
  const measures = new Map<string, string>()
  for (const { column, metric } of mapping) if (column !== undefined) measures.set(metric.metric_name, column)
  return {
    rows_read: payload.rows.length,
    rows_skipped: outcomes.filter((outcome) => !isStaged(outcome) && outcome.result.kind !== "rejected").length,
    rows_judged: outcomes.filter(({ result }) => result.kind !== "not selected").length,
    readings: listReadings(outcomes.filter(isStaged)),
    rejects,
    odd_values: countOddValues(outcomes, unmatched),
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
