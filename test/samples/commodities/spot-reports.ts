/** The three reports on the spot market: daily closes (1603), their weekly means (1602), and the monthly averages (1623). */

import {
  type Day,
  findWorkdayFrom,
  getLastDay,
  getMonth,
  getMonthName,
  getNextMonth,
  getWeekday,
  listDays,
  listMonths,
  parseDay
} from "./calendar.ts"
import { getElement } from "./lookup.ts"
import {
  type MarsRow,
  makeMarsHead,
  makeMarsPayload,
  makeMarsSectionsPayload,
  makeStamp,
  type Period,
  toDollars
} from "./mars.ts"
import type { Payload } from "./mpr.ts"
import { makeRandomStream } from "./random.ts"
import { computeMeanClose, firstDay, lastDay, type SpotProduct, tradingDays } from "./spot.ts"

const makeSelectors = (product: SpotProduct): MarsRow => ({
  category: product.category,
  community: "Dairy",
  commodity: product.commodity,
  package: product.package,
  grade: product.grade
})

const getMonday = (day: Day) => day - ((getWeekday(day) + 6) % 7)
const listWeek = (monday: Day) => tradingDays.filter((day) => day >= monday && day < monday + 7)

/** The last trading day of a week also has the average of the week. */
const makeDailyRows = (products: ReadonlyArray<SpotProduct>): ReadonlyArray<MarsRow> => {
  const random = makeRandomStream("spot trade")
  const lastDaysOfWeeks = new Set(
    tradingDays.filter((day, index) => getMonday(tradingDays[index + 1] ?? lastDay) !== getMonday(day))
  )
  const rows = tradingDays.flatMap((day, index) =>
    products.flatMap((product): ReadonlyArray<MarsRow> => {
      const close = product.closes.get(day)
      if (close === undefined) return []
      const before = index === 0 ? undefined : product.closes.get(getElement(tradingDays, index - 1))
      const average = lastDaysOfWeeks.has(day) ? computeMeanClose(product.closes, listWeek(getMonday(day))) : null
      const period: Period = { day, begin: day, end: day, published: makeStamp(1603, day, day === lastDay) }
      return [
        {
          ...makeMarsHead(1603, period),
          ...makeSelectors(product),
          price_unit: "Dollars per Pound",
          close_price: toDollars(close),
          change: before === undefined ? null : toDollars(close - before),
          bids: random.whole(0, 4),
          offers: random.whole(0, 4),
          sales: random.happens(0.45) ? random.whole(1, 9) : 0,
          "weekly Av": average === null ? null : toDollars(average)
        }
      ]
    })
  )
  return rows.toReversed()
}

/** Published on Friday, or on the last trading day before. The period always ends on Friday. */
const makeWeeklyRows = (products: ReadonlyArray<SpotProduct>): ReadonlyArray<MarsRow> => {
  const mondays = listDays(firstDay, lastDay - 7, 7).filter((monday) => listWeek(monday).length > 0)
  const newest = getElement(mondays, mondays.length - 1)
  return mondays.toReversed().flatMap((monday) => {
    const days = listWeek(monday)
    const published = makeStamp(1602, getElement(days, days.length - 1), monday === newest)
    const period: Period = { day: monday, begin: monday, end: monday + 4, published }
    return products.flatMap((product): ReadonlyArray<MarsRow> => {
      const average = computeMeanClose(product.closes, days)
      if (average === null) return []
      return [
        {
          ...makeMarsHead(1602, period),
          ...makeSelectors(product),
          price_unit: "Dollars per Pound",
          "weekly Av": toDollars(average)
        }
      ]
    })
  })
}

/** Reports of 2025 without the spot market and without buttermilk. */
const reportsWithoutSpot = new Set(["2025-02", "2025-03", "2025-04", "2025-08", "2025-09", "2025-10"])
const lastMonth = "2026-08"

/** Month → one number, in 0.0001 USD/lb or whole USD per metric ton. */
export interface MonthlySeries {
  readonly section: "Dry Products Monthly Averages" | "International Monthly Averages"
  readonly columns: MarsRow
  readonly averages: ReadonlyMap<string, number>
  readonly scale: number
}

const makeMonthlyRow = (period: Period, month: string, columns: MarsRow, value: number): MarsRow => ({
  ...makeMarsHead(1623, period),
  group: null,
  ...columns,
  report_month: getMonthName(month),
  "monthly Av": value
})

const makeSpotColumns = (product: SpotProduct): MarsRow => ({
  ...makeSelectors(product),
  lot_Desc: null,
  region: "Chicago Mercantile Exchange",
  price_unit: "Dollars per Pound"
})

/** Each report repeats the year from January on. */
const makeSections = (products: ReadonlyArray<SpotProduct>, others: ReadonlyArray<MonthlySeries>, report: string) => {
  const [begin, end] = [parseDay(`${report.slice(0, 4)}-01-01`), getLastDay(report)]
  const released = findWorkdayFrom(parseDay(`${getNextMonth(report)}-11`))
  const period: Period = { day: begin, begin, end, published: makeStamp(1623, released, report === lastMonth) }
  const months = listMonths(getMonth(begin), report)
  const spot = products.flatMap((product) =>
    months.flatMap((month): ReadonlyArray<MarsRow> => {
      const average = computeMeanClose(
        product.closes,
        tradingDays.filter((day) => getMonth(day) === month)
      )
      return average === null ? [] : [makeMonthlyRow(period, month, makeSpotColumns(product), toDollars(average))]
    })
  )
  const makeSeriesRows = (section: MonthlySeries["section"]) =>
    others
      .filter((series) => series.section === section)
      .flatMap(({ columns, averages, scale }) =>
        months.flatMap((month) => {
          const average = averages.get(month)
          return average === undefined ? [] : [makeMonthlyRow(period, month, columns, average / scale)]
        })
      )
  return {
    spot: reportsWithoutSpot.has(report) ? [] : spot,
    dry: reportsWithoutSpot.has(report) ? [] : makeSeriesRows("Dry Products Monthly Averages"),
    international: makeSeriesRows("International Monthly Averages")
  }
}

const makeMonthlyPayload = (products: ReadonlyArray<SpotProduct>, others: ReadonlyArray<MonthlySeries>) => {
  const newestFirst = listMonths(getMonth(firstDay), lastMonth)
    .toReversed()
    .map((report) => makeSections(products, others, report))
  return makeMarsSectionsPayload(1623, [
    { name: "CME Monthly Averages", rows: newestFirst.flatMap(({ spot }) => spot) },
    { name: "Dairy Monthly Averages", rows: [] },
    { name: "Hard Products Monthly Averages", rows: [] },
    { name: "Fluid Products Monthly Averages", rows: [] },
    { name: "Dry Products Monthly Averages", rows: newestFirst.flatMap(({ dry }) => dry) },
    { name: "International Monthly Averages", rows: newestFirst.flatMap(({ international }) => international) }
  ])
}

export function* makeSpotPayloads(
  products: ReadonlyArray<SpotProduct>,
  others: ReadonlyArray<MonthlySeries>
): Generator<Payload> {
  yield makeMarsPayload(1603, makeDailyRows(products))
  yield makeMarsPayload(1602, makeWeeklyRows(products))
  yield makeMonthlyPayload(products, others)
}
