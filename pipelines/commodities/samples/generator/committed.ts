/** Reads the committed payloads back, for tests. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { unfixed } from "./decimal.ts"

export type Row = Readonly<Record<string, unknown>>
export interface Envelope {
  readonly reportSection?: string
  readonly stats: Readonly<Record<string, number>>
  readonly results: ReadonlyArray<Row>
}

export const committed = (path: string) =>
  gunzipSync(readFileSync(join(import.meta.dirname, "..", `${path}.gz`))).toString()
const parsed = new Map<string, Envelope | ReadonlyArray<Envelope>>()
const payload = (path: string) => {
  const known = parsed.get(path) ?? JSON.parse(committed(path))
  parsed.set(path, known)
  return known
}
export const survey = (section: string): Envelope =>
  payload(`mpr.datamart.ams.usda.gov/services/v1.1/reports/2993/${encodeURIComponent(section)}`)
export const milk = (slug: number): Envelope =>
  payload(`mpr.datamart.ams.usda.gov/services/v1.1/reports/${slug}/Detail`)
export const marketNews = (slug: number): Envelope => payload(`marsapi.ams.usda.gov/services/v1.2/reports/${slug}`)
export const monthly = (): ReadonlyArray<Envelope> => payload("marsapi.ams.usda.gov/services/v1.2/reports/1623")

export const text = (row: Row, column: string) => {
  const value = row[column]
  if (typeof value !== "string") throw new TypeError(`${column} is not text in ${JSON.stringify(row)}`)
  return value
}
export const number = (row: Row, column: string) => {
  const value = row[column]
  if (typeof value !== "number") throw new TypeError(`${column} is not a number in ${JSON.stringify(row)}`)
  return value
}
/** Whole number of 0.0001: the digits of the JSON number, not its double. */
export const places4 = (value: number) => unfixed(String(value), 4)
export const price = (row: Row, column: string) => unfixed(text(row, column), 4)

export const blocks = "40 Pound Block Cheddar Cheese Prices and Sales"
export const barrels = "500 Pound Barrel Cheddar Cheese Prices, Sales, and Moisture Content"
export const powder = "Nonfat Dry Milk Prices and Sales"
export const sections = [
  ["Butter Prices and Sales", "Butter_Price"],
  [blocks, "cheese_40_Price"],
  [barrels, "cheese_500_Price"],
  ["Dry Whey Prices and Sales", "whey_Price"],
  [powder, "nonfat_milk_Price"]
] as const

export const reportsOf = (rows: ReadonlyArray<Row>) => Map.groupBy(rows, (row) => text(row, "week_ending_date"))
/** What a rolling section printed for a week, oldest report first. */
export const printed = (section: string, column: string, week: string) =>
  survey(section)
    .results.filter((row) => row["Week Ending Date"] === week)
    .toReversed()
    .map((row) => row[column])

/** Data lines of a table of published numbers. */
export const factLines = (name: string) =>
  readFileSync(join(import.meta.dirname, "../facts", name), "utf8")
    .trim()
    .split("\n")
    .slice(1)
