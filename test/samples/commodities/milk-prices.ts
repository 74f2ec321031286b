/**
 * Reports 2991 (class and component prices) and 2989 (advanced prices). Class IV and its inputs are published numbers up
 * to July 2026, Class I for two months. The formulas compute all others from the survey.
 */

import { type Day, formatUsDate, getMonthName, getNextMonth, listMonths } from "./calendar.ts"
import { divideHalfUp, formatFixed, weightedAverage } from "./decimal.ts"
import { type ClassIvMonth, classIMonths, classIvMonths, type Print } from "./facts.ts"
import {
  type Averages,
  advancedReportWeek,
  butterfatPrice,
  classIiButterfat,
  classIiiSkim,
  classIiSkim,
  classISkim,
  classIvSkim,
  milkPrice
} from "./formulas.ts"
import { getElement } from "./lookup.ts"
import { type MprRow, makeMprTail, mprPayload, type Payload } from "./mpr.ts"
import { findPrint, type SurveyWeek } from "./prints.ts"
import { findRelease } from "./releases.ts"
import { lastWeek, type Surveys } from "./survey.ts"

const sections = ["Summary", "Detail"]
const perPound = (value: number) => formatFixed(value, 4)
const perCwt = (value: number) => formatFixed(value, 2)

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
    butter: requireAverage(weightedAverage(findPrints(survey.butter, after, report))),
    cheese: requireAverage(
      weightedAverage([...findPrints(survey.block, after, report), ...(month < "2025-06" ? barrels : [])])
    ),
    nonfatDryMilk: requireAverage(weightedAverage(findPrints(survey.nonfatDryMilk, after, report))),
    whey: requireAverage(weightedAverage(findPrints(survey.whey, after, report)))
  }
}

const advancedAverages = (survey: Surveys, month: string) => {
  const report = advancedReportWeek(month)
  return computeAverages(survey, month, report - 14, report)
}

const monthColumns = (month: string) => ({
  report_year: month.slice(0, 4),
  report_month: getMonthName(month).slice(0, 3)
})

