/** Reads one row of a report: the metrics that it belongs to, its day, its publication, and its numbers. */
import { addDays, type RevisionStatus } from "@larder/schemas"
import type { DayRange } from "../../run/pipeline.ts"
import { thresholds } from "../../run/thresholds.ts"
import type { CatalogMetric, Feed } from "../catalog.ts"
import { findOnlyField, type PayloadRow, quoteCell, readCell } from "../decode/payload.ts"
import { type PeriodReader, parseDay, publishedAtEndOf } from "./dates.ts"
import { findMisfit, makeDrift, type TypedField } from "./drift.ts"
import { type MappedMetric, readNumber } from "./mapping.ts"
import { isFault, type ReportRow } from "./report-rows.ts"
import { makeTextReader } from "./texts.ts"

export interface PriceReading {
  readonly metric_name: string
  readonly observed_on: string
  /** The number as a JSON token, with its digits as printed. */
  readonly value_text: string
  readonly published_at: string
  readonly revision_status: RevisionStatus | null
  /** As the row states it. */
  readonly freight: string | null
  /** Row in the payload, from 1. */
  readonly source_row: number
}

/** A text of a row that was not understood, although the row was used. */
interface OddText {
  readonly kind: "unreadable" | "unlisted"
  readonly field: string
  readonly said: string
}

export type RowResult =
  | {
      readonly kind: "readings"
      readonly readings: ReadonlyArray<PriceReading>
      readonly odd: ReadonlyArray<OddText>
      /** Outside the days of the run: its readings are not staged. */
      readonly isOfOtherDays: boolean
    }
  /** A row of another product or market. */
  | { readonly kind: "not selected" }
  | { readonly kind: "no value"; readonly odd: ReadonlyArray<OddText> }
  /** `undated`: the row has no date. This happens occasionally, and is no sign that the format changed. */
  | { readonly kind: "rejected"; readonly reason: string; readonly undated: boolean }

export const reject = (reason: string, undated = false): RowResult => ({ kind: "rejected", reason, undated })

/** At most 30 characters, and at most twelve digits before the decimal point. Positive, unless it is a basis. */
const isPrice = (metric: CatalogMetric, token: string) =>
  token.length <= 30 &&
  /^-?\d{1,12}(\.\d+)?$/.test(token) &&
  (metric.unit === "usd_per_lb_basis" || /^[^-]*[1-9]/.test(token))

/** The order matters: "Dollars per 100 Pounds" must match before "pounds". */
const unitPatterns: ReadonlyArray<readonly [RegExp, unit: string]> = [
  [/\bbasis\b/i, "usd_per_lb_basis"],
  [/\bcents?\b/i, "cents"],
  [/\bton(ne)?s?\b/i, "usd_per_metric_ton"],
  [/\bcwt\b|hundredweight|\b100 (lbs?|pounds?)\b/i, "usd_per_cwt"],
  [/\blbs?\b|\bpounds?\b/i, "usd_per_lb"]
]
const isInDollars = (text: string) => /\bdollars?\b|\bUSD?\b|\$|\bbasis\b|\bcents?\b/i.test(text)

/** Returns the unit that a row states; undefined if it states none, and `unknown` for any other text. */
const makeUnitReader = (fields: ReadonlyArray<string>) => {
  const field = findOnlyField(fields, "price_unit")
  return (row: PayloadRow) => {
    const unitText = field && readCell(row[field])
    if (unitText === undefined) return undefined
    const unit = isInDollars(unitText) ? unitPatterns.find(([pattern]) => pattern.test(unitText))?.[1] : undefined
    return { unit: unit ?? "unknown", unitText }
  }
}

const isWithin = (day: string, { from, to }: DayRange) => day >= from && day <= to

/** Throws `DriftFound` if a row shows that the service ignored the window. */
const assertRequested = (feed: Feed, row: PayloadRow, window: DayRange | undefined) => {
  const day = window && parseDay(readCell(row[feed.window_field]) ?? "")
  if (window === undefined || day === undefined || isWithin(day, window)) return
  throw makeDrift(
    `${feed.window_field} was requested from ${window.from} to ${window.to}, and a row for ${day} was returned: the service ignored the filter`
  )
}

