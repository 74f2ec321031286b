/** Payloads of the Datamart service: envelope and the ten sections of the weekly survey (report 2993). */
import { type Day, formatUsDate } from "./calendar.ts"
import { addCommas, formatFixed } from "./decimal.ts"
import type { BarrelPrint, Print } from "./facts.ts"
import { findPrint, getFinalPrint, type SurveyWeek } from "./prints.ts"
import { makeRandomStream } from "./random.ts"
import { findRelease, type Release } from "./releases.ts"
import { firstReport, lastWeek, type Surveys } from "./survey.ts"

/** Every value of this service is a text or null. Numbers have commas between thousands. */
export type MprRow = Readonly<Record<string, string | null>>

export interface Payload {
  /** Host and path as in the URL, percent-encoded, without a query. */
  readonly path: string
  readonly body: string
}

const host = "mpr.datamart.ams.usda.gov/services/v1.1/reports"

const formatObject = (fields: Readonly<Record<string, unknown>>) =>
  `{ ${Object.entries(fields)
    .map(([key, value]) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`)
    .join(", ")} }`

export const makeMprPayload = (
  slug: number,
  section: string,
  sections: ReadonlyArray<string>,
  rows: ReadonlyArray<MprRow>
): Payload => ({
  path: `${host}/${slug}/${encodeURIComponent(section)}`,
  // The colon is part of the names of the counts.
  body: `{ "reportSection" : ${JSON.stringify(section)}, "reportSections" : [ ${sections.map((name) => JSON.stringify(name)).join(", ")} ], "stats" : ${formatObject(
    { "totalRows:": rows.length, "returnedRows:": rows.length, "userAllowedRows:": 99_999 }
  )}, "results" : [ ${rows.map(formatObject).join(",\n")} ] }`
})

/** The last columns of every row of the dairy reports. */
export const makeMprTail = (slug: number, slugName: string, title: string, release: Release): MprRow => ({
  report_title: title,
  slug_name: slugName,
  slug_id: String(slug),
  office_name: "Dairy MMR",
  office_code: "DY-WA",
  office_city: "Washington",
  office_state: "DC",
  market_location_name: "Washington, DC",
  market_location_city: "Washington",
  market_location_state: "DC",
  market_type: "FMMOS",
  market_type_category: "FMMOS - non-mars",
  published_date: release.published
})

const formatOrNull = (value: number | undefined, text: (value: number) => string) =>
  value === undefined ? null : text(value)
const formatPerPound = (value: number) => formatFixed(value, 4)

/** A rolling section and the final one, which have the same price columns. */
interface Section<P extends Print = Print> {
  readonly name: string
  readonly survey: ReadonlyArray<SurveyWeek<P>>
  readonly columns: (print: P | null) => MprRow
}

const makePlainColumns =
  (column: string) =>
  (print: Print | null): MprRow => ({
    [`${column}_Price`]: formatOrNull(print?.price, formatPerPound),
    [`${column}_Sales`]: formatOrNull(print?.pounds, addCommas)
  })

const makeBarrelColumns = (print: BarrelPrint | null): MprRow => ({
  cheese_500_Price: formatOrNull(print?.price, formatPerPound),
  cheese_500_Wtd_Price: formatOrNull(print?.adjusted, formatPerPound),
  cheese_500_Sales: formatOrNull(print?.pounds, addCommas),
  cheese_500_Wtd_Mst: formatOrNull(print?.moisture, (value) => formatFixed(value, 2))
})

const names = [
  "Butter Prices and Sales",
  "40 Pound Block Cheddar Cheese Prices and Sales",
  "500 Pound Barrel Cheddar Cheese Prices, Sales, and Moisture Content",
  "Dry Whey Prices and Sales",
  "Nonfat Dry Milk Prices and Sales"
] as const
const sections = ["Summary", ...names, ...names.map((name) => `Final ${name}`)]

const makeHead = (week: Day, release: Release): MprRow => ({
  week_ending_date: formatUsDate(week),
  created_date: formatUsDate(release.day),
  narrative: null
})

const makeTail = (release: Release) =>
  makeMprTail(2993, "DYWDAIRYPRODUCTSSALES", "National Dairy Products Sales Report (PDF)", release)

/** Ascending in one report and descending in the next, sometimes neither, as in real payloads. */
const sortForReport = <T>(report: Day, ascending: ReadonlyArray<T>): ReadonlyArray<T> => {
  const random = makeRandomStream(`order ${formatUsDate(report)}`)
  if (random.happens(0.1) && lastWeek - report > 600) return random.shuffle(ascending)
  return (lastWeek - report) % 14 === 0 ? ascending : ascending.toReversed()
}

const makeRollingRows = <P extends Print>({ survey, columns }: Section<P>) => {
  const rows: Array<MprRow> = []
  for (let report = lastWeek; report >= firstReport; report -= 7) {
    const release = findRelease(report)
    const fiveWeeks = survey.filter(({ week }) => week <= report && week > report - 35)
    for (const week of sortForReport(report, fiveWeeks))
      rows.push({
        ...makeHead(report, release), // here the lower-case column is the week of the report
        "Week Ending Date": formatUsDate(week.week),
        ...columns(findPrint(week, report)),
        ...makeTail(release)
      })
  }
  return rows
}

/** A week is final in the fifth report that contains it. */
const makeFinalRows = <P extends Print>({ survey, columns }: Section<P>) =>
  survey
    .filter(({ week }) => week >= firstReport && week + 28 <= lastWeek)
    .map((week): MprRow => {
      const release = findRelease(week.week + 28)
      return { ...makeHead(week.week, release), ...columns(getFinalPrint(week)), ...makeTail(release) }
    })
    .toReversed()

/** Lazily, because one section is three megabytes of text. */
function* makeSectionPayloads<P extends Print>(section: Section<P>): Generator<Payload> {
  yield makeMprPayload(2993, section.name, sections, makeRollingRows(section))
  yield makeMprPayload(2993, `Final ${section.name}`, sections, makeFinalRows(section))
}

export function* makeSurveyPayloads(survey: Surveys): Generator<Payload> {
  yield* makeSectionPayloads({ name: names[0], survey: survey.butter, columns: makePlainColumns("Butter") })
  yield* makeSectionPayloads({ name: names[1], survey: survey.block, columns: makePlainColumns("cheese_40") })
  yield* makeSectionPayloads({ name: names[2], survey: survey.barrel, columns: makeBarrelColumns })
  yield* makeSectionPayloads({ name: names[3], survey: survey.whey, columns: makePlainColumns("whey") })
  yield* makeSectionPayloads({ name: names[4], survey: survey.nonfatDryMilk, columns: makePlainColumns("nonfat_milk") })
}
