/**
 * Recordings of the two government services and numbers derived from them, which are not part of the repository. Payloads
 * that exist only as numbers are converted to the formats of the services here.
 */
import { readFileSync } from "node:fs"
import path from "node:path"
import {
  aClassRow,
  aClose,
  aMonthlyAverage,
  aRange,
  type Bodies,
  feedNamed,
  marsBody,
  mprBody,
  type Row,
  sectionsBody
} from "../support/pipelines/commodity-payloads.ts"
import { samplesOf } from "../support/shared-samples.ts"

export const sample = (name: string) => readFileSync(path.join(samplesOf("gov"), name), "utf8")
const json = <A>(name: string): A => JSON.parse(sample(name))

const formatAmerican = (day: string) => `${day.slice(5, 7)}/${day.slice(8, 10)}/${day.slice(0, 4)}`
export const classIVMonths = () =>
  json<{
    readonly data: ReadonlyArray<{
      readonly date: string
      readonly month: string
      readonly year: number
      readonly announced: number
      readonly skim: number
      readonly butterfat: number
      readonly nfdm_avg: number
      readonly butter_avg: number
    }>
  }>("derived_class_iv.json").data

export const spotCloses = () =>
  json<{ readonly data: ReadonlyArray<{ readonly date: string; readonly price: number }> }>("derived_cme.json").data

/** Reads the first print, restatements and final print of sixteen weeks, in the order of publication. */
export const powderPrints = () =>
  sample("ndpsr_nfdm_revision_history_derived.csv")
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [week = "", seen = "", price = "", , final] = line.split(",")
      return { week, seen, price, final: final === "True" }
    })
    .toSorted((a, b) => a.seen.localeCompare(b.seen))

interface ButterMonths {
  readonly butter_grade_aa: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly report_end_dates_with_cme_rows: ReadonlyArray<string>
}
export const butterMonths = () => json<ButterMonths>("data__ams__1623.cme_butter.DERIVED.json")

export const reportTitles = () =>
  json<ReadonlyArray<{ readonly slug_id: string; readonly slug_name: string; readonly report_title: string }>>(
    "mars_v1.2_report_list_2026-09-30.dairy_subset.TRANSCRIBED.json"
  )

/** The derived files have 0 for a missing number; upstream it is null. */
const orNull = (value: number, digits: number) => (value === 0 ? null : value.toFixed(digits))

const classRows = () =>
  classIVMonths().map((month) =>
    aClassRow({
      week_ending_date: formatAmerican(month.date),
      report_year: String(month.year),
      report_month: month.month,
      class_2_Price: null,
      class_3_Price: null,
      class_4_Price: orNull(month.announced, 2),
      class_4_skim_milk_Price: orNull(month.skim, 2),
      butterfat_Price: orNull(month.butterfat, 4),
      nfdm_monthly_avg_Price: orNull(month.nfdm_avg, 4),
      butter_monthly_avg_Price: orNull(month.butter_avg, 4),
      published_date: `${formatAmerican(month.date)} 13:04:36`
    })
  )

/** Makes year-to-date reports of 2025 and 2026: some of them lack the exchange's rows. */
const makeMonthlyReports = (): ReadonlyArray<Row> => {
  const { butter_grade_aa: prices, report_end_dates_with_cme_rows: complete } = butterMonths()
  const names = Object.keys(prices)
  return ["2025", "2026"].flatMap((year) =>
    names.flatMap((last, index) => {
      if (prices[last]?.[year] === undefined) return []
      const end = new Date(Date.UTC(Number(year), index + 1, 0)).toISOString().slice(0, 10)
      const report = {
        report_begin_date: `01/01/${year}`,
        report_date: `01/01/${year}`,
        report_end_date: formatAmerican(end)
      }
      const months = names.slice(0, index + 1)
      const published_date = `${formatAmerican(end)} 10:22:13`
      const oceania = { region: "Oceania", grade: null, lot_Desc: "82% Butterfat", "monthly Av": 5658 }
      const foreign = months.map((report_month) =>
        aMonthlyAverage({ ...report, published_date, report_month, ...oceania })
      )
      const exchange = months.map((report_month) =>
        aMonthlyAverage({ ...report, published_date, report_month, "monthly Av": prices[report_month]?.[year] })
      )
      return complete.includes(end) ? [...exchange, ...foreign] : foreign
    })
  )
}

const makePowderRow = ({ price, seen, week }: ReturnType<typeof powderPrints>[number]): Row => ({
  slug_id: "2993",
  created_date: formatAmerican(seen),
  week_ending_date: formatAmerican(week),
  "Week Ending Date": formatAmerican(week),
  nonfat_milk_Price: price,
  nonfat_milk_Sales: "15,254,657",
  published_date: `${formatAmerican(seen)} 13:04:36`
})
const withoutDataWeek = ({ "Week Ending Date": _, ...row }: Row): Row => row

export type Order = <A>(rows: ReadonlyArray<A>) => ReadonlyArray<A>
export const keepOrder: Order = (rows) => rows

/** Reorders the rows of a recorded payload, and keeps everything else as recorded. */
const reorder = (name: string, order: Order) => {
  const payload = json<{ readonly results: ReadonlyArray<Row> }>(name)
  return JSON.stringify({ ...payload, results: order(payload.results) })
}

/** Makes recordings of all known numbers in the formats of the services, with the rows in this order. */
export const recordings = (order: Order): Bodies => {
  const powder = feedNamed("gov-mpr/2993/Nonfat Dry Milk Prices and Sales")
  const finalPowder = feedNamed("gov-mpr/2993/Final Nonfat Dry Milk Prices and Sales")
  const prints = order(powderPrints())
  const [nothing = ""] = /\{.*\}/.exec(sample("mars_v1.2_1083_zero_rows.probe-output.txt")) ?? []
  return {
    "gov-mpr/2993/40 Pound Block Cheddar Cheese Prices and Sales": reorder(
      "mpr_2993_block_2026-10-02.first20rows.TRANSCRIBED.json",
      order
    ),
    "gov-mpr/2993/500 Pound Barrel Cheddar Cheese Prices, Sales, and Moisture Content": reorder(
      "mpr_2993_barrel_2026-10-02.selected20rows.TRANSCRIBED.json",
      order
    ),
    [powder.feed]: mprBody(powder.section, prints.filter(({ final }) => !final).map(makePowderRow)),
    [finalPowder.feed]: mprBody(
      finalPowder.section,
      prints.filter(({ final }) => final).map((print) => withoutDataWeek(makePowderRow(print)))
    ),
    "gov-mpr/2991/Detail": mprBody("Detail", order(classRows())),
    "gov-mars/1603": marsBody(
      order(spotCloses()).map(({ date, price }) =>
        aClose({
          report_date: formatAmerican(date),
          report_begin_date: formatAmerican(date),
          published_date: `${formatAmerican(date)} 10:57:04`,
          commodity: "Nonfat Dry Milk",
          grade: "Grade A",
          close_price: price
        })
      )
    ),
    "gov-mars/1623": sectionsBody({
      "CME Monthly Averages": order(makeMonthlyReports()),
      "Dry Products Monthly Averages": []
    }),
    "gov-mars/1053": marsBody([
      aRange(1053, {
        report_begin_date: "08/17/2026",
        report_end_date: "08/21/2026",
        price_min: 1.88,
        price_max: 2.75,
        mostly_low_price: 2,
        mostly_high_price: 2.24
      })
    ]),
    "gov-mars/1034": nothing
  }
}
