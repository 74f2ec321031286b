/** The prices of `examples/analysis.sql` over the bundled samples, compared with the payloads. */
import path from "node:path"
import type { Row } from "@larder/warehouse/duckdb.ts"
import { Effect } from "effect"
import { beforeAll, describe, expect, inject, it } from "vitest"
import { questions } from "../support/analysis-questions.ts"
import { queryDatabase } from "../support/warehouse/analyst.ts"
import {
  addDays,
  addressOfSurvey,
  computeMean,
  type Print,
  type Product,
  readButterAverages,
  readMilkPrices,
  readPayload,
  readSpot,
  readSurvey,
  toMonday
} from "./analysis-payloads.ts"

const getStatement = (number: number) => questions.get(number)?.replace(/;$/, "") ?? ""
/** The results of these questions, and of the two whose `limit` is left out, from one session. */
const asked = [1, 2, 3, 4, 5, 6, 12, 13, 14]
let results: ReadonlyMap<number, ReadonlyArray<Row>> = new Map()
let allWeeks: ReadonlyArray<Row> = []
let allMonths: ReadonlyArray<Row> = []
/** Question 12 about a metric without a revision status. */
let tracedClose: ReadonlyArray<Row> = []
const getResult = (number: number) => results.get(number) ?? []

beforeAll(async () => {
  const file = path.join(inject("sampleHome"), "warehouse/larder.duckdb")
  const unlimited = [1, 4].map((number) => getStatement(number).replace(/limit \d+$/, ""))
  const ofClose = getStatement(12).replace("butter_sales_price_weekly", "butter_exch_spot_close_daily")
  const rows = await Effect.runPromise(queryDatabase(file, ...unlimited, ofClose, ...asked.map(getStatement)))
  allWeeks = rows[0] ?? []
  allMonths = rows[1] ?? []
  tracedClose = rows[2] ?? []
  results = new Map(asked.map((number, index) => [number, rows[index + 3] ?? []]))
})

const products = ["butter", "block", "barrel", "whey", "nonfatDryMilk"] as const
const titles: Readonly<Record<Product, string>> = {
  butter: "Butter, survey, weekly average",
  block: "Cheddar cheese in 40 pound blocks, survey, weekly average",
  barrel: "Cheddar cheese in barrels, survey, weekly average",
  whey: "Dry whey, survey, weekly average",
  nonfatDryMilk: "Nonfat dry milk, survey, weekly average"
}
const lastOf = (prints: ReadonlyArray<Print>) => prints.at(-1) ?? expect.fail("a week has no print")
/** The newest weeks first, with the price that counts now. */
const readCurrentWeeks = (product: Product) =>
  [...readSurvey(product)]
    .map(([week, prints]) => ({ week, price: lastOf(prints).price }))
    .toSorted((a, b) => b.week.localeCompare(a.week))

