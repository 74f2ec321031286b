/**
 * Small payloads in the formats of the two services: one builder for each kind of row, and recordings of every feed of
 * the catalog.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import { catalog, type Feed } from "@larder/pipelines/commodities/catalog.ts"
import { parseRows } from "@larder/pipelines/commodities/decode/payload.ts"
import { type NormaliseOptions, normalise } from "@larder/pipelines/commodities/normalise/normalise.ts"
import { feedRequests } from "@larder/pipelines/commodities/source/requests.ts"
import { PublishedNumber } from "@larder/schemas"

const { feedsByName, feeds } = catalog()

export type Row = Readonly<Record<string, unknown>>

/** A JSON number with exactly these digits: `n("1.6140")` is printed as 1.6140. */
export const n = (digits: string) => new PublishedNumber(digits)

export const feedNamed = (name: string): Feed => {
  const feed = feedsByName.get(name)
  if (feed === undefined) throw new Error(`the catalog has no feed ${name}`)
  return feed
}

export const blocks = feedNamed("gov-mpr/2993/40 Pound Block Cheddar Cheese Prices and Sales")
export const finalBlocks = feedNamed("gov-mpr/2993/Final 40 Pound Block Cheddar Cheese Prices and Sales")
export const barrels = feedNamed("gov-mpr/2993/500 Pound Barrel Cheddar Cheese Prices, Sales, and Moisture Content")

/** Fields in which every row of a report describes it: its number, title, region and commodity. */
const describeReport = ({ states }: Feed): Row =>
  Object.fromEntries(states.map(({ field, values: [first] }) => [field, first]))

// Datamart: every value is text or null.

const surveyReport = {
  report_title: "National Dairy Products Sales Report (PDF)",
  slug_name: "DYWDAIRYPRODUCTSSALES",
  slug_id: "2993"
}

/** A row of a rolling section: the week of the report in one column, the week of the number in the other. */
export const aBlockRow = (row: Row = {}): Row => ({
  week_ending_date: "09/26/2026",
  created_date: "09/30/2026",
  narrative: null,
  "Week Ending Date": "08/29/2026",
  cheese_40_Price: "1.6140",
  cheese_40_Sales: "10,362,221",
  ...surveyReport,
  published_date: "09/30/2026 13:04:36",
  ...row
})

/** A row of a final section: its only week column is the week of the number. */
export const aFinalBlockRow = (row: Row = {}): Row => {
  const { "Week Ending Date": _, ...rest } = aBlockRow()
  return { ...rest, week_ending_date: "08/29/2026", ...row }
}

/** If `price` is null, so are all barrel fields. The adjusted price differs from the price as sold. */
export const aBarrelRow = (week: string, price: string | null, row: Row = {}): Row => ({
  week_ending_date: "05/31/2025",
  created_date: "06/04/2025",
  narrative: null,
  "Week Ending Date": week,
  cheese_500_Price: price,
  cheese_500_Wtd_Price: price === null ? null : "1.8568",
  cheese_500_Sales: price === null ? null : "13,594,473",
  cheese_500_Wtd_Mst: price === null ? null : "34.91",
  ...surveyReport,
  published_date: "06/04/2025 13:03:44",
  ...row
})

/** Announced with the survey release that completes the month; its last week may end in the next month. */
export const aClassRow = (row: Row = {}): Row => ({
  week_ending_date: "08/01/2026",
  report_year: "2026",
  report_month: "Jul",
  class_2_Price: "17.60",
  class_3_Price: "15.97",
  class_4_Price: "18.34",
  ...describeReport(feedNamed("gov-mpr/2991/Detail")),
  published_date: "08/05/2026 13:04:36",
  ...row
})

/** Announced before the month of its prices. */
export const anAdvancedRow = (row: Row = {}): Row => ({
  week_ending_date: "06/13/2026",
  report_year: "2026",
  report_month: "Jul",
  class_1_Price: "21.33",
  ...describeReport(feedNamed("gov-mpr/2989/Detail")),
  published_date: "06/17/2026 13:04:11",
  ...row
})

// My Market News: numbers are JSON numbers without padding.

export const aClose = (row: Row = {}): Row => ({
  report_date: "09/29/2026",
  report_begin_date: "09/28/2026",
  report_end_date: "09/29/2026",
  published_date: "09/29/2026 10:57:04",
  slug_id: 1603,
  commodity: "Butter",
  grade: "Grade AA",
  package: null,
  close_price: 1.39,
  ...row
})

export const aWeeklyAverage = (row: Row = {}): Row => {
  const { close_price: _, ...rest } = aClose()
  const dates = { report_date: "09/21/2026", report_begin_date: "09/21/2026", report_end_date: "09/25/2026" }
  return { ...rest, ...dates, slug_id: 1602, "weekly Av": 1.3915, ...row }
}

/** A month in a year-to-date report: the report begins on 1 January. */
export const aMonthlyAverage = (row: Row = {}): Row => ({
  report_date: "01/01/2026",
  report_begin_date: "01/01/2026",
  report_end_date: "08/31/2026",
  published_date: "09/11/2026 10:22:13",
  slug_id: 1623,
  commodity: "Butter",
  grade: "Grade AA",
  region: "Chicago Mercantile Exchange",
  package: null,
  report_month: "August",
  "monthly Av": 1.4719,
  ...row
})

