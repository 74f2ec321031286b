/**
 * From the rows of a report to readings: which metric, which day, which number, published when. No I/O and no clock.
 *
 * A row ends in exactly one place: it gives readings, it is silent (no metric of ours, or no value), or it is rejected
 * as a whole with its reason. A null never becomes a number, and a missing number never becomes a reading.
 */
import { numberToken } from "@larder/schemas/decimals.ts"
import { type Feed, type Metric, metricsOf } from "./catalog.ts"
import { resolveColumn } from "./column.ts"
import { DriftFound, fieldsOf, findField, isScalar, type PayloadRow, textOf } from "./field.ts"
import { knownFields } from "./known-fields.ts"
import { parseDay, parseMoment, periodReader } from "./period.ts"
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
}

/** Days asked for. Rows outside are an error where the service filtered, and left out where a recording has them all. */
export interface Window {
  readonly from: string
  readonly to: string
  readonly filteredBy: "the service" | "us"
}

/** At most twelve digits before the point, and above zero; only a basis may be zero or negative. */
const isPrice = (metric: Metric, token: string) =>
  /^-?\d{1,12}(\.\d+)?$/.test(token) && (metric.unit === "usd_per_lb_basis" || /^[^-]*[1-9]/.test(token))

const sameText = (a: string, b: string) =>
  a.replaceAll(/\s+/g, " ").toLowerCase() === b.replaceAll(/\s+/g, " ").toLowerCase()

/** Finds a metric's selector fields once. Throws `DriftFound` where one is missing from every row. */
const selectorOf = (metric: Metric, feed: Feed, fields: ReadonlyArray<string>) => {
  const conditions = metric.where.map(({ field, values }) => {
    const found = findField(fields, field)
    if (found !== undefined && "field" in found) return { field: found.field, values }
    const problem = `the field ${field}, which tells the rows of ${metric.metric_name} apart, is ${found === undefined ? "missing" : "ambiguous"}`
    throw new DriftFound({ feed: feed.feed, problem, found: [...fields] })
  })
  return (row: PayloadRow) =>
    conditions.every(({ field, values }) => {
      const text = textOf(row[field])
      return text !== undefined && values.some((value) => sameText(value, text))
    })
}

const publicationOf = (feed: Feed, fields: ReadonlyArray<string>) => {
  const found = findField(fields, "published_date")
  if (found !== undefined && "ambiguous" in found) {
    throw new DriftFound({ feed: feed.feed, problem: "published_date is ambiguous", found: [...fields] })
  }
  return found?.field
}

/** A column whose every value is no number has become something else: that is drift, not a bad row. */
const assertNumbers = (feed: Feed, metric: Metric, column: string, rows: ReadonlyArray<PayloadRow>) => {
  const stated = rows.filter((row) => textOf(row[column]) !== undefined)
  const numbers = stated.filter((row) => isScalar(row[column]) && numberToken(textOf(row[column]) ?? "") !== undefined)
  if (stated.length === 0 || numbers.length > 0) return
  const example = JSON.stringify(stated[0]?.[column])
  throw new DriftFound({
    feed: feed.feed,
    problem: `the column ${column} of ${metric.metric_name} holds no numbers any more, but values like ${example}`,
    found: []
  })
}

const outsideWindow = (feed: Feed, row: PayloadRow, fields: ReadonlyArray<string>, window: Window) => {
  const found = findField(fields, feed.windowField)
  const day = found !== undefined && "field" in found ? parseDay(textOf(row[found.field]) ?? "") : undefined
  return day !== undefined && (day < window.from || day > window.to) ? day : undefined
}

const unknownFields = (feed: Feed, rows: ReadonlyArray<PayloadRow>, mapped: ReadonlySet<string>) =>
  fieldsOf(rows)
    .filter((field) => !mapped.has(field) && !knownFields(feed.source).has(field.toLowerCase()))
    .map((field) => ({
      field,
      example: JSON.stringify(rows.find((row) => textOf(row[field]) !== undefined)?.[field] ?? null).slice(0, 200)
    }))

