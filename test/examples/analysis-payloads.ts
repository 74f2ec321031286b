/** Prices as the bundled sample payloads state them, read without the pipeline and without DuckDB. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import path from "node:path"
import { gunzipSync } from "node:zlib"
import { repository } from "../support/repository.ts"

type PayloadRow = Readonly<Record<string, string | number | null>>

const read = (address: string) => {
  const bytes = gunzipSync(readFileSync(path.join(repository, "pipelines/commodities/samples", `${address}.gz`)))
  const { results }: { results: ReadonlyArray<PayloadRow> } = JSON.parse(bytes.toString())
  return { bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex"), rows: results }
}

const payloads = new Map<string, ReturnType<typeof read>>()
/** The payload of an address without its scheme, and the SHA-256 of its bytes. */
export const readPayload = (address: string) => {
  const payload = payloads.get(address) ?? read(address)
  payloads.set(address, payload)
  return payload
}

/** `09/26/2026` with or without a time of day as `2026-09-26`. */
const toIso = (date: unknown) => String(date).replace(/^(\d\d)\/(\d\d)\/(\d{4})/, "$3-$1-$2")

export const addDays = (day: string, days: number) =>
  new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)

/** The Monday of the ISO week. */
export const toMonday = (day: string) => addDays(day, -((new Date(day).getUTCDay() + 6) % 7))

/** The mean of prices with four digits. The sum is exact, unlike one of fractions. */
export const computeMean = (prices: ReadonlyArray<number>) =>
  prices.reduce((sum, price) => sum + Math.round(10_000 * price), 0) / prices.length / 10_000

/** A price of one week in one report. */
export interface Print {
  readonly week: string
  readonly price: number
  readonly published: string
  readonly isFinal: boolean
}

const datamart = "mpr.datamart.ams.usda.gov/services/v1.1/reports"
const sections = {
  butter: ["Butter Prices and Sales", "Butter_Price"],
  block: ["40 Pound Block Cheddar Cheese Prices and Sales", "cheese_40_Price"],
  barrel: ["500 Pound Barrel Cheddar Cheese Prices, Sales, and Moisture Content", "cheese_500_Price"],
  whey: ["Dry Whey Prices and Sales", "whey_Price"],
  nonfatDryMilk: ["Nonfat Dry Milk Prices and Sales", "nonfat_milk_Price"]
} as const
export type Product = keyof typeof sections

export const addressOfSurvey = (product: Product) => `${datamart}/2993/${encodeURIComponent(sections[product][0])}`

/** All prints of a product in the weekly survey, by week, in the order of their publication, a final one last. */
export const readSurvey = (product: Product): ReadonlyMap<string, ReadonlyArray<Print>> => {
  const [section, column] = sections[product]
  const prints = [section, `Final ${section}`].flatMap((name) =>
    readPayload(`${datamart}/2993/${encodeURIComponent(name)}`).rows.flatMap((row): ReadonlyArray<Print> => {
      if (row[column] === null) return []
      const week = toIso(row["Week Ending Date"] ?? row.week_ending_date)
      return [{ week, price: Number(row[column]), published: toIso(row.published_date), isFinal: name !== section }]
    })
  )
  const sorted = prints.toSorted(
    (a, b) => Number(a.isFinal) - Number(b.isFinal) || a.published.localeCompare(b.published)
  )
  return Map.groupBy(sorted, ({ week }) => week)
}

/** Closing prices of the exchange, by day. */
export const readSpot = (commodity: string, packaging = ""): ReadonlyMap<string, number> =>
  new Map(
    readPayload("marsapi.ams.usda.gov/services/v1.2/reports/1603")
      .rows.filter((row) => row.commodity === commodity && String(row.package ?? "").includes(packaging))
      .map((row) => [toIso(row.report_date), Number(row.close_price)])
  )

/** The exchange's own weekly averages of butter, under the Monday. */
export const readButterAverages = (): ReadonlyMap<string, number> =>
  new Map(
    readPayload("marsapi.ams.usda.gov/services/v1.2/reports/1602")
      .rows.filter(({ commodity }) => commodity === "Butter")
      .map((row) => [toMonday(toIso(row.report_end_date)), Number(row["weekly Av"])])
  )

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** The monthly prices of milk, by the first day of the month: of report 2991, or the advanced ones of 2989. */
export const readMilkPrices = (report: 2989 | 2991): ReadonlyMap<string, PayloadRow> =>
  new Map(
    readPayload(`${datamart}/${report}/Detail`).rows.map((row) => {
      const month = months.indexOf(String(row.report_month)) + 1
      return [`${row.report_year}-${String(month).padStart(2, "0")}-01`, row]
    })
  )
