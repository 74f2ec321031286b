/**
 * Federal order formulas, which round half up at every step: component prices and milk classes from survey averages.
 * Prices per pound are in 0.0001 USD, per hundredweight in 0.01 USD. The Class IV part equals every announcement since
 * April 2012. The cheese part follows the text of the orders, and was not compared with announcements.
 */
import { type Day, getWeekday, parseDay } from "./calendar.ts"
import { divideHalfUp } from "./decimal.ts"

export interface Averages {
  readonly butter: number
  readonly cheese: number
  readonly nonfatDryMilk: number
  readonly whey: number
}

/** Make allowances changed with June 2025. */
const getAllowances = (month: string) =>
  month < "2025-06"
    ? { butter: 1715, cheese: 2003, nonfatDryMilk: 1678, whey: 1991, butterfatRecovery: 90 }
    : { butter: 2272, cheese: 2519, nonfatDryMilk: 2393, whey: 2668, butterfatRecovery: 91 }

/** Tenths of a pound in a hundredweight of skim milk; changed with December 2025. */
const getComposition = (month: string) =>
  month < "2025-12"
    ? { protein: 31, otherSolids: 59, nonfatSolids: 90 }
    : { protein: 33, otherSolids: 60, nonfatSolids: 93 }

/** At 3.5 % butterfat. */
export const computeMilkPrice = (skim: number, butterfat: number) => divideHalfUp(965 * skim + 35 * butterfat, 1000)

export const computeButterfatPrice = (month: string, butter: number) =>
  divideHalfUp((butter - getAllowances(month).butter) * 1211, 1000)

export const computeClassIvSkim = (month: string, nonfatDryMilk: number) => {
  const nonfatSolids = divideHalfUp((nonfatDryMilk - getAllowances(month).nonfatDryMilk) * 99, 100)
  return { nonfatSolids, skim: divideHalfUp(nonfatSolids * getComposition(month).nonfatSolids, 1000) }
}

export const computeClassIiiSkim = (month: string, averages: Averages) => {
  const { cheese, whey, butterfatRecovery } = getAllowances(month)
  const margin = averages.cheese - cheese
  const inCheese = margin * 1572 - computeButterfatPrice(month, averages.butter) * butterfatRecovery * 10
  const protein = divideHalfUp(margin * 138_300 + inCheese * 117, 100_000)
  const otherSolids = divideHalfUp((averages.whey - whey) * 103, 100)
  const { protein: proteinPounds, otherSolids: otherPounds } = getComposition(month)
  return { protein, otherSolids, skim: divideHalfUp(protein * proteinPounds + otherSolids * otherPounds, 1000) }
}

/** Class II: the advanced Class IV skim value plus 0.70 USD; its butterfat costs 0.0070 USD more. */
export const computeClassIiSkim = (month: string, nonfatDryMilk: number) => {
  const skim = computeClassIvSkim(month, nonfatDryMilk).skim + 70
  return { skim, nonfatSolids: divideHalfUp(skim * 1000, getComposition(month).nonfatSolids) }
}
export const computeClassIiButterfat = (butterfat: number) => butterfat + 70

/** The higher of the two advanced skim values; from May 2019 to May 2025 their average plus 0.74 USD. */
export const computeClassISkim = (month: string, classIii: number, classIv: number) =>
  month >= "2019-05" && month < "2025-06" ? divideHalfUp(classIii + classIv, 2) + 74 : Math.max(classIii, classIv)

/** Advanced prices are published with the survey on a Wednesday from the 17th to the 23rd of the previous month. */
export const findAdvancedReportWeek = (month: string): Day => {
  const latest = parseDay(`${month}-01`) - 1
  const the23rd = latest - (new Date(latest * 86_400_000).getUTCDate() - 23)
  return the23rd - ((getWeekday(the23rd) + 4) % 7) - 4
}
