/**
 * The weeks of the sales survey. Nonfat dry milk, the last twelve weeks of the others, the last barrel weeks and the
 * monthly averages of butter are published numbers. The rest is interpolated with noise.
 */

import { inventButterSurvey } from "./butter.ts"
import { type Day, listDays, parseDay } from "./calendar.ts"
import { divideHalfUp } from "./decimal.ts"
import { type BarrelPrint, type Print, readBarrelWeeks, readNonfatDryMilkWeeks, readRecentWeeks } from "./facts.ts"
import { getElement, getValue } from "./lookup.ts"
import { type Anchors, addNoise, arriveAt, makeAnchorLine } from "./paths.ts"
import { findKnownPrints, getFinalPrint, inventPrints, repeatPrint, type SurveyWeek } from "./prints.ts"
import { makeRandomStream } from "./random.ts"

export const firstReport = parseDay("2012-03-31")
export const lastWeek = parseDay("2026-09-26")
export const weeks: ReadonlyArray<Day> = listDays(parseDay("2012-03-03"), lastWeek, 7)

/** Weeks without a survey, because of a government shutdown. */
const unsurveyed = new Set(["2013-09-28", "2013-10-05", "2013-10-12"].map(parseDay))
/** From this report on, all barrel fields are null, including the four weeks that earlier reports had printed. */
const barrelsEnd = parseDay("2025-06-07")

const block: Anchors = [
  ["2012-03-01", 1.5],
  ["2012-10-15", 1.95],
  ["2013-02-01", 1.68],
  ["2014-04-01", 2.3],
  ["2015-01-15", 1.58],
  ["2016-05-15", 1.34],
  ["2016-12-01", 1.82],
  ["2018-02-01", 1.5],
  ["2019-03-01", 1.58],
  ["2019-11-01", 2.02],
  ["2020-04-25", 1.2],
  ["2020-07-15", 2.55],
  ["2020-12-20", 1.72],
  ["2021-08-01", 1.65],
  ["2022-05-01", 2.33],
  ["2023-06-15", 1.45],
  ["2024-02-15", 1.55],
  ["2024-09-20", 2.18],
  ["2025-03-01", 1.78],
  ["2025-05-25", 1.86],
  ["2025-11-01", 1.7],
  ["2026-02-01", 1.42],
  ["2026-05-15", 1.58],
  ["2026-07-04", 1.5]
]
const whey: Anchors = [
  ["2012-03-01", 0.6],
  ["2014-06-01", 0.67],
  ["2016-02-01", 0.26],
  ["2017-04-01", 0.5],
  ["2018-04-01", 0.29],
  ["2020-01-01", 0.35],
  ["2021-05-01", 0.63],
  ["2022-03-01", 0.75],
  ["2023-07-01", 0.33],
  ["2024-06-01", 0.43],
  ["2025-01-15", 0.65],
  ["2025-06-01", 0.54],
  ["2026-01-01", 0.7],
  ["2026-07-04", 0.645]
]

/** Weeks along the anchors, which lead to the first known week. */
const makePath = (label: string, anchors: Anchors, size: number, known: ReadonlyMap<Day, Print>) => {
  const before = weeks.filter((week) => !known.has(week))
  const path = addNoise(label, before, makeAnchorLine(anchors, 10_000), { size, memory: 0.85 })
  const bent = arriveAt(path, getElement([...known.values()], 0).price)
  return new Map(before.map((week, index) => [week, getElement(bent, index)]))
}

/** Invented revisions end where the real ones are known, or where several captures showed none. */
const makeSurvey = (
  product: string,
  finals: (week: Day) => Print,
  revisionsKnownFrom: Day
): ReadonlyArray<SurveyWeek> => {
  const random = makeRandomStream(`revisions ${product}`)
  return weeks.map((week) => {
    if (unsurveyed.has(week)) return { week, prints: repeatPrint<Print>(null) }
    const final = finals(week)
    if (week < revisionsKnownFrom) return { week, prints: inventPrints(random, final) }
    return { week, prints: findKnownPrints(product, week) ?? repeatPrint(final) }
  })
}

const recent = parseDay("2026-07-11")