const head = (week: Day, month: string): MprRow => ({
  week_ending_date: formatUsDate(week),
  created_date: formatUsDate(findRelease(week).day),
  narrative: null,
  ...monthColumns(month)
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

const classPrices = (
  survey: Surveys,
  { month, lastWeek: report, published }: ClassIvMonth,
  after: Day
): ClassColumns => {
  const walked = computeAverages(survey, month, after, report)
  const averages = { ...walked, ...(published && { butter: published.butter, nonfatDryMilk: published.nonfatDryMilk }) }
  const butterfat = butterfatPrice(month, averages.butter)
  const iv = classIvSkim(month, averages.nonfatDryMilk)
  const iii = classIiiSkim(month, averages)
  const ii = classIiSkim(month, advancedAverages(survey, month).nonfatDryMilk)
  return {
    class_2_Price: perCwt(milkPrice(ii.skim, classIiButterfat(butterfat))),
    class_2_skim_milk_Price: perCwt(ii.skim),
    class_2_butterfat_Price: perPound(classIiButterfat(butterfat)),
    class_3_Price: perCwt(milkPrice(iii.skim, butterfat)),
    class_3_skim_milk_Price: perCwt(iii.skim),
    class_4_Price: perCwt(published?.price ?? milkPrice(iv.skim, butterfat)),
    class_4_skim_milk_Price: perCwt(published?.skim ?? iv.skim),
    butterfat_Price: perPound(published?.butterfat ?? butterfat),
    protein_Price: perPound(iii.protein),
    other_solids_Price: perPound(iii.otherSolids),
    nonfat_solids_Price: perPound(iv.nonfatSolids),
    butter_monthly_avg_Price: perPound(averages.butter),
    cheese_monthly_avg_Price: perPound(averages.cheese),
    nfdm_monthly_avg_Price: perPound(averages.nonfatDryMilk),
    whey_monthly_avg_Price: perPound(averages.whey)
  }
}

const classRows = (survey: Surveys): ReadonlyArray<MprRow> => {
  const known = classIvMonths()
  const last = getElement(known, known.length - 1)
  // August and September 2026 were announced with the weeks of 08-29 and 09-26; their prices are computed.
  const months: ReadonlyArray<ClassIvMonth> = [
    ...known,
    { month: getNextMonth(last.month), lastWeek: lastWeek - 28, published: null },
    { month: getNextMonth(getNextMonth(last.month)), lastWeek, published: null }
  ]
  const nothing = Object.fromEntries(classColumns.map((column) => [column, null]))
  return months
    .map((month, index) => ({
      ...head(month.lastWeek, month.month),
      ...(index === 0 ? nothing : classPrices(survey, month, getElement(months, index - 1).lastWeek)),
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
  const averages = advancedAverages(survey, month)
  return {
    month,
    report: advancedReportWeek(month),
    averages,
    classIii: classIiiSkim(month, averages).skim,
    classIv: classIvSkim(month, averages.nonfatDryMilk).skim
  }
}

/** Since June 2025, for extended-shelf-life milk: the result of the old skim formula 13 to 36 months before. */
const shelfLifeAdjustment = (before: ReadonlyArray<Advanced>) => {
  const months = before.slice(-36, -12)
  const differences = months.map(
    ({ classIii, classIv }) => classISkim("2025-05", classIii, classIv) - Math.max(classIii, classIv)
  )
  return divideHalfUp(
    differences.reduce((sum, difference) => sum + difference, 0),
    months.length
  )
}

const advancedColumns = (advanced: Advanced, before: ReadonlyArray<Advanced>, known: number | undefined): MprRow => {
  const { month, averages, classIii, classIv } = advanced
  const butterfat = butterfatPrice(month, averages.butter)
  const ii = classIiSkim(month, averages.nonfatDryMilk)
  const skim = classISkim(month, classIii, classIv)
  const price = milkPrice(skim, butterfat)
  if (known !== undefined && known !== price)
    throw new Error(`Class I of ${month} comes to ${perCwt(price)}, but ${perCwt(known)} was announced`)
  return {
    class_1_Price: perCwt(price),
    class_1_skim_milk_Price: perCwt(skim),
    class_1_butterfat_Price: perPound(butterfat),
    class_2_skim_milk_Price: perCwt(ii.skim),
    class_2_nonfat_solids_Price: perPound(ii.nonfatSolids),
    advanced_class_3_skim_milk_Price: perCwt(classIii),
    advanced_class_4_skim_milk_Price: perCwt(classIv),
    advanced_butterfat_Price: perPound(butterfat),
    esl_adjustment_Price: month < "2025-06" ? null : perCwt(shelfLifeAdjustment(before)),
    butter_two_week_avg_Price: perPound(averages.butter),
    cheese_two_week_avg_Price: perPound(averages.cheese),
    nfdm_two_week_avg_Price: perPound(averages.nonfatDryMilk),
    whey_two_week_avg_Price: perPound(averages.whey)
  }
}

const advancedRows = (survey: Surveys): ReadonlyArray<MprRow> => {
  const known = classIMonths()
  const title = "Announcement of Advanced Prices and Pricing Factors (PDF)"
  return listMonths("2012-04", "2026-10")
    .map((month) => computeAdvanced(survey, month))
    .map((advanced, index, all) => ({
      ...head(advanced.report, advanced.month),
      ...advancedColumns(advanced, all.slice(0, index), known.get(advanced.month)),
      ...makeMprTail(2989, "DYMADVANCEDPRICES", title, findRelease(advanced.report))
    }))
    .toReversed()
}

export function* milkPricePayloads(survey: Surveys): Generator<Payload> {
  yield mprPayload(2991, "Detail", sections, classRows(survey))
  yield mprPayload(2989, "Detail", sections, advancedRows(survey))
}
