/** The three reports on the spot market: daily closes (1603), their weekly means (1602), and the monthly averages (1623). */

import {
  type Day,
  getLastDay,
  getMonth,
  getMonthName,
  getNextMonth,
  getWeekday,
  listDays,
  listMonths,
  parseDay,
  workdayFrom
} from "./calendar.ts"
import { getElement } from "./lookup.ts"
import {
  dollars,
  type MarsRow,
  makeMarsHead,
  makeStamp,
  marsPayload,
  marsSectionsPayload,
  type Period
} from "./mars.ts"
import type { Payload } from "./mpr.ts"
import { makeChance } from "./random.ts"
import { firstDay, lastDay, meanClose, type SpotProduct, tradingDays } from "./spot.ts"

const selectors = (product: SpotProduct): MarsRow => ({
  category: product.category,
  community: "Dairy",
  commodity: product.commodity,
  package: product.package,
  grade: product.grade
})

const getMonday = (day: Day) => day - ((getWeekday(day) + 6) % 7)
const listWeek = (monday: Day) => tradingDays.filter((day) => day >= monday && day < monday + 7)

/** The last trading day of a week also carries the average of the week. */
const dailyRows = (products: ReadonlyArray<SpotProduct>): ReadonlyArray<MarsRow> => {
  const random = makeChance("spot trade")
  const closers = new Set(
    tradingDays.filter((day, index) => getMonday(tradingDays[index + 1] ?? lastDay) !== getMonday(day))
  )
  const rows = tradingDays.flatMap((day, index) =>
    products.flatMap((product): ReadonlyArray<MarsRow> => {
      const close = product.closes.get(day)
      if (close === undefined) return []
      const before = index === 0 ? undefined : product.closes.get(getElement(tradingDays, index - 1))
      const average = closers.has(day) ? meanClose(product.closes, listWeek(getMonday(day))) : null
      const period: Period = { day, begin: day, end: day, published: makeStamp(1603, day, day === lastDay) }
      return [
        {
          ...makeMarsHead(1603, period),
          ...selectors(product),
          price_unit: "Dollars per Pound",
          close_price: dollars(close),
          change: before === undefined ? null : dollars(close - before),
          bids: random.whole(0, 4),
          offers: random.whole(0, 4),
          sales: random.happens(0.45) ? random.whole(1, 9) : 0,
          "weekly Av": average === null ? null : dollars(average)
        }
      ]
    })
  )
  return rows.toReversed()
}

/** Published on Friday, or on the last trading day before. The period always ends on Friday. */
const weeklyRows = (products: ReadonlyArray<SpotProduct>): ReadonlyArray<MarsRow> => {
  const mondays = listDays(firstDay, lastDay - 7, 7).filter((monday) => listWeek(monday).length > 0)
  const newest = getElement(mondays, mondays.length - 1)
  return mondays.toReversed().flatMap((monday) => {
    const days = listWeek(monday)
    const published = makeStamp(1602, getElement(days, days.length - 1), monday === newest)
    const period: Period = { day: monday, begin: monday, end: monday + 4, published }
    return products.flatMap((product): ReadonlyArray<MarsRow> => {
      const average = meanClose(product.closes, days)
      if (average === null) return []
      return [
        {
          ...makeMarsHead(1602, period),
          ...selectors(product),
          price_unit: "Dollars per Pound",
          "weekly Av": dollars(average)
        }
      ]
    })
  })
}

/** Reports of 2025 without the spot market and without buttermilk. */
const thin = new Set(["2025-02", "2025-03", "2025-04", "2025-08", "2025-09", "2025-10"])
const lastMonth = "2026-08"

/** Month → one number, in 0.0001 USD/lb or whole USD per metric ton. */
export interface MonthlySeries {
  readonly section: "Dry Products Monthly Averages" | "International Monthly Averages"
  readonly columns: MarsRow
  readonly averages: ReadonlyMap<string, number>
  readonly scale: number
}

const monthlyRow = (period: Period, month: string, columns: MarsRow, value: number): MarsRow => ({
  ...makeMarsHead(1623, period),
  group: null,
  ...columns,
  report_month: getMonthName(month),
  "monthly Av": value
})

const spotColumns = (product: SpotProduct): MarsRow => ({
  ...selectors(product),
  lot_Desc: null,
  region: "Chicago Mercantile Exchange",
  price_unit: "Dollars per Pound"
})

/** Each report repeats the year from January on. */
const makeSections = (products: ReadonlyArray<SpotProduct>, others: ReadonlyArray<MonthlySeries>, report: string) => {
  const [begin, end] = [parseDay(`${report.slice(0, 4)}-01-01`), getLastDay(report)]
  const released = workdayFrom(parseDay(`${getNextMonth(report)}-11`))
  const period: Period = { day: begin, begin, end, published: makeStamp(1623, released, report === lastMonth) }
  const months = listMonths(getMonth(begin), report)
  const spot = products.flatMap((product) =>
    months.flatMap((month): ReadonlyArray<MarsRow> => {
      const average = meanClose(
        product.closes,
        tradingDays.filter((day) => getMonth(day) === month)
      )
      return average === null ? [] : [monthlyRow(period, month, spotColumns(product), dollars(average))]
    })
  )
  const seriesOf = (section: MonthlySeries["section"]) =>
    others
      .filter((series) => series.section === section)
      .flatMap(({ columns, averages, scale }) =>
        months.flatMap((month) => {
          const average = averages.get(month)
          return average === undefined ? [] : [monthlyRow(period, month, columns, average / scale)]
        })
      )
  return {
    spot: thin.has(report) ? [] : spot,
    dry: thin.has(report) ? [] : seriesOf("Dry Products Monthly Averages"),
    international: seriesOf("International Monthly Averages")
  }
}

const monthlyPayload = (products: ReadonlyArray<SpotProduct>, others: ReadonlyArray<MonthlySeries>) => {
  const newestFirst = listMonths(getMonth(firstDay), lastMonth)
    .toReversed()
    .map((report) => makeSections(products, others, report))
  return marsSectionsPayload(1623, [
    { name: "CME Monthly Averages", rows: newestFirst.flatMap(({ spot }) => spot) },
    { name: "Dairy Monthly Averages", rows: [] },
    { name: "Hard Products Monthly Averages", rows: [] },
    { name: "Fluid Products Monthly Averages", rows: [] },
    { name: "Dry Products Monthly Averages", rows: newestFirst.flatMap(({ dry }) => dry) },
    { name: "International Monthly Averages", rows: newestFirst.flatMap(({ international }) => international) }
  ])
}

export function* spotPayloads(
  products: ReadonlyArray<SpotProduct>,
  others: ReadonlyArray<MonthlySeries>
): Generator<Payload> {
  yield marsPayload(1603, dailyRows(products))
  yield marsPayload(1602, weeklyRows(products))
  yield monthlyPayload(products, others)
}
