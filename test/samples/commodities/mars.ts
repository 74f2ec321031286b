/** Payloads of the Market News service: envelope, columns of every dairy row, and publication times. */

import { type Day, formatUsDate } from "./calendar.ts"
import { readMarketNewsReports } from "./facts.ts"
import { getValue } from "./lookup.ts"
import type { Payload } from "./mpr.ts"
import { makeRandomStream } from "./random.ts"

export type MarsRow = Readonly<Record<string, string | number | null>>

const host = "marsapi.ams.usda.gov/services/v1.2/reports"
export const reports = readMarketNewsReports()

const makeStats = (rows: ReadonlyArray<MarsRow>) => ({
  returnedRows: rows.length,
  userAllowedRows: 100_000,
  totalRows: rows.length
})

/** A report without sections returns its rows directly. */
export const makeMarsPayload = (slug: number, rows: ReadonlyArray<MarsRow>): Payload => ({
  path: `${host}/${slug}`,
  body: JSON.stringify({ stats: makeStats(rows), results: rows })
})

/** The response to `?allSections=true`: one envelope per section. */
export const makeMarsSectionsPayload = (
  slug: number,
  sections: ReadonlyArray<{ readonly name: string; readonly rows: ReadonlyArray<MarsRow> }>
): Payload => {
  const reportSections = sections.map(({ name }) => name)
  return {
    path: `${host}/${slug}`,
    body: JSON.stringify(
      sections.map(({ name, rows }) => ({ reportSection: name, reportSections, stats: makeStats(rows), results: rows }))
    )
  }
}

const twoDigits = (value: number) => String(value).padStart(2, "0")

/** The newest report has its real time; earlier ones have the same hour and minute, with different seconds. */
export const makeStamp = (slug: number, day: Day, isNewest: boolean) => {
  const { published } = getValue(reports, slug)
  if (isNewest) return published
  const second = twoDigits(makeRandomStream(`stamp ${slug} ${day}`).whole(0, 59))
  return `${formatUsDate(day)} ${published.slice(11, 16)}:${second}`
}

export interface Period {
  readonly begin: Day
  readonly end: Day
  /** The trading day of a daily report, otherwise the beginning of the period. */
  readonly day: Day
  readonly published: string
}

/** The first columns of every dairy row. Here `slug_id` is a number; in the list of reports it is a text. */
export const makeMarsHead = (slug: number, period: Period): MarsRow => ({
  report_date: formatUsDate(period.day),
  report_begin_date: formatUsDate(period.begin),
  report_end_date: formatUsDate(period.end),
  published_date: period.published,
  office_name: "Madison",
  office_state: "WI",
  office_city: "Madison",
  market_type: "Point of Sale - Dairy",
  market_location_name: null,
  market_location_state: null,
  market_location_city: null,
  slug_id: slug,
  slug_name: `AMS_${slug}`,
  report_title: getValue(reports, slug).title
})

/** A number without padding, as the service prints it: 18200 is `1.82`. */
export const toDollars = (tenThousandths: number) => tenThousandths / 10_000
