/**
 * Reports 2991 (class and component prices) and 2989 (advanced prices). Class IV and its inputs are published numbers up
 * to July 2026, Class I for two months. The formulas compute all others from the survey.
 */

import { type Day, formatUsDate, getMonthName, getNextMonth, listMonths } from "./calendar.ts"
import { computeWeightedAverage, divideHalfUp, formatFixed } from "./decimal.ts"
import { type ClassIvMonth, type Print, readClassIMonths, readClassIvMonths } from "./facts.ts"
import {
  type Averages,
  computeButterfatPrice,
  computeClassIiButterfat,
  computeClassIiiSkim,
  computeClassIiSkim,
  computeClassISkim,
  computeClassIvSkim,
  computeMilkPrice,
  findAdvancedReportWeek
} from "./formulas.ts"
import { getElement } from "./lookup.ts"
import { type MprRow, makeMprPayload, makeMprTail, type Payload } from "./mpr.ts"
import { findPrint, type SurveyWeek } from "./prints.ts"
import { findRelease } from "./releases.ts"
import { lastWeek, type Surveys } from "./survey.ts"

const sections = ["Summary", "Detail"]
const formatPerPound = (value: number) => formatFixed(value, 4)
const formatPerCwt = (value: number) => formatFixed(value, 2)

const findPrints = <P extends Print>(survey: ReadonlyArray<SurveyWeek<P>>, after: Day, report: Day) =>
  survey
    .filter(({ week }) => week > after && week <= report)
    .flatMap((week) => {
      const print = findPrint(week, report)
      return print ? [print] : []
    })

const requireAverage = (average: number | null) => {
  if (average === null) throw new Error("a month without any survey week has no average")
  return average
}

/** Averages of the weeks after one Saturday up to another, as the report of the second printed them. */
const computeAverages = (survey: Surveys, month: string, after: Day, report: Day): Averages => {
  // Barrels count 3 cents more, at 38 % moisture, until the survey dropped them in June 2025.
  const barrels = findPrints(survey.barrel, after, report).map(({ adjusted, pounds }) => ({
    price: adjusted + 300,
    pounds
  }))
  return {
    butter: requireAverage(computeWeightedAverage(findPrints(survey.butter, after, report))),
    cheese: requireAverage(
      computeWeightedAverage([...findPrints(survey.block, after, report), ...(month < "2025-06" ? barrels : [])])
    ),
    nonfatDryMilk: requireAverage(computeWeightedAverage(findPrints(survey.nonfatDryMilk, after, report))),
    whey: requireAverage(computeWeightedAverage(findPrints(survey.whey, after, report)))
  }
}

const computeAdvancedAverages = (survey: Surveys, month: string) => {
  const report = findAdvancedReportWeek(month)
  return computeAverages(survey, month, report - 14, report)
}

const makeMonthColumns = (month: string) => ({
  report_year: month.slice(0, 4),
  report_month: getMonthName(month).slice(0, 3)
})

const makeHead = (week: Day, month: string): MprRow => ({
  week_ending_date: formatUsDate(week),
  created_date: formatUsDate(findRelease(week).day),
  narrative: null,
  ...makeMonthColumns(month)
})

const classColumns = [
  "class_2_Price",
  "class_2_skim_milk_Price",
  "class_2_butterfat_Price",
  "class_3_Price",
  "class_3_skim_milk_Price",
  "class_4_Price",
  "class_4_skim_milk_Price",
  "butterfat_Price",
  "protein_Price",
  "other_solids_Price",
  "nonfat_solids_Price",
  "butter_monthly_avg_Price",
  "cheese_monthly_avg_Price",
  "nfdm_monthly_avg_Price",
  "whey_monthly_avg_Price"
] as const
type ClassColumns = Readonly<Record<(typeof classColumns)[number], string | null>>

const computeClassPrices = (
  survey: Surveys,
  { month, lastWeek: report, published }: ClassIvMonth,
  after: Day
): ClassColumns => {
  const computed = computeAverages(survey, month, after, report)
  const averages = {
    ...computed,
    ...(published && { butter: published.butter, nonfatDryMilk: published.nonfatDryMilk })
  }
  const butterfat = computeButterfatPrice(month, averages.butter)
  const iv = computeClassIvSkim(month, averages.nonfatDryMilk)
  const iii = computeClassIiiSkim(month, averages)
  const ii = computeClassIiSkim(month, computeAdvancedAverages(survey, month).nonfatDryMilk)
  return {
    class_2_Price: formatPerCwt(computeMilkPrice(ii.skim, computeClassIiButterfat(butterfat))),
    class_2_skim_milk_Price: formatPerCwt(ii.skim),
    class_2_butterfat_Price: formatPerPound(computeClassIiButterfat(butterfat)),
    class_3_Price: formatPerCwt(computeMilkPrice(iii.skim, butterfat)),
    class_3_skim_milk_Price: formatPerCwt(iii.skim),
    class_4_Price: formatPerCwt(published?.price ?? computeMilkPrice(iv.skim, butterfat)),
    class_4_skim_milk_Price: formatPerCwt(published?.skim ?? iv.skim),
    butterfat_Price: formatPerPound(published?.butterfat ?? butterfat),
    protein_Price: formatPerPound(iii.protein),
    other_solids_Price: formatPerPound(iii.otherSolids),
    nonfat_solids_Price: formatPerPound(iv.nonfatSolids),
    butter_monthly_avg_Price: formatPerPound(averages.butter),
    cheese_monthly_avg_Price: formatPerPound(averages.cheese),
    nfdm_monthly_avg_Price: formatPerPound(averages.nonfatDryMilk),
    whey_monthly_avg_Price: formatPerPound(averages.whey)
  }
}

