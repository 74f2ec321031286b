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
  computeWeeks,
  type Print,
  type Product,
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
const getResult = (number: number) => results.get(number) ?? []

beforeAll(async () => {
  const file = path.join(inject("sampleHome"), "warehouse/larder.duckdb")
  const unlimited = [1, 4].map((number) => getStatement(number).replace(/limit \d+$/, ""))
  const rows = await Effect.runPromise(queryDatabase(file, ...unlimited, ...asked.map(getStatement)))
  allWeeks = rows[0] ?? []
  allMonths = rows[1] ?? []
  results = new Map(asked.map((number, index) => [number, rows[index + 2] ?? []]))
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

  it("2: months compared with the same month a year earlier", () => {
    const months = Map.groupBy(readCurrentWeeks("butter"), ({ week }) => `${week.slice(0, 7)}-01`)
    const pricesOf = (month: string) => (months.get(month) ?? []).map(({ price }) => price)
    const expected = [...months.keys()].slice(0, 12).map((month) => {
      const [prices, before] = [pricesOf(month), pricesOf(`${Number(month.slice(0, 4)) - 1}${month.slice(4)}`)]
      return {
        month,
        weeks: String(prices.length),
        price: computeMean(prices).toFixed(6),
        a_year_earlier: computeMean(before).toFixed(6),
        percent: Number((100 * (computeMean(prices) / computeMean(before) - 1)).toFixed(1))
      }
    })
    expect(getResult(2)).toEqual(expected)
  })

  it("3: the spread of blocks and barrels at the exchange, in cents", () => {
    const [blocks, barrels] = ["40 pound Block", "Barrels"].map((packaging) =>
      computeWeeks(readSpot("Cheese", packaging))
    )
    const spreadOf = (week: string) => 100 * ((blocks?.get(week) ?? 0) - (barrels?.get(week) ?? 0))
    const weeks = Array.from({ length: 63 }, (_, before) => addDays("2026-09-28", -7 * before))
    const expected = weeks.slice(0, 12).map((week, index) => ({
      week,
      block_price: blocks?.get(week)?.toFixed(6),
      barrel_price: barrels?.get(week)?.toFixed(6),
      spread_in_cents: spreadOf(week).toFixed(4),
      mean_of_52_weeks: computeMean(weeks.slice(index, index + 52).map(spreadOf)).toFixed(4)
    }))
    expect(getResult(3)).toEqual(expected)
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

  it("14: the points of a chart, and nothing else, by series and week", () => {
    const series = [
      ["Butter, exchange spot, daily close", computeWeeks(readSpot("Butter")), "2026-09-28"],
      [
        titles.butter,
        new Map(readCurrentWeeks("butter").map(({ price, week }) => [toMonday(week), price])),
        "2026-09-21"
      ]
    ] as const
    const expected = series.flatMap(([title, prices, newest]) =>
      Array.from({ length: 52 }, (_, index) => {
        const date = addDays(newest, -7 * (51 - index))
        return { date, series: title, value: Number(prices.get(date)?.toFixed(6)) }
      })
    )
    expect(getResult(14)).toEqual(expected)
  })
})
