/** Payloads of the Datamart service: envelope and the ten sections of the weekly survey (report 2993). */
import { type Day, formatUsDate } from "./calendar.ts"
import { addCommas, formatFixed } from "./decimal.ts"
import type { BarrelPrint, Print } from "./facts.ts"
import { findPrint, getFinalPrint, type SurveyWeek } from "./prints.ts"
import { makeChance } from "./random.ts"
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

const objectOf = (fields: Readonly<Record<string, unknown>>) =>
  `{ ${Object.entries(fields)
    .map(([key, value]) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`)
    .join(", ")} }`

export const mprPayload = (
  slug: number,
  section: string,
  sections: ReadonlyArray<string>,
  rows: ReadonlyArray<MprRow>
): Payload => ({
  path: `${host}/${slug}/${encodeURIComponent(section)}`,
  // The colon is part of the names of the counts.
  body: `{ "reportSection" : ${JSON.stringify(section)}, "reportSections" : [ ${sections.map((name) => JSON.stringify(name)).join(", ")} ], "stats" : ${objectOf(
    { "totalRows:": rows.length, "returnedRows:": rows.length, "userAllowedRows:": 99_999 }
  )}, "results" : [ ${rows.map(objectOf).join(",\n")} ] }`
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

const orNull = (value: number | undefined, text: (value: number) => string) =>
  value === undefined ? null : text(value)
const perPound = (value: number) => formatFixed(value, 4)

/** One rolling section and its final twin, which have the same price columns. */
interface Section<P extends Print = Print> {
  readonly name: string
  readonly survey: ReadonlyArray<SurveyWeek<P>>
  readonly columns: (print: P | null) => MprRow
}

const plain =
  (column: string) =>
  (print: Print | null): MprRow => ({
    [`${column}_Price`]: orNull(print?.price, perPound),
    [`${column}_Sales`]: orNull(print?.pounds, addCommas)
  })

const barrel = (print: BarrelPrint | null): MprRow => ({
  cheese_500_Price: orNull(print?.price, perPound),
  cheese_500_Wtd_Price: orNull(print?.adjusted, perPound),
  cheese_500_Sales: orNull(print?.pounds, addCommas),
  cheese_500_Wtd_Mst: orNull(print?.moisture, (value) => formatFixed(value, 2))
})

const names = [
  "Butter Prices and Sales",
  "40 Pound Block Cheddar Cheese Prices and Sales",
  "500 Pound Barrel Cheddar Cheese Prices, Sales, and Moisture Content",
  "Dry Whey Prices and Sales",
  "Nonfat Dry Milk Prices and Sales"
] as const
const sections = ["Summary", ...names, ...names.map((name) => `Final ${name}`)]

const head = (week: Day, release: Release): MprRow => ({
  week_ending_date: formatUsDate(week),
  created_date: formatUsDate(release.day),
  narrative: null
})

const tail = (release: Release) =>
  makeMprTail(2993, "DYWDAIRYPRODUCTSSALES", "National Dairy Products Sales Report (PDF)", release)

/** Ascending in one report and descending in the next, sometimes neither, as in real payloads. */
const inReportOrder = <T>(report: Day, ascending: ReadonlyArray<T>): ReadonlyArray<T> => {
  const random = makeChance(`order ${formatUsDate(report)}`)
  if (random.happens(0.1) && lastWeek - report > 600) return random.shuffled(ascending)
  return (lastWeek - report) % 14 === 0 ? ascending : ascending.toReversed()
}

const rollingRows = <P extends Print>({ survey, columns }: Section<P>) => {
  const rows: Array<MprRow> = []
  for (let report = lastWeek; report >= firstReport; report -= 7) {
    const release = findRelease(report)
    const five = survey.filter(({ week }) => week <= report && week > report - 35)
    for (const week of inReportOrder(report, five))
      rows.push({
        ...head(report, release), // here the lower-case column is the week of the report
        "Week Ending Date": formatUsDate(week.week),
        ...columns(findPrint(week, report)),
        ...tail(release)
      })
  }
  return rows
}

/** A week is final in the fifth report that carries it. */
const finalRows = <P extends Print>({ survey, columns }: Section<P>) =>
  survey
    .filter(({ week }) => week >= firstReport && week + 28 <= lastWeek)
    .map((week): MprRow => {
      const release = findRelease(week.week + 28)
      return { ...head(week.week, release), ...columns(getFinalPrint(week)), ...tail(release) }
    })
    .toReversed()

/** Lazily, because one section is three megabytes of text. */
function* bothSections<P extends Print>(section: Section<P>): Generator<Payload> {
  yield mprPayload(2993, section.name, sections, rollingRows(section))
  yield mprPayload(2993, `Final ${section.name}`, sections, finalRows(section))
}

export function* surveyPayloads(survey: Surveys): Generator<Payload> {
  yield* bothSections({ name: names[0], survey: survey.butter, columns: plain("Butter") })
  yield* bothSections({ name: names[1], survey: survey.block, columns: plain("cheese_40") })
  yield* bothSections({ name: names[2], survey: survey.barrel, columns: barrel })
  yield* bothSections({ name: names[3], survey: survey.whey, columns: plain("whey") })
  yield* bothSections({ name: names[4], survey: survey.nonfatDryMilk, columns: plain("nonfat_milk") })
}
