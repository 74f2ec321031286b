/**
 * Butter of the sales survey. Monthly averages are published (for the Class IV price), but only recent weeks: the other
 * weeks are generated, and then shifted until each month, as printed when its class price was announced, averages to the
 * published number. The two known Class I prices determine two pairs of weeks in the same way.
 */

import type { Day } from "./calendar.ts"
import { computeWeightedAverage } from "./decimal.ts"
import { type Print, readClassIMonths, readClassIvMonths, readRecentWeeks } from "./facts.ts"
import { computeButterfatPrice, computeClassIvSkim, computeMilkPrice, findAdvancedReportWeek } from "./formulas.ts"
import { getElement, getValue } from "./lookup.ts"
import { addNoise, interpolate } from "./paths.ts"
import { findPrint, inventPrints, repeatPrint, type SurveyWeek } from "./prints.ts"
import { makeRandomStream } from "./random.ts"

/** Weeks with a known average, as one report printed it. */
interface Goal {
  readonly weeks: ReadonlyArray<Day>
  readonly report: Day
  readonly average: number
}

const computeAverage = (goal: Pick<Goal, "weeks" | "report">, survey: ReadonlyMap<Day, SurveyWeek>) =>
  computeWeightedAverage(
    goal.weeks.flatMap((week) => {
      const print = findPrint(getValue(survey, week), goal.report)
      return print ? [print] : []
    })
  )

const listMonthGoals = (weeks: ReadonlyArray<Day>): ReadonlyArray<Goal> => {
  const months = readClassIvMonths()
  return months.flatMap((month, index) =>
    month.published
      ? [
          {
            weeks: weeks.filter((week) => week > getElement(months, index - 1).lastWeek && week <= month.lastWeek),
            report: month.lastWeek,
            average: month.published.butter
          }
        ]
      : []
  )
}

/** Several butter averages result in the Class I price; the middle one is used. Class IV skim is the higher value. */
const listClassIGoals = (nonfatDryMilk: ReadonlyMap<Day, SurveyWeek>): ReadonlyArray<Goal> =>
  [...readClassIMonths()].map(([month, price]) => {
    const report = findAdvancedReportWeek(month)
    const weeks = [report - 7, report]
    const powder = computeAverage({ weeks, report }, nonfatDryMilk)
    const { skim } = computeClassIvSkim(month, powder ?? 0)
    const fitting: Array<number> = []
    for (let butter = 10_000; butter < 30_000; butter++)
      if (computeMilkPrice(skim, computeButterfatPrice(month, butter)) === price) fitting.push(butter)
    return { weeks, report, average: getElement(fitting, fitting.length >> 1) }
  })

/** A line through the monthly means misses them slightly, so it is bent until it meets them. */
const bendPath = (weeks: ReadonlyArray<Day>, goals: ReadonlyArray<Goal>, known: ReadonlyMap<Day, Print>) => {
  const getMiddle = (goal: Goal) => (getElement(goal.weeks, 0) + goal.report) / 2
  const line = interpolate(goals.map((goal) => [getMiddle(goal), goal.average] as const))
  const path = addNoise("butter", weeks, line, { size: 260, memory: 0.7 })
  let prices = new Map(weeks.map((week, index) => [week, known.get(week)?.price ?? getElement(path, index)]))
  for (let round = 0; round < 12; round++) {
    const misses = interpolate(
      goals.map((goal) => {
        const mean = goal.weeks.reduce((sum, week) => sum + getValue(prices, week), 0) / goal.weeks.length
        return [getMiddle(goal), goal.average - mean] as const
      })
    )
    prices = new Map([...prices].map(([week, price]) => [week, known.has(week) ? price : price + misses(week)]))
  }
  return new Map([...prices].map(([week, price]) => [week, Math.round(price)]))
}

const shiftWeek = (week: SurveyWeek, by: number): SurveyWeek => ({
  week: week.week,
  prints: week.prints.map((print) => print && { price: print.price + by, pounds: print.pounds })
})

/** One step moves the average by at most one unit of its last place, so it cannot skip the goal. */
const meetGoal = (goal: Goal, survey: Map<Day, SurveyWeek>, fixed: ReadonlySet<Day>) => {
  const free = goal.weeks.filter((week) => !fixed.has(week))
  for (let step = 0; step < 2000; step++) {
    const average = computeAverage(goal, survey)
    if (average === null || average === goal.average) return
    for (const week of free) survey.set(week, shiftWeek(getValue(survey, week), Math.sign(goal.average - average)))
  }
  throw new Error(`butter weeks up to day ${goal.report} cannot average to ${goal.average}`)
}

export const inventButterSurvey = (
  weeks: ReadonlyArray<Day>,
  unsurveyed: ReadonlySet<Day>,
  nonfatDryMilk: ReadonlyArray<SurveyWeek>
): ReadonlyArray<SurveyWeek> => {
  const known = readRecentWeeks("butter")
  const months = listMonthGoals(weeks)
  const prices = bendPath(weeks, months, known)
  const random = makeRandomStream("butter prints")
  const survey = new Map(
    weeks.map((week): readonly [Day, SurveyWeek] => {
      const published = known.get(week)
      if (unsurveyed.has(week)) return [week, { week, prints: repeatPrint<Print>(null) }]
      if (published) return [week, { week, prints: repeatPrint(published) }]
      const final = { price: getValue(prices, week), pounds: random.whole(2_600_000, 6_400_000) }
      return [week, { week, prints: inventPrints(random, final) }]
    })
  )
  const fixed = new Set(known.keys())
  for (const goal of [...listClassIGoals(new Map(nonfatDryMilk.map((week) => [week.week, week]))), ...months]) {
    meetGoal(goal, survey, fixed)
    for (const week of goal.weeks) fixed.add(week)
  }
  return [...survey.values()]
}