const addPounds = (product: string, prices: ReadonlyMap<Day, number>, [low, high]: readonly [number, number]) => {
  const random = makeRandomStream(`pounds ${product}`)
  return new Map([...prices].map(([week, price]) => [week, { price, pounds: random.whole(low, high) }]))
}

const makeSurveyAlong = (
  product: "block" | "whey",
  anchors: Anchors,
  size: number,
  pounds: readonly [number, number]
) => {
  const known = readRecentWeeks(product)
  const finals = new Map([...addPounds(product, makePath(product, anchors, size, known), pounds), ...known])
  return makeSurvey(product, (week) => getValue(finals, week), recent)
}

/** The price as sold for a price at 38 % moisture. The adjusted price is then computed again, as in the report. */
const toSoldPrint = (adjusted: number, moisture: number, pounds: number): BarrelPrint => {
  const price = divideHalfUp(adjusted * (10_000 - moisture), 6200)
  return { price, pounds, moisture, adjusted: divideHalfUp(price * 6200, 10_000 - moisture) }
}

const makeBarrelSurvey = (prices: ReadonlyMap<Day, number>): ReadonlyArray<SurveyWeek<BarrelPrint>> => {
  const known = readBarrelWeeks()
  const random = makeRandomStream("revisions barrel")
  const makePrints = (week: Day): ReadonlyArray<BarrelPrint | null> => {
    const published = known.get(week)
    const moisture = random.whole(3440, 3520)
    const final = published ?? toSoldPrint(getValue(prices, week), moisture, random.whole(9_800_000, 14_600_000))
    if (published) return repeatPrint(published)
    return inventPrints(random, final).map(({ price, pounds }) => ({
      price,
      pounds,
      moisture,
      adjusted: divideHalfUp(price * 6200, 10_000 - moisture)
    }))
  }
  return weeks.map((week) => {
    if (unsurveyed.has(week) || week >= barrelsEnd) return { week, prints: repeatPrint<BarrelPrint>(null) }
    return { week, prints: makePrints(week).map((print, age) => (week + 7 * age >= barrelsEnd ? null : print)) }
  })
}

/** Barrels cost a few cents less than blocks. The line continues for the spot market after the survey has dropped them. */
const makeBarrelPrices = (blocks: ReadonlyArray<SurveyWeek>): ReadonlyMap<Day, number> => {
  const known = [...readBarrelWeeks()].map(([week, print]) => [week, print.adjusted] as const)
  const spread = addNoise("barrel spread", weeks, () => 450, { size: 500, memory: 0.88, floor: -700 })
  const belowBlocks = new Map(
    blocks.flatMap((block, index) => {
      const final = getFinalPrint(block)
      return final ? [[block.week, final.price - getElement(spread, index)] as const] : []
    })
  )
  const first = getElement(known, 0)
  const before = [...belowBlocks].filter(([week]) => week < first[0])
  const bent = arriveAt(
    before.map(([, price]) => price),
    first[1]
  )
  return new Map([...belowBlocks, ...before.map(([week], index) => [week, getElement(bent, index)] as const), ...known])
}

export interface Surveys {
  readonly butter: ReadonlyArray<SurveyWeek>
  readonly block: ReadonlyArray<SurveyWeek>
  readonly barrel: ReadonlyArray<SurveyWeek<BarrelPrint>>
  readonly whey: ReadonlyArray<SurveyWeek>
  readonly nonfatDryMilk: ReadonlyArray<SurveyWeek>
  /** At 38 % moisture, in 0.0001 USD/lb, to the last week. */
  readonly barrelPrices: ReadonlyMap<Day, number>
}

export const makeSurveys = (): Surveys => {
  const published = readNonfatDryMilkWeeks()
  const nonfatDryMilk = makeSurvey("nfdm", (week) => getValue(published, week), parseDay("2026-05-02"))
  const blocks = makeSurveyAlong("block", block, 500, [9_400_000, 14_200_000])
  const barrels = makeBarrelPrices(blocks)
  return {
    butter: inventButterSurvey(weeks, unsurveyed, nonfatDryMilk),
    block: blocks,
    barrel: makeBarrelSurvey(barrels),
    whey: makeSurveyAlong("whey", whey, 180, [4_900_000, 9_600_000]),
    nonfatDryMilk,
    barrelPrices: barrels
  }
}