interface RowContext {
  readonly feed: Feed
  readonly fields: ReadonlyArray<string>
  readonly mapping: ReadonlyArray<MappedMetric>
  readonly typed: ReadonlyArray<TypedField>
  readonly readPeriod: PeriodReader
  readonly runDays: DayRange | undefined
  readonly requestedWindow: DayRange | undefined
}

export const makeRowReader = (context: RowContext) => {
  const { feed, fields, readPeriod, requestedWindow, runDays, typed } = context
  const readUnit = makeUnitReader(fields)
  const freightField = findOnlyField(fields, "freight")
  const mapping = context.mapping.map((mapped) => ({ ...mapped, readTexts: makeTextReader(mapped.metric, fields) }))
  return ({ cells: row, position: source_row, publication: stated }: ReportRow): RowResult => {
    assertRequested(feed, row, requestedWindow)
    const misfit = findMisfit(typed, row)
    if (misfit !== undefined) return reject(`${misfit} is ${quoteCell(row[misfit])}, a value of another type`)
    const metrics = mapping.filter(({ selects }) => selects(row))
    if (metrics.length === 0) return { kind: "not selected" }
    const period = readPeriod(row, isFault(stated) ? undefined : stated)
    if ("fault" in period) return reject(isFault(stated) ? stated.fault : period.fault, !period.stated)
    const withValue = metrics.flatMap(({ column, metric }) =>
      column !== undefined && readCell(row[column]) !== undefined ? [{ metric, column }] : []
    )
    if (withValue.length === 0) return { kind: "no value", odd: [] }
    const verdicts = metrics.flatMap(({ readTexts }) => readTexts(row))
    const contradiction = verdicts.find((verdict) => verdict.kind === "contradiction")
    if (contradiction !== undefined) return reject(contradiction.reason)
    const unit = readUnit(row)
    const mismatched = unit && withValue.find(({ metric }) => metric.unit !== unit.unit)
    if (mismatched !== undefined)
      return reject(`its unit is "${unit?.unitText}", but ${mismatched.metric.unit} was expected`)
    if (isFault(stated)) return reject(stated.fault)
    const { timestamp: published_at } = stated ?? publishedAtEndOf(period.day)
    const published_on = published_at.slice(0, 10)
    const isAhead = period.day > published_on // other rows need no calendar arithmetic
    const maxDaysAhead = thresholds.daysAhead.value
    if (isAhead && period.day > addDays(published_on, maxDaysAhead)) {
      return reject(
        `its day is ${period.day}, more than ${maxDaysAhead} days after it was published on ${published_on}`
      )
    }
    const freight = (freightField && readCell(row[freightField])) ?? null
    const readings: Array<PriceReading> = []
    const odd = new Map<string, OddText>()
    const addOdd = (text: OddText) => odd.set(JSON.stringify(text), text)
    for (const verdict of verdicts) if (verdict.kind === "unlisted") addOdd(verdict)
    for (const { column, metric } of withValue) {
      const value_text = readNumber(row[column])
      if (value_text !== undefined && isPrice(metric, value_text)) {
        const { metric_name } = metric
        const { revision_status } = feed
        const observed_on = period.day
        readings.push({ metric_name, observed_on, value_text, published_at, revision_status, freight, source_row })
      } else if (metric.column.isOptional) {
        addOdd({ kind: "unreadable", field: column, said: readCell(row[column]) ?? "" })
      } else return reject(`${column} is ${quoteCell(row[column])}, which is not a price`)
    }
    if (readings.length === 0) return { kind: "no value", odd: [...odd.values()] }
    const isOfOtherDays = runDays !== undefined && !isWithin(period.day, runDays)
    return { kind: "readings", readings, odd: [...odd.values()], isOfOtherDays }
  }
}