/** Reads the rows of one payload. Throws `DriftFound` where the payload lacks what the mapping needs. */
export const normalise = (feed: Feed, payload: ReadonlyArray<unknown>, window?: Window): Normalised => {
  const rows = payload.filter(isRow)
  const fields = fieldsOf(rows)
  const measures = new Map<string, string>()
  const readings: Array<Reading> = []
  const rejects: Array<Rejected> = []
  let rows_silent = 0
  let undated = 0
  const reject = (index: number, reason: string) =>
    rejects.push({ position: index + 1, reason, payload: JSON.stringify(payload[index]) })
  if (rows.length === 0) {
    for (const index of payload.keys()) reject(index, "the row is no JSON object")
    return { rows_read: payload.length, rows_silent, readings, rejects, unknown_fields: [], measures }
  }

  const mapped = metricsOf(feed).map((metric) => {
    const selects = selectorOf(metric, feed, fields)
    const selected = rows.filter(selects)
    const column = resolveColumn(metric.column, feed.feed, fields, selected)
    if (column !== undefined) {
      assertNumbers(feed, metric, column, selected)
      measures.set(metric.metric_name, column)
    }
    return { metric, selects, column }
  })
  const dayOfRow = periodReader(feed.period, feed.feed, fields)
  const published = publicationOf(feed, fields)

  for (const [index, row] of payload.entries()) {
    if (!isRow(row)) {
      reject(index, "the row is no JSON object")
      continue
    }
    const outside = window === undefined ? undefined : outsideWindow(feed, row, fields, window)
    if (outside !== undefined && window?.filteredBy === "the service") {
      const problem = `${feed.windowField} was asked from ${window.from} to ${window.to}, and a row of ${outside} came: the filter was ignored`
      throw new DriftFound({ feed: feed.feed, problem, found: [] })
    }
    const own = outside === undefined ? mapped.filter(({ selects }) => selects(row)) : []
    const stated = own.flatMap(({ column, metric }) =>
      column !== undefined && textOf(row[column]) !== undefined ? [{ metric, column }] : []
    )
    if (own.length === 0) {
      rows_silent++
      continue
    }
    const period = dayOfRow(row)
    if ("fault" in period) {
      if (!period.stated) undated++
      reject(index, period.fault)
      continue
    }
    if (stated.length === 0) {
      rows_silent++
      continue
    }
    const stamp = published === undefined ? undefined : textOf(row[published])
    const published_at = stamp === undefined ? `${period.day} 00:00:00` : parseMoment(stamp)
    if (published_at === undefined) {
      reject(index, `${published} is ${JSON.stringify(stamp)}, which is no date and time`)
      continue
    }
    const values = stated.map(({ column, metric }) => ({
      metric,
      column,
      token: isScalar(row[column]) ? numberToken(textOf(row[column]) ?? "") : undefined
    }))
    const fault = values.find(({ metric, token }) => token === undefined || !isPrice(metric, token))
    if (fault !== undefined) {
      reject(index, `${fault.column} is ${JSON.stringify(row[fault.column])}, which is no price`)
      continue
    }
    for (const { metric, token = "" } of values) {
      readings.push({
        metric_name: metric.metric_name,
        observed_on: period.day,
        value_text: token,
        published_at,
        is_final: feed.final,
        source_row: index + 1
      })
    }
  }
  if (rejects.length === payload.length && undated === 0) {
    throw new DriftFound({
      feed: feed.feed,
      problem: `not one of ${payload.length} rows could be read; the first: ${rejects[0]?.reason}`,
      found: [...fields]
    })
  }
  return {
    rows_read: payload.length,
    rows_silent,
    readings,
    rejects,
    unknown_fields: unknownFields(feed, rows, new Set(measures.values())),
    measures
  }
}
