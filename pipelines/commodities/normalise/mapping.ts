/** The catalog applied to one payload: which rows belong to which metric, and which column holds its number. */
import { numberToken } from "@larder/schemas"
import type { CatalogMetric, ColumnRule, Feed } from "../catalog.ts"
import {
  cellText,
  findField,
  isScalar,
  isStated,
  normalisedKey,
  onlyField,
  type PayloadRow,
  quoteCell
} from "../decode/payload.ts"
import { drift, type TypedField } from "./drift.ts"

/** Days on which each metric has had values. */
export type Valued = ReadonlyMap<string, ReadonlySet<string>>

export interface MappedMetric {
  readonly metric: CatalogMetric
  readonly selects: (row: PayloadRow) => boolean
  /** Undefined if an optional column is missing, or if no row of the payload shows it. */
  readonly column: string | undefined
  /** How many rows of the payload the metric selects. */
  readonly selected: number
}

/** Texts that differ only in case or whitespace are equal. */
const folded = (text: string) => text.replaceAll(/\s+/g, " ").toLowerCase()

/** Whether a cell has one of these texts. A column holds few different texts, so each is folded once. */
const isAnyOf = (values: ReadonlyArray<string>) => {
  const wanted = new Set(values.map(folded))
  const known = new Map<string, boolean>()
  return (cell: unknown) => {
    const text = cellText(cell)
    if (text === undefined) return false
    const found = known.get(text) ?? wanted.has(folded(text))
    known.set(text, found)
    return found
  }
}

/**
 * Tells which rows belong to a metric. If no row has one of its selector fields, although rows meet the other
 * conditions, nothing distinguishes these rows any more: throws `DriftFound`.
 */
const selectorOf = (metric: CatalogMetric, fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) => {
  const conditions = metric.where.map((condition) => ({ ...condition, found: findField(fields, condition.field) }))
  const known = conditions.flatMap(({ found, values }) =>
    found !== undefined && "field" in found ? [{ field: found.field, isWanted: isAnyOf(values) }] : []
  )
  const selects = (row: PayloadRow) => known.every(({ field, isWanted }) => isWanted(row[field]))
  const unknown = conditions.find(({ found }) => found === undefined || "ambiguous" in found)
  if (unknown === undefined) return selects
  if (!rows.some(selects)) return () => false
  const fault = unknown.found === undefined ? "missing" : "ambiguous"
  throw drift(`the field ${unknown.field}, which distinguishes the rows of ${metric.metric_name}, is ${fault}`, fields)
}

/** The number in a cell as a token, with its digits as printed; undefined if it is not a number. */
export const numberInCell = (cell: unknown) => (isScalar(cell) ? numberToken(cellText(cell) ?? "") : undefined)

/** Fields that identify rows or date them. A number in them is never a price. */
const keys =
  /(^|_)(id|code|year|date)$|^(report_)?(month|week)$|^(commodity|package|grade|other_grades|quality|application|lot_desc|region|community|category|group)$/

/** Columns whose stated values in these rows are mostly numbers: a single odd cell is a bad row, not a text column. */
const numberColumns = (fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) =>
  fields.filter((field) => {
    const stated = rows.filter((row) => isStated(row[field]))
    const numbers = stated.filter((row) => numberInCell(row[field]) !== undefined)
    return numbers.length * 2 > stated.length
  })

const single = (candidates: ReadonlyArray<string>, wanted: string, found: ReadonlyArray<string>) => {
  if (candidates.length === 1) return candidates[0]
  const problem =
    candidates.length === 0
      ? `${wanted} is missing`
      : `${wanted} could be ${candidates.join(" or ")}, and guessing between them would publish wrong prices`
  throw drift(problem, found)
}

/**
 * The column of a payload that a rule means, judged by the rows that the feed's metrics select. Undefined if an
 * optional column is missing, or if the rule needs rows and none is selected. Throws `DriftFound`.
 */
export const resolveColumn = (
  rule: ColumnRule,
  fields: ReadonlyArray<string>,
  selected: ReadonlyArray<PayloadRow>
): string | undefined => {
  if ("names" in rule.by) {
    const found = rule.by.names.flatMap((name) => {
      const match = findField(fields, name)
      if (match === undefined) return []
      return "field" in match ? [match.field] : match.ambiguous
    })
    const distinct = [...new Set(found)]
    if (distinct.length === 0 && rule.optional) return undefined
    return single(distinct, `the column ${rule.by.names.join(" or ")}`, fields)
  }
  if (selected.length === 0) return undefined
  const values = fields.filter((field) => !keys.test(normalisedKey(field)))
  if ("only" in rule.by) return single(numberColumns(values, selected), "the only column with numbers", fields)
  const { words } = rule.by
  const named = values.filter((field) => words.every((word) => normalisedKey(field).includes(word)))
  const isSilent = named.length === 1 && !selected.some((row) => isStated(row[named[0] ?? ""]))
  return single(
    isSilent ? named : numberColumns(named, selected),
    `the column with numbers whose name contains ${words.join(" and ")}`,
    fields
  )
}

/** A column in which no value is a number has changed its meaning: that is drift, not a bad row. */
const assertNumbers = (metric: CatalogMetric, column: string, rows: ReadonlyArray<PayloadRow>) => {
  const stated = rows.filter((row) => isStated(row[column]))
  if (stated.length === 0 || stated.some((row) => numberInCell(row[column]) !== undefined)) return
  const example = quoteCell(stated[0]?.[column])
  throw drift(`the column ${column} of ${metric.metric_name} no longer holds numbers, but values like ${example}`)
}

/** Fields by which the feed's metrics select rows. They hold texts. */
export const selectorFields = (feed: Feed, fields: ReadonlyArray<string>): ReadonlyArray<TypedField> =>
  [...new Set(feed.metrics.flatMap(({ where }) => where.map(({ field }) => field)))].flatMap((name) => {
    const field = onlyField(fields, name)
    return field === undefined ? [] : [{ field, fits: (cell: unknown) => typeof cell === "string" }]
  })

/**
 * Applies the feed's metrics to a payload. Throws `DriftFound` if it lacks what they need. Once a metric has had
 * values, its optional column is needed, too.
 */
export const mapPayload = (
  feed: Feed,
  fields: ReadonlyArray<string>,
  rows: ReadonlyArray<PayloadRow>,
  valued: Valued
): ReadonlyArray<MappedMetric> => {
  const selectors = feed.metrics.map((metric) => ({ metric, selects: selectorOf(metric, fields, rows) }))
  const ours = rows.filter((row) => selectors.some(({ selects }) => selects(row)))
  return selectors.map(({ metric, selects }) => {
    const own = ours.filter(selects)
    const rule =
      own.length > 0 && valued.has(metric.metric_name) ? { ...metric.column, optional: false } : metric.column
    const column = resolveColumn(rule, fields, ours)
    if (column !== undefined) assertNumbers(metric, column, own)
    return { metric, selects, column, selected: own.length }
  })
}

/** A rolling report restates five weeks. After a price has ended, its nulls cover four weeks that had a value. */
const weeksRestated = 5

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
    if (lost.size <= weeksRestated) continue
    throw drift(
      `the column ${column} of ${metric.metric_name} is empty in all ${own.length} rows, ${lost.size} days among them that had a value`
    )
  }
}
