/** Applies the catalog to one payload: which rows belong to which metric, and which column contains its number. */
import { numberToken } from "@larder/schemas"
import { thresholds } from "../../run/thresholds.ts"
import type { ColumnRule } from "../catalog/cells.ts"
import type { CatalogMetric, Feed } from "../catalog.ts"
import {
  findField,
  findOnlyField,
  isScalar,
  isStated,
  normaliseKey,
  type PayloadRow,
  quoteCell,
  readCell
} from "../decode/payload.ts"
import { makeDrift, type TypedField } from "./drift.ts"
import type { ReportRow } from "./report-rows.ts"

/** Per metric, the days that have had a value. */
export type DaysWithValues = ReadonlyMap<string, ReadonlySet<string>>

export interface MappedMetric {
  readonly metric: CatalogMetric
  readonly selects: (row: PayloadRow) => boolean
  /** Undefined if an optional column is missing, or if no row shows which column it is. */
  readonly column: string | undefined
  readonly selectedCount: number
}

const foldText = (text: string) => text.replaceAll(/\s+/g, " ").toLowerCase()

/** Returns a test for cells with one of these texts. A column contains few different texts, so each is folded once. */
const makeCellTest = (values: ReadonlyArray<string>) => {
  const accepted = new Set(values.map(foldText))
  const known = new Map<string, boolean>()
  return (cell: unknown) => {
    const text = readCell(cell)
    if (text === undefined) return false
    const isAccepted = known.get(text) ?? accepted.has(foldText(text))
    known.set(text, isAccepted)
    return isAccepted
  }
}

/** Throws `DriftFound` if a selector field is missing although rows meet the other conditions. */
const makeSelector = (metric: CatalogMetric, fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) => {
  const conditions = metric.where.map((condition) => ({ ...condition, match: findField(fields, condition.field) }))
  const known = conditions.flatMap(({ match, values }) =>
    match !== undefined && "field" in match ? [{ field: match.field, accepts: makeCellTest(values) }] : []
  )
  const selects = (row: PayloadRow) => known.every(({ accepts, field }) => accepts(row[field]))
  const unknown = conditions.find(({ match }) => match === undefined || "ambiguous" in match)
  if (unknown === undefined) return selects
  if (!rows.some(selects)) return () => false
  const fault = unknown.match === undefined ? "missing" : "ambiguous"
  throw makeDrift(
    `the field ${unknown.field}, which distinguishes the rows of ${metric.metric_name}, is ${fault}`,
    fields
  )
}

/**
 * Returns the number in a cell as a token, with its digits as printed; undefined if it is not a number. A dollar sign
 * before it is omitted: every price of the catalog is in US dollars.
 */
export const readNumber = (cell: unknown) =>
  isScalar(cell) ? numberToken((readCell(cell) ?? "").replace(/^\$\s*(?=\d|\.\d)/, "")) : undefined

/** Fields that contain ids, names, dates or texts. A number in them is never a price. */
const keyFields =
  /(^|_)(id|code|year|date|narrative|unit)$|^(report_)?(month|week)$|^(commodity|package|grade|other_grades|quality|application|lot_desc|region|community|category|group|sale_type|freight|organic|origin|secondary_source_info|methodology|special_notes)$/

/** Returns columns whose stated values are mostly numbers: a single other cell is a bad row, not a column of strings. */
const findNumberColumns = (fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) =>
  fields.filter((field) => {
    const stated = rows.filter((row) => isStated(row[field]))
    const numbers = stated.filter((row) => readNumber(row[field]) !== undefined)
    return numbers.length * 2 > stated.length
  })

const requireSingle = (candidates: ReadonlyArray<string>, description: string, fields: ReadonlyArray<string>) => {
  if (candidates.length === 1) return candidates[0]
  const fault =
    candidates.length === 0
      ? "is missing"
      : `could be ${candidates.join(" or ")}; a wrong guess would publish wrong prices`
  throw makeDrift(`${description} ${fault}`, fields)
}

/** Undefined if an optional column is missing, or if the rule needs rows and none is selected. Throws `DriftFound`. */
export const resolveColumn = (
  rule: ColumnRule,
  fields: ReadonlyArray<string>,
  selected: ReadonlyArray<PayloadRow>
): string | undefined => {
  if ("names" in rule.by) {
    const matches = rule.by.names.flatMap((name) => {
      const match = findField(fields, name)
      if (match === undefined) return []
      return "field" in match ? [match.field] : match.ambiguous
    })
    const distinct = [...new Set(matches)]
    if (distinct.length === 0 && rule.isOptional) return undefined
    return requireSingle(distinct, `the column ${rule.by.names.join(" or ")}`, fields)
  }
  if (selected.length === 0) return undefined
  const values = fields.filter((field) => !keyFields.test(normaliseKey(field)))
  if ("only" in rule.by) {
    return requireSingle(findNumberColumns(values, selected), "the column with numbers", fields)
  }
  const { words } = rule.by
  const named = values.filter((field) => words.every((word) => normaliseKey(field).includes(word)))
  const isEmpty = named.length === 1 && !selected.some((row) => isStated(row[named[0] ?? ""]))
  return requireSingle(
    isEmpty ? named : findNumberColumns(named, selected),
    `the column with numbers whose name contains ${words.join(" and ")}`,
    fields
  )
}

