/** Reads the small tables of published numbers in `facts`. The generator interpolates between them. */
import { readFileSync } from "node:fs"
import { type Day, dayOf } from "./calendar.ts"
import { unfixed } from "./decimal.ts"
import { at } from "./lookup.ts"

/** Plain comma-separated text: no field contains a comma or a quote. */
const rowsOf = (name: string, columns: number): ReadonlyArray<ReadonlyArray<string>> =>
  readFileSync(new URL(`./facts/${name}.csv`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line, index) => {
      const cells = line.split(",")
      if (cells.length !== columns) throw new Error(`facts/${name}.csv line ${index + 2} has not ${columns} columns`)
      return cells
    })

export interface Print {
  /** In 0.0001 USD/lb. */
  readonly price: number
  readonly pounds: number
}
/** `adjusted` is the price at 38 % moisture, in 0.0001 USD/lb; `moisture` is in 0.01 %. */
export interface BarrelPrint extends Print {
  readonly adjusted: number
  readonly moisture: number
}
export type SurveyProduct = "butter" | "block" | "whey" | "nfdm"

const price = (text: string) => unfixed(text, 4)

/** Nonfat dry milk, every week since 2012-03-03; the three weeks of the 2013 shutdown are absent. */
export const nonfatDryMilkWeeks = (): ReadonlyMap<Day, Print> =>
  new Map(
    rowsOf("survey-nonfat-dry-milk", 3).map((row) => [
      dayOf(at(row, 0)),
      { price: price(at(row, 1)), pounds: Number(at(row, 2)) }
    ])
  )

/** The last twelve weeks of the other three products. */
export const recentWeeks = (product: SurveyProduct): ReadonlyMap<Day, Print> =>
  new Map(
    rowsOf("survey-recent-weeks", 4)
      .filter((row) => row[0] === product)
      .map((row) => [dayOf(at(row, 1)), { price: price(at(row, 2)), pounds: Number(at(row, 3)) }])
  )

export interface Revision extends Print {
  readonly product: string
  readonly week: Day
  readonly report: Day
}
export const revisions = (): ReadonlyArray<Revision> =>
  rowsOf("survey-revisions", 5).map((row) => ({
    product: at(row, 0),
    week: dayOf(at(row, 1)),
    report: dayOf(at(row, 2)),
    price: price(at(row, 3)),
    pounds: Number(at(row, 4))
  }))

export const barrelWeeks = (): ReadonlyMap<Day, BarrelPrint> =>
  new Map(
    rowsOf("survey-barrels", 5).map((row) => [
      dayOf(at(row, 0)),
      {
        price: price(at(row, 1)),
        adjusted: price(at(row, 2)),
        pounds: Number(at(row, 3)),
        moisture: unfixed(at(row, 4), 2)
      }
    ])
  )

/** Report week → `MM/DD/YYYY HH:MM:SS`, for the known releases. */
export const surveyReleases = (): ReadonlyMap<Day, string> =>
  new Map(rowsOf("survey-releases", 2).map((row) => [dayOf(at(row, 0)), at(row, 1)]))

export interface ClassIvMonth {
  readonly month: string
  /** The last survey week that the price uses. */
  readonly lastWeek: Day
  /** Null for March 2012. In 0.01 USD/cwt (`price`, `skim`) and 0.0001 USD/lb. */
  readonly published: null | {
    readonly price: number
    readonly skim: number
    readonly butterfat: number
    readonly nonfatDryMilk: number
    readonly butter: number
  }
}
export const classIvMonths = (): ReadonlyArray<ClassIvMonth> =>
  rowsOf("class-iv", 7).map((row) => ({
    month: at(row, 0),
    lastWeek: dayOf(at(row, 1)),
    published:
      at(row, 2) === ""
        ? null
        : {
            price: unfixed(at(row, 2), 2),
            skim: unfixed(at(row, 3), 2),
            butterfat: price(at(row, 4)),
            nonfatDryMilk: price(at(row, 5)),
            butter: price(at(row, 6))
          }
  }))

/** Month → Class I base price in 0.01 USD/cwt, for the two months where it is known. */
export const classIMonths = (): ReadonlyMap<string, number> =>
  new Map(rowsOf("class-i", 2).map((row) => [at(row, 0), unfixed(at(row, 1), 2)]))

/** Day → nonfat dry milk close in 0.0001 USD/lb. */
export const nonfatDryMilkCloses = (): ReadonlyMap<Day, number> =>
  new Map(rowsOf("cme-nonfat-dry-milk", 2).map((row) => [dayOf(at(row, 0)), price(at(row, 1))]))

/** Month → butter monthly average in 0.0001 USD/lb. */
export const butterMonths = (): ReadonlyMap<string, number> =>
  new Map(rowsOf("cme-butter-months", 2).map((row) => [at(row, 0), price(at(row, 1))]))

export interface MarketNewsReport {
  readonly slug: number
  readonly title: string
  /** Publication time of the newest report, `MM/DD/YYYY HH:MM:SS`. */
  readonly published: string
}
export const marketNewsReports = (): ReadonlyMap<number, MarketNewsReport> =>
  new Map(
    rowsOf("market-news-reports", 3).map((row) => [
      Number(at(row, 0)),
      { slug: Number(at(row, 0)), title: at(row, 1), published: at(row, 2) }
    ])
  )

/** A range in 0.0001 USD/lb. The outer bounds are not known for every week. */
export interface KnownRange {
  readonly outer: null | readonly [low: number, high: number]
  readonly mostly: readonly [low: number, high: number]
}
/** `slug week` → range. */
export const marketNewsRanges = (): ReadonlyMap<string, KnownRange> =>
  new Map(
    rowsOf("market-news-ranges", 6).map((row) => [
      `${at(row, 0)} ${at(row, 1)}`,
      {
        outer: at(row, 2) === "" ? null : [price(at(row, 2)), price(at(row, 3))],
        mostly: [price(at(row, 4)), price(at(row, 5))]
      }
    ])
  )