/** A quote of one of the regional and international reports. */
export const aRange = (slug: number, row: Row = {}): Row => ({
  report_date: "09/21/2026",
  report_begin_date: "09/21/2026",
  report_end_date: "09/25/2026",
  published_date: "09/24/2026 12:20:53",
  ...describeReport(feedNamed(`gov-mars/${slug}`)),
  slug_id: slug,
  grade: "",
  quality: null,
  group: null,
  lot_Desc: null,
  price_min: 0.59,
  price_max: 0.74,
  mostly_low_price: 0.62,
  mostly_high_price: 0.7,
  ...row
})

// Envelopes. `counts` overrides the counts that the response states.

export const marsBody = (rows: ReadonlyArray<unknown>, counts: Row = {}) =>
  JSON.stringify({
    stats: { returnedRows: rows.length, userAllowedRows: 100_000, totalRows: rows.length, ...counts },
    results: rows
  })

export const mprBody = (section: string, rows: ReadonlyArray<unknown>, counts: Row = {}) =>
  JSON.stringify({
    reportSection: section,
    stats: { "totalRows:": rows.length, "returnedRows:": rows.length, "userAllowedRows:": 99_999, ...counts },
    results: rows
  })

export const sectionsBody = (sections: Readonly<Record<string, ReadonlyArray<unknown>>>) =>
  JSON.stringify(
    Object.entries(sections).map(([reportSection, results]) => ({
      reportSection,
      stats: { returnedRows: results.length, userAllowedRows: 100_000, totalRows: results.length },
      results
    }))
  )

export const bodyOf = (feed: Feed, rows: ReadonlyArray<unknown>, counts: Row = {}) => {
  if (feed.source === "gov-mpr") return mprBody(feed.section, rows, counts)
  return feed.section === "" ? marsBody(rows, counts) : sectionsBody({ [feed.section]: rows })
}

/** Reads the text of a payload into readings. */
export const readBody = (feed: Feed, text: string, options?: NormaliseOptions) => {
  const received = { url: "https://example.test", text, content_type: null, isRecorded: false }
  return normalise(feed, parseRows(feed, received), options)
}

export const readRows = (feed: Feed, rows: ReadonlyArray<unknown>, options?: NormaliseOptions) =>
  readBody(feed, bodyOf(feed, rows), options)

/** Formats the readings of rows: `butter_sales_price_weekly 2026-08-29 1.6140`. */
export const formatReadings = (feed: Feed, ...rows: ReadonlyArray<Row>) =>
  readRows(feed, rows).readings.map(
    ({ metric_name, observed_on, value_text }) => `${metric_name} ${observed_on} ${value_text}`
  )

/** Fields that distinguish the metrics of a report, for reports with several. */
const variants: Readonly<Record<string, ReadonlyArray<Row>>> = {
  1045: [
    { quality: "Edible" },
    { quality: "Non-Edible", price_min: 0.3, mostly_low_price: 0.35, mostly_high_price: 0.4, price_max: 0.45 }
  ],
  1048: [{ lot_Desc: "Low & Medium Heat" }, { lot_Desc: "High Heat" }],
  1049: [{ lot_Desc: "Low & Medium Heat" }, { lot_Desc: "High Heat" }],
  1051: [{ group: "Acid" }, { group: "Rennet" }],
  1098: [{ commodity: "Butter" }, { commodity: "Butteroil" }]
}

const products: ReadonlyArray<Row> = [
  { commodity: "Butter" },
  { commodity: "Cheese", grade: null, package: "40 pound Block" },
  { commodity: "Cheese", grade: null, package: "Barrels" },
  { commodity: "Nonfat Dry Milk", grade: "Grade A" },
  { commodity: "Dry Whey", grade: "Extra Grade" }
]

const surveyColumn = { Butter: "Butter", "40": "cheese_40", "500": "cheese_500", Dry: "whey", Nonfat: "nonfat_milk" }

const surveyRows = ({ revision_status, section }: Feed): ReadonlyArray<Row> => {
  const product = Object.entries(surveyColumn).find(([word]) => section.replace("Final ", "").startsWith(word))?.[1]
  const {
    cheese_40_Price: _price,
    cheese_40_Sales: _sales,
    ...row
  } = revision_status === "final" ? aFinalBlockRow() : aBlockRow()
  return [{ ...row, [`${product}_Price`]: "1.6140", [`${product}_Sales`]: "10,362,221" }]
}

const makeRows = (feed: Feed): ReadonlyArray<Row> => {
  const report = feed.feed.split("/")[1] ?? ""
  switch (report) {
    case "1603":
      return products.map(aClose)
    case "1602":
      return products.map(aWeeklyAverage)
    case "1623":
      return products.map(aMonthlyAverage)
    case "2993":
      return surveyRows(feed)
    case "2991":
      return [aClassRow()]
    case "2989":
      return [anAdvancedRow()]
    default:
      return (variants[report] ?? [{}]).map((row) => aRange(Number(report), row))
  }
}

/** Returns the path of the recording of a feed. */
export const recordingOf = (feed: Feed): string => {
  const { host, pathname } = new URL(feedRequests(feed, undefined, undefined)[0]?.url ?? "")
  return path.join(host, pathname)
}

/** Bodies by feed name. */
export type Bodies = Readonly<Record<string, string>>

/** Makes one small payload for every feed of the catalog. */
export const everyFeed = (): Bodies =>
  Object.fromEntries(feeds.map((feed) => [feed.feed, bodyOf(feed, makeRows(feed))]))

/** Writes recordings in the layout of `--replay`. */
export const writeRecordings = (folder: string, bodies: Bodies) => {
  for (const [name, body] of Object.entries(bodies)) {
    const file = path.join(folder, recordingOf(feedNamed(name)))
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, body)
  }
}