const makeClassRows = (survey: Surveys): ReadonlyArray<MprRow> => {
  const known = readClassIvMonths()
  const last = getElement(known, known.length - 1)
  // August and September 2026 were announced with the weeks of 08-29 and 09-26; their prices are computed.
  const months: ReadonlyArray<ClassIvMonth> = [
    ...known,
    { month: getNextMonth(last.month), lastWeek: lastWeek - 28, published: null },
    { month: getNextMonth(getNextMonth(last.month)), lastWeek, published: null }
  ]
  const nullColumns = Object.fromEntries(classColumns.map((column) => [column, null]))
  return months
    .map((month, index) => ({
      ...makeHead(month.lastWeek, month.month),
      ...(index === 0 ? nullColumns : computeClassPrices(survey, month, getElement(months, index - 1).lastWeek)),
      ...makeMprTail(
        2991,
        "DYMCLASSPRICES",
        "Announcement of Class and Component Prices (PDF)",
        findRelease(month.lastWeek)
      )
    }))
    .toReversed()
}

interface Advanced {
  readonly month: string
  readonly report: Day
  readonly averages: Averages
  readonly classIii: number
  readonly classIv: number
}

const computeAdvanced = (survey: Surveys, month: string): Advanced => {
  const averages = computeAdvancedAverages(survey, month)
  return {
    month,
    report: findAdvancedReportWeek(month),
    averages,
    classIii: computeClassIiiSkim(month, averages).skim,
    classIv: computeClassIvSkim(month, averages.nonfatDryMilk).skim
  }
}

/** Since June 2025, for extended-shelf-life milk: the result of the old skim formula 13 to 36 months before. */
const computeShelfLifeAdjustment = (before: ReadonlyArray<Advanced>) => {
  const months = before.slice(-36, -12)
  const differences = months.map(
    ({ classIii, classIv }) => computeClassISkim("2025-05", classIii, classIv) - Math.max(classIii, classIv)
  )
  return divideHalfUp(
    differences.reduce((sum, difference) => sum + difference, 0),
    months.length
  )
}

const makeAdvancedColumns = (
  advanced: Advanced,
  before: ReadonlyArray<Advanced>,
  known: number | undefined
): MprRow => {
  const { month, averages, classIii, classIv } = advanced
  const butterfat = computeButterfatPrice(month, averages.butter)
  const ii = computeClassIiSkim(month, averages.nonfatDryMilk)
  const skim = computeClassISkim(month, classIii, classIv)
  const price = computeMilkPrice(skim, butterfat)
  if (known !== undefined && known !== price)
    throw new Error(`Class I of ${month} comes to ${formatPerCwt(price)}, but ${formatPerCwt(known)} was announced`)
  return {
    class_1_Price: formatPerCwt(price),
    class_1_skim_milk_Price: formatPerCwt(skim),
    class_1_butterfat_Price: formatPerPound(butterfat),
    class_2_skim_milk_Price: formatPerCwt(ii.skim),
    class_2_nonfat_solids_Price: formatPerPound(ii.nonfatSolids),
    advanced_class_3_skim_milk_Price: formatPerCwt(classIii),
    advanced_class_4_skim_milk_Price: formatPerCwt(classIv),
    advanced_butterfat_Price: formatPerPound(butterfat),
    esl_adjustment_Price: month < "2025-06" ? null : formatPerCwt(computeShelfLifeAdjustment(before)),
    butter_two_week_avg_Price: formatPerPound(averages.butter),
    cheese_two_week_avg_Price: formatPerPound(averages.cheese),
    nfdm_two_week_avg_Price: formatPerPound(averages.nonfatDryMilk),
    whey_two_week_avg_Price: formatPerPound(averages.whey)
  }
}

const makeAdvancedRows = (survey: Surveys): ReadonlyArray<MprRow> => {
  const known = readClassIMonths()
  const title = "Announcement of Advanced Prices and Pricing Factors (PDF)"
  return listMonths("2012-04", "2026-10")
    .map((month) => computeAdvanced(survey, month))
    .map((advanced, index, all) => ({
      ...makeHead(advanced.report, advanced.month),
      ...makeAdvancedColumns(advanced, all.slice(0, index), known.get(advanced.month)),
      ...makeMprTail(2989, "DYMADVANCEDPRICES", title, findRelease(advanced.report))
    }))
    .toReversed()
}

export function* makeMilkPricePayloads(survey: Surveys): Generator<Payload> {
  yield makeMprPayload(2991, "Detail", sections, makeClassRows(survey))
  yield makeMprPayload(2989, "Detail", sections, makeAdvancedRows(survey))
}