describe("the notebook's prices are those of the payloads", () => {
  it("1: averages of 4 and 52 weeks, null over a week without a survey", () => {
    const weeks = readCurrentWeeks("butter")
    const meanBefore = (week: string, count: number) => {
      const prices = weeks.filter((other) => other.week <= week && other.week > addDays(week, -7 * count))
      return prices.length < count ? null : computeMean(prices.map(({ price }) => price)).toFixed(6)
    }
    const expected = weeks.map(({ price, week }) => ({
      week: toMonday(week),
      price: price.toFixed(6),
      mean_of_4_weeks: meanBefore(week, 4),
      mean_of_52_weeks: meanBefore(week, 52)
    }))
    expect(getResult(1)).toEqual(expected.slice(0, 12))
    expect(allWeeks).toEqual(expected)
    expect(allWeeks.find(({ week }) => week === "2013-10-21")).toMatchObject({ mean_of_4_weeks: null }) // a shutdown
  })

  it("2: the announced averages of months, compared with the same month a year earlier", () => {
    const announced = readMilkPrices(2991)
    const averageOf = (month: string) => String(announced.get(month)?.butter_monthly_avg_Price)
    const expected = [...announced.keys()].slice(0, 12).map((month) => {
      const [price, before] = [averageOf(month), averageOf(`${Number(month.slice(0, 4)) - 1}${month.slice(4)}`)]
      return {
        month,
        price: `${price}00`,
        a_year_earlier: `${before}00`,
        percent: Number((100 * (Number(price) / Number(before) - 1)).toFixed(1))
      }
    })
    expect(getResult(2)).toEqual(expected)
  })

  it("3: the spread of blocks and barrels at the exchange, in cents, over days with both", () => {
    const [blocks, barrels] = [readSpot("Cheese", "40 pound Block"), readSpot("Cheese", "Barrels")]
    const days = [...blocks]
      .map(([day, block]) => ({ week: toMonday(day), block, barrel: barrels.get(day) ?? Number.NaN }))
      .filter(({ barrel }) => !Number.isNaN(barrel))
    const weeks = [...Map.groupBy(days, ({ week }) => week)]
      .toSorted(([a], [b]) => b.localeCompare(a))
      .map(([week, members]) => ({
        week,
        days: members.length,
        block: computeMean(members.map(({ block }) => block)),
        barrel: computeMean(members.map(({ barrel }) => barrel)),
        spread: 100 * computeMean(members.map(({ barrel, block }) => block - barrel))
      }))
    const expected = weeks.slice(0, 12).map(({ barrel, block, days, spread, week }, index) => ({
      week,
      days: String(days),
      block_price: block.toFixed(6),
      barrel_price: barrel.toFixed(6),
      spread_in_cents: spread.toFixed(4),
      mean_of_52_weeks: computeMean(weeks.slice(index, index + 52).map((other) => other.spread)).toFixed(4)
    }))
    expect(getResult(3)).toEqual(expected)
    expect(getResult(3)[0]).toMatchObject({ week: "2026-09-28", days: "2" })
  })

  it("4: Class III and its components, computed from the survey, equal the announcements of all months", () => {
    const announced = [...readMilkPrices(2991)].filter(([, row]) => row.class_3_Price !== null)
    expect(allMonths).toEqual(
      announced.map(([month, row]) => ({
        month,
        protein: row.protein_Price,
        other_solids: row.other_solids_Price,
        butterfat: row.butterfat_Price,
        computed: row.class_3_Price,
        announced: row.class_3_Price,
        difference: "0.00"
      }))
    )
    expect(allMonths).toHaveLength(174)
    expect(getResult(4)).toEqual(allMonths.slice(0, 24))
  })

  it("5: the first price of each week against its final one, in the last year of each product", () => {
    const expected = products.map((product) => {
      const weeks = [...readSurvey(product)].toSorted(([a], [b]) => b.localeCompare(a))
      const [newest = ""] = weeks[0] ?? []
      const changes = weeks
        .filter(([week, prints]) => week > addDays(newest, -364) && lastOf(prints).isFinal)
        .map(([, prints]) => 100 * Math.abs(lastOf(prints).price - (prints[0]?.price ?? 0)))
      return {
        title: titles[product],
        final_weeks: String(changes.length),
        revised: String(changes.filter((cents) => cents > 0).length),
        mean_change_in_cents: Number(computeMean(changes).toFixed(3)),
        largest_change_in_cents: Math.max(...changes).toFixed(2)
      }
    })
    expect(getResult(5)).toEqual(expected)
  })

  it("6: the prices that were known on 10 July and revised since", () => {
    /** What counts at a moment, and since when it has this price. */
    const findKnown = (prints: ReadonlyArray<Print>, until: string) => {
      const known = prints.filter(({ published }) => published <= until)
      const changes = known.filter(({ price }, index) => price !== known[index - 1]?.price)
      return known.length === 0 ? undefined : lastOf(changes)
    }
    const expected = products.flatMap((product) =>
      [...readSurvey(product)]
        .toSorted(([a], [b]) => a.localeCompare(b))
        .flatMap(([week, prints]) => {
          const [then, now] = [findKnown(prints, "2026-07-10 23:59:59"), findKnown(prints, "9999")]
          if (!then || then.price === now?.price) return []
          return {
            title: titles[product],
            observed_on: week,
            known_then: then.price.toFixed(6),
            published: then.published,
            known_now: now?.price.toFixed(6),
            revised: now?.published
          }
        })
    )
    expect(expected).toHaveLength(6)
    expect(getResult(6)).toEqual(expected)
  })

  it("12: a number is in the row of the payload whose bytes have the SHA-256", () => {
    const { bytes, rows, sha256 } = readPayload(addressOfSurvey("butter"))
    const [traced = {}] = getResult(12)
    expect(getResult(12)).toHaveLength(1)
    expect(traced).toMatchObject({
      observed_on: "2026-09-26",
      raw_sha256: sha256,
      bytes: String(bytes),
      url: `https://${addressOfSurvey("butter")}`
    })
    const row = rows[Number(traced.source_row) - 1]
    expect([row?.["Week Ending Date"], row?.Butter_Price]).toEqual(["09/26/2026", traced.value_text])
  })

  it("12: traces a metric without a revision status", () => {
    const address = "marsapi.ams.usda.gov/services/v1.2/reports/1603"
    const { rows, sha256 } = readPayload(address)
    const [traced = {}] = tracedClose
    expect(tracedClose).toHaveLength(1)
    expect(traced).toMatchObject({ observed_on: "2026-09-29", revision_status: null, raw_sha256: sha256 })
    const row = rows[Number(traced.source_row) - 1]
    expect([row?.commodity, row?.report_date]).toEqual(["Butter", "09/29/2026"])
    expect(Number(row?.close_price)).toBe(Number(traced.value_text))
  })

  it("13: a column for each class of milk, and a row for each month", () => {
    const [components, advanced] = [readMilkPrices(2991), readMilkPrices(2989)]
    const expected = [...advanced].slice(0, 24).map(([month, row]) => ({
      month,
      class_i: row.class_1_Price,
      class_ii: components.get(month)?.class_2_Price ?? null,
      class_iii: components.get(month)?.class_3_Price ?? null,
      class_iv: components.get(month)?.class_4_Price ?? null
    }))
    expect(getResult(13)).toEqual(expected)
  })

  it("14: the points of a chart, all of full weeks and nothing else, by series and week", () => {
    const series = [
      ["Butter, exchange spot, weekly average", readButterAverages()],
      [titles.butter, new Map(readCurrentWeeks("butter").map(({ price, week }) => [toMonday(week), price]))]
    ] as const
    const expected = series.flatMap(([title, prices]) =>
      Array.from({ length: 52 }, (_, index) => {
        const date = addDays("2026-09-21", -7 * (51 - index))
        return { date, series: title, value: Number(prices.get(date)) }
      })
    )
    expect(getResult(14)).toEqual(expected)
  })
})
