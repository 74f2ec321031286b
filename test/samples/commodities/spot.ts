/**
 * Daily closes of the dairy spot market. Nonfat dry milk is as published from 2021-02-24 to 2026-08-20, and butter
 * averages to the published months of 2025 and 2026. The others precede the sales survey by some days, as in reality.
 */

import { type Day, getMonth, isTradingDay, listDays, parseDay } from "./calendar.ts"
import { divideHalfUp } from "./decimal.ts"
import { readButterMonths, readNonfatDryMilkCloses } from "./facts.ts"
import { getElement, getValue } from "./lookup.ts"
import { interpolate } from "./paths.ts"
import { getFinalPrint, type SurveyWeek } from "./prints.ts"
import { makeRandomStream } from "./random.ts"
import type { Surveys } from "./survey.ts"

export const firstDay = parseDay("2021-01-04")
export const lastDay = parseDay("2026-09-29")
export const tradingDays: ReadonlyArray<Day> = listDays(firstDay, lastDay).filter(isTradingDay)

/** The price step, in 0.0001 USD/lb. */
export const tick = 25

export interface SpotProduct {
  readonly commodity: string
  readonly package: string | null
  readonly grade: string | null
  readonly category: string
  /** A product may be missing on a day. */
  readonly closes: ReadonlyMap<Day, number>
}

const toTick = (price: number) => Math.round(price / tick) * tick

/** Surveys follow the spot market by about ten days. Some days have no new price. */
const makeLeadingPath = (label: string, line: (day: Day) => number, size: number, floor: number) => {
  const random = makeRandomStream(`spot ${label}`)
  let offset = 0
  let last = 0
  return new Map(
    tradingDays.map((day) => {
      offset = 0.85 * offset + size * random.bell()
      const price = Math.max(floor, toTick(line(day + 10) + offset))
      last = random.happens(0.3) && Math.abs(price - last) < 4 * size ? last : price
      return [day, last]
    })
  )
}

const omitDays = (closes: ReadonlyMap<Day, number>, days: ReadonlyArray<string>) => {
  const remaining = new Map(closes)
  for (const day of days) remaining.delete(parseDay(day))
  return remaining
}

const listTradingDays = (month: string) => tradingDays.filter((day) => getMonth(day) === month)

/** Bends closes until each month is near its mean, then moves days by a tick until the mean is equal to four places. */
const meetMonths = (closes: ReadonlyMap<Day, number>, months: ReadonlyMap<string, number>) => {
  let bent = closes
  const goals = [...months].map(([month, average]) => ({ days: listTradingDays(month), average }))
  for (let round = 0; round < 12; round++) {
    const misses = interpolate([
      [getElement(getElement(goals, 0).days, 0) - 20, 0],
      ...goals.map(({ days, average }) => {
        const mean = days.reduce((sum, day) => sum + getValue(bent, day), 0) / days.length
        return [getElement(days, days.length >> 1), average - mean] as const
      })
    ])
    bent = new Map([...bent].map(([day, close]) => [day, close + misses(day)]))
  }
  const onTicks = new Map([...bent].map(([day, close]) => [day, toTick(close)]))
  for (const { days, average } of goals) {
    const ticks = Math.round((average * days.length) / tick)
    const goal = [ticks - 1, ticks, ticks + 1].find((sum) => divideHalfUp(sum * tick, days.length) === average)
    if (goal === undefined) throw new Error(`no ${days.length} closes average to ${average}`)
    const missing = goal - days.reduce((sum, day) => sum + getValue(onTicks, day), 0) / tick
    for (let i = 0; i < Math.abs(missing); i++) {
      const day = getElement(days, Math.floor((i * days.length) / Math.abs(missing)) % days.length)
      onTicks.set(day, getValue(onTicks, day) + Math.sign(missing) * tick)
    }
  }
  return onTicks
}

/** Closes before and after the published ones: random steps of a few ticks, with a slight trend to a goal. */
const makeNonfatDryMilkCloses = () => {
  const published = readNonfatDryMilkCloses()
  const known = [...published.keys()]
  const random = makeRandomStream("spot nonfat dry milk")
  const walk = (days: ReadonlyArray<Day>, start: number, goal: number) => {
    let close = start
    return days.map((day) => {
      close += tick * (random.whole(-4, 4) + Math.sign(goal - close))
      return [day, close] as const
    })
  }
  const [first, last] = [getElement(known, 0), getElement(known, known.length - 1)]
  const before = tradingDays.filter((day) => day < first).toReversed()
  const after = tradingDays.filter((day) => day > last)
  return new Map([
    ...walk(before, getValue(published, first), 11_500).toReversed(),
    ...published,
    ...walk(after, getValue(published, last), 19_200)
  ])
}

const makeLine = (survey: ReadonlyArray<SurveyWeek>) =>
  interpolate(
    survey.flatMap((week) => {
      const final = getFinalPrint(week)
      return final ? [[week.week, final.price] as const] : []
    })
  )

export const makeSpotProducts = (survey: Surveys): ReadonlyArray<SpotProduct> => [
  {
    commodity: "Butter",
    package: null,
    grade: "Grade AA",
    category: "Soft Product",
    closes: meetMonths(makeLeadingPath("butter", makeLine(survey.butter), 90, 12_000), readButterMonths())
  },
  {
    commodity: "Cheese",
    package: "40 pound Block",
    grade: null,
    category: "Hard Product",
    closes: omitDays(makeLeadingPath("block", makeLine(survey.block), 130, 12_000), ["2023-08-16"])
  },
  {
    commodity: "Cheese",
    package: "Barrels",
    grade: null,
    category: "Hard Product",
    closes: omitDays(makeLeadingPath("barrel", interpolate([...survey.barrelPrices]), 130, 12_000), [
      "2022-03-09",
      "2024-07-23"
    ])
  },
  {
    commodity: "Nonfat Dry Milk",
    package: null,
    grade: "Grade A",
    category: "Dry Product",
    closes: makeNonfatDryMilkCloses()
  },
  {
    commodity: "Dry Whey",
    package: null,
    grade: "Extra Grade",
    category: "Dry Product",
    closes: omitDays(makeLeadingPath("whey", makeLine(survey.whey), 60, 3000), [
      "2021-05-12",
      "2022-11-08",
      "2024-02-28",
      "2025-10-14"
    ])
  }
]

/** Mean of the closes on the given days, rounded half up to four places; null if there are none. */
export const computeMeanClose = (closes: ReadonlyMap<Day, number>, days: ReadonlyArray<Day>) => {
  const known = days.flatMap((day) => closes.get(day) ?? [])
  return known.length === 0
    ? null
    : divideHalfUp(
        known.reduce((sum, close) => sum + close, 0),
        known.length
      )
}