/** A column without any number has changed its meaning: that is drift, not a bad row. */
const assertNumbers = (metric: CatalogMetric, column: string, rows: ReadonlyArray<PayloadRow>) => {
  const stated = rows.filter((row) => isStated(row[column]))
  if (stated.length === 0 || stated.some((row) => readNumber(row[column]) !== undefined)) return
  const example = quoteCell(stated[0]?.[column])
  throw makeDrift(
    `the column ${column} of ${metric.metric_name} no longer contains numbers, but values like ${example}`
  )
}

/** Names of the fields that distinguish the rows of a feed's metrics. */
export const listSelectors = ({ metrics }: Feed): ReadonlyArray<string> => [
  ...new Set(metrics.flatMap(({ where }) => where.map(({ field }) => field)))
]

export const listSelectorFields = (feed: Feed, fields: ReadonlyArray<string>): ReadonlyArray<TypedField> =>
  listSelectors(feed).flatMap((name) => {
    const field = findOnlyField(fields, name)
    return field === undefined ? [] : [{ field, fits: (cell: unknown) => typeof cell === "string" }]
  })

/** Throws `DriftFound` if the payload lacks a column that a metric needs. */
export const mapPayload = (feed: Feed, fields: ReadonlyArray<string>, rows: ReadonlyArray<ReportRow>) => {
  const allCells = rows.map(({ cells }) => cells)
  const selectors = feed.metrics.map((metric) => ({ metric, selects: makeSelector(metric, fields, allCells) }))
  const selectedRows = rows.filter(({ cells }) => selectors.some(({ selects }) => selects(cells)))
  const selectedCells = selectedRows.map(({ cells }) => cells)
  const mapping = selectors.map(({ metric, selects }): MappedMetric => {
    const metricRows = selectedCells.filter(selects)
    const column = resolveColumn(metric.column, fields, selectedCells)
    if (column !== undefined && !metric.column.isOptional) assertNumbers(metric, column, metricRows)
    return { metric, selects, column, selectedCount: metricRows.length }
  })
  return { mapping, selectedRows }
}

/**
 * Returns the columns with prices: those of the mapping, or all with numbers if no row shows which they are. Rows that
 * match no metric are judged by them.
 */
export const listPriceColumns = (
  mapping: ReadonlyArray<MappedMetric>,
  fields: ReadonlyArray<string>,
  rows: ReadonlyArray<PayloadRow>
): ReadonlyArray<string> => {
  const mapped = new Set(mapping.flatMap(({ column }) => column ?? []))
  if (mapped.size > 0) return [...mapped]
  return findNumberColumns(
    fields.filter((field) => !keyFields.test(normaliseKey(field))),
    rows
  )
}

/**
 * Returns a message for each metric whose column had values and is now missing, or empty in all rows, although more than
 * five of their days had a value. Days that never had a value may be empty: the price may not be quoted, or may have been
 * discontinued. A rolling report repeats five weeks, so after its last price it shows null for up to four that had one.
 */
export const findEmptied = (
  mapping: ReadonlyArray<MappedMetric>,
  selectedRows: ReadonlyArray<ReportRow>,
  readDay: (row: ReportRow) => string | undefined,
  daysWithValues: DaysWithValues
) =>
  mapping.flatMap(({ column, metric, selects }) => {
    const known = daysWithValues.get(metric.metric_name)
    if (known === undefined) return []
    const metricRows = selectedRows.filter(({ cells }) => selects(cells))
    if (column !== undefined && metricRows.some(({ cells }) => isStated(cells[column]))) return []
    const lost = new Set(metricRows.flatMap((row) => readDay(row) ?? []).filter((day) => known.has(day)))
    if (!thresholds.lostDays.isMetBy(lost.size)) return []
    const state = column === undefined ? "missing" : `empty in all ${metricRows.length} rows`
    const name = column ?? metric.column.name
    const problem = `the column ${name} of ${metric.metric_name} is ${state}, although ${lost.size} of their days had a value before`
    return [{ metric, problem }]
  })
