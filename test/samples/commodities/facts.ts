/** Reads the small tables of published numbers in `facts`. The generator interpolates between them. */
import { readFileSync } from "node:fs"
import { type Day, parseDay } from "./calendar.ts"
import { parseFixed } from "./decimal.ts"
import { getElement } from "./lookup.ts"

/** Plain comma-separated text: no field contains a comma or a quote. */
const readRows = (name: string, columns: number): ReadonlyArray<ReadonlyArray<string>> =>
  readFileSync(new URL(`./facts/${name}.csv`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line, index) => {
      const cells = line.split(",")
      if (cells.length !== columns)
        throw new Error(`facts/${name}.csv line ${index + 2} does not have ${columns} columns`)
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

const parsePrice = (text: string) => parseFixed(text, 4)

/** Nonfat dry milk, every week since 2012-03-03; the three weeks of the 2013 shutdown are absent. */
export const readNonfatDryMilkWeeks = (): ReadonlyMap<Day, Print> =>
  new Map(
    readRows("survey-nonfat-dry-milk", 3).map((row) => [
      parseDay(getElement(row, 0)),
      { price: parsePrice(getElement(row, 1)), pounds: Number(getElement(row, 2)) }
    ])
  )

/** The last twelve weeks of the other three products. */
export const readRecentWeeks = (product: SurveyProduct): ReadonlyMap<Day, Print> =>
  new Map(
    readRows("survey-recent-weeks", 4)
      .filter((row) => row[0] === product)
      .map((row) => [
        parseDay(getElement(row, 1)),
        { price: parsePrice(getElement(row, 2)), pounds: Number(getElement(row, 3)) }
      ])
  )

export interface Revision extends Print {
  readonly product: string
  readonly week: Day
  readonly report: Day
}
export const readRevisions = (): ReadonlyArray<Revision> =>
  readRows("survey-revisions", 5).map((row) => ({
    product: getElement(row, 0),
    week: parseDay(getElement(row, 1)),
    report: parseDay(getElement(row, 2)),
    price: parsePrice(getElement(row, 3)),
    pounds: Number(getElement(row, 4))
  }))

export const readBarrelWeeks = (): ReadonlyMap<Day, BarrelPrint> =>
  new Map(
    readRows("survey-barrels", 5).map((row) => [
      parseDay(getElement(row, 0)),
      {
        price: parsePrice(getElement(row, 1)),
        adjusted: parsePrice(getElement(row, 2)),
        pounds: Number(getElement(row, 3)),
        moisture: parseFixed(getElement(row, 4), 2)
      }
    ])
  )

/** Report week → `MM/DD/YYYY HH:MM:SS`, for the known releases. */
export const readSurveyReleases = (): ReadonlyMap<Day, string> =>
  new Map(readRows("survey-releases", 2).map((row) => [parseDay(getElement(row, 0)), getElement(row, 1)]))

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
export const readClassIvMonths = (): ReadonlyArray<ClassIvMonth> =>
  readRows("class-iv", 7).map((row) => ({
    month: getElement(row, 0),
    lastWeek: parseDay(getElement(row, 1)),
    published:
      getElement(row, 2) === ""
        ? null
        : {
            price: parseFixed(getElement(row, 2), 2),
            skim: parseFixed(getElement(row, 3), 2),
            butterfat: parsePrice(getElement(row, 4)),
            nonfatDryMilk: parsePrice(getElement(row, 5)),
            butter: parsePrice(getElement(row, 6))
          }
  }))

/** Month → Class I base price in 0.01 USD/cwt, for the two months where it is known. */
export const readClassIMonths = (): ReadonlyMap<string, number> =>
  new Map(readRows("class-i", 2).map((row) => [getElement(row, 0), parseFixed(getElement(row, 1), 2)]))

/** Day → nonfat dry milk close in 0.0001 USD/lb. */
export const readNonfatDryMilkCloses = (): ReadonlyMap<Day, number> =>
  new Map(
    readRows("cme-nonfat-dry-milk", 2).map((row) => [parseDay(getElement(row, 0)), parsePrice(getElement(row, 1))])
  )

/** Month → butter monthly average in 0.0001 USD/lb. */
export const readButterMonths = (): ReadonlyMap<string, number> =>
  new Map(readRows("cme-butter-months", 2).map((row) => [getElement(row, 0), parsePrice(getElement(row, 1))]))

export interface MarketNewsReport {
  readonly slug: number
  readonly title: string
  /** Publication time of the newest report, `MM/DD/YYYY HH:MM:SS`. */
  readonly published: string
}
export const readMarketNewsReports = (): ReadonlyMap<number, MarketNewsReport> =>
  new Map(
    readRows("market-news-reports", 3).map((row) => [
      Number(getElement(row, 0)),
      { slug: Number(getElement(row, 0)), title: getElement(row, 1), published: getElement(row, 2) }
    ])
  )

/** A range in 0.0001 USD/lb. The outer bounds are not known for every week. */
export interface KnownRange {
  readonly outer: null | readonly [low: number, high: number]
  readonly mostly: readonly [low: number, high: number]
}
/** `slug week` → range. */
export const readMarketNewsRanges = (): ReadonlyMap<string, KnownRange> =>
  new Map(
    readRows("market-news-ranges", 6).map((row) => [
      `${getElement(row, 0)} ${getElement(row, 1)}`,
      {
        outer: getElement(row, 2) === "" ? null : [parsePrice(getElement(row, 2)), parsePrice(getElement(row, 3))],
        mostly: [parsePrice(getElement(row, 4)), parsePrice(getElement(row, 5))]
      }
    ])
  )
