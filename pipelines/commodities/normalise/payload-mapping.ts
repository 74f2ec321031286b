/** The catalog applied to one payload: which rows belong to which metric, and which column holds its number. */
import { numberToken } from "@larder/schemas/decimals.ts"
import type { Feed, Metric } from "../catalog.ts"
import type { TypedField } from "../decode/cell-types.ts"
import { DriftFound, findField, isScalar, type PayloadRow, quoted, textOf } from "../decode/field.ts"
import { resolveColumn } from "./column.ts"
import type { Valued } from "./whole-payload.ts"

export interface MappedMetric {
  readonly metric: Metric
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
    const text = textOf(cell)
    if (text === undefined) return false
    const found = known.get(text) ?? wanted.has(folded(text))
    known.set(text, found)
    return found
  }
}

/**
 * Finds a metric's selector fields once. A field that no row has matters if rows meet the other conditions: then
 * nothing distinguishes them any more, and this throws `DriftFound`.
 */
const selectorOf = (metric: Metric, fields: ReadonlyArray<string>, rows: ReadonlyArray<PayloadRow>) => {
  const conditions = metric.where.map((condition) => ({ ...condition, found: findField(fields, condition.field) }))
  const known = conditions.flatMap(({ found, values }) =>
    found !== undefined && "field" in found ? [{ field: found.field, isWanted: isAnyOf(values) }] : []
  )
  const selects = (row: PayloadRow) => known.every(({ field, isWanted }) => isWanted(row[field]))
  const unknown = conditions.filter(({ found }) => found === undefined || "ambiguous" in found)
  const [first] = unknown
  if (first === undefined) return selects
  if (!rows.some(selects)) return () => false
  const problem = `the field ${first.field}, which tells the rows of ${metric.metric_name} apart, is ${first.found === undefined ? "missing" : "ambiguous"}`
  throw new DriftFound({ problem, found: [...fields] })
}

/** The number in a cell as a token, with its digits as printed; undefined if it is not a number. */
export const tokenOf = (cell: unknown) => (isScalar(cell) ? numberToken(textOf(cell) ?? "") : undefined)

/** A column in which no value is a number has changed its meaning: that is drift, not a bad row. */
const assertNumbers = (metric: Metric, column: string, rows: ReadonlyArray<PayloadRow>) => {
  const stated = rows.filter((row) => textOf(row[column]) !== undefined)
  if (stated.length === 0 || stated.some((row) => tokenOf(row[column]) !== undefined)) return
  const example = quoted(stated[0]?.[column])
  const problem = `the column ${column} of ${metric.metric_name} holds no numbers any more, but values like ${example}`
  throw new DriftFound({ problem, found: [] })
}

/** Fields by which the feed's metrics select rows. They hold texts. */
export const selectorFields = (feed: Feed, fields: ReadonlyArray<string>): ReadonlyArray<TypedField> =>
  [...new Set(feed.metrics.flatMap(({ where }) => where.map(({ field }) => field)))].flatMap((name) => {
    const found = findField(fields, name)
    return found !== undefined && "field" in found
      ? [{ field: found.field, fits: (cell: unknown) => typeof cell === "string" }]
      : []
  })

/**
 * Applies the feed's metrics to a payload. Throws `DriftFound` if it lacks what they need. An optional column is
 * needed, too, once its metric has had values.
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
