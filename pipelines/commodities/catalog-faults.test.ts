import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { BadLine } from "../run/files/hand-edited.ts"
import type { TableName } from "./catalog/lines.ts"
import { parseCatalog } from "./catalog.ts"

const tableText = (name: TableName) => readFileSync(new URL(`./catalog/${name}.tsv`, import.meta.url), "utf8")

/** Returns the error that the catalog throws after an edit of one table. */
const faultOf = (edited: TableName, edit: (text: string) => string) => {
  try {
    parseCatalog((name) => (name === edited ? edit(tableText(name)) : tableText(name)))
  } catch (error) {
    return error
  }
  return undefined
}
const lineOf = (table: TableName, beginning: string) =>
  tableText(table)
    .split("\n")
    .findIndex((line) => line.startsWith(beginning)) + 1

describe("an invalid line of the catalog", () => {
  const close = "butter_exch_spot_close_daily"
  const closeLine = lineOf("metrics", close)
  it.each<readonly [string, TableName, (text: string) => string, line: number, column: string | null, RegExp]>([
    [
      "a value that is not allowed",
      "metrics",
      (text) => text.replace("\tusd_per_lb\t", "\tusd\t"),
      closeLine,
      "unit",
      /usd_per_lb/
    ],
    [
      "a missing cell",
      "metrics",
      (text) => text.replace("\tusd_per_lb\t", "\t"),
      closeLine,
      null,
      /13 cells.* 14 columns/
    ],
    [
      "a repeated name",
      "metrics",
      (text) => `${text}${text.split("\n")[1]}\n`,
      tableText("metrics").split("\n").length,
      "metric_name",
      /already in line 2/
    ],
    [
      "an unknown feed",
      "metrics",
      (text) => text.replace("\tgov-mars/1603\t", "\tgov-mars/16O3\t"),
      closeLine,
      "feed",
      /gov-mars\/16O3 is not in feeds/
    ],
    [
      "an unknown product",
      "metrics",
      (text) => text.replace("\tbutter\t", "\tbuter\t"),
      closeLine,
      "product_slug",
      /buter is not in products/
    ],
    [
      "a condition without a value",
      "metrics",
      (text) => text.replace("commodity=Butter", "commodity"),
      closeLine,
      "where",
      /field=value/
    ],
    [
      "a word where a number is expected",
      "feeds",
      (text) => text.replace("\t6\t45\t", "\tsix\t45\t"),
      2,
      "window_reach_days",
      /number/i
    ],
    [
      "a title that another metric has",
      "metrics",
      (text) => text.replace("Butter, exchange spot, weekly average", "Butter, exchange spot, daily close"),
      closeLine + 1,
      "title",
      /already in line 2/
    ],
    [
      "a note that applies to no metric",
      "notes",
      (text) => text.replace("unit=usd_per_lb_basis", "unit=usd_basis"),
      lineOf("notes", "unit="),
      "applies_to",
      /no metric/
    ],
    [
      "a weekly feed without the weekday on which its weeks end",
      "feeds",
      (text) => text.replace("\tweekly\tFriday\t", "\tweekly\t\t"),
      lineOf("feeds", "gov-mars/1602"),
      "ending_weekday",
      /have a weekday/
    ],
    [
      "a schedule that is not understood",
      "feeds",
      (text) => text.replace("every working day, 11:00", "each working day, 11:00"),
      2,
      "publishes_on",
      /daily reports publish on a day such as `every working day, 11:00`/
    ],
    [
      "a schedule that does not suit the frequency",
      "feeds",
      (text) => text.replace("every working day, 11:00", "Wednesday of the next week, 13:15"),
      2,
      "publishes_on",
      /daily reports publish/
    ],
    [
      "an end that is no day",
      "metrics",
      (text) => text.replace("2025-05-31", "2025-05-32"),
      lineOf("metrics", "cheese_barrel_sales_price_weekly"),
      "ended_on",
      /2025-05-32|calendar day/
    ],
    [
      "a series without a metric",
      "series",
      (text) => text.replace("butter-exch-spot-close-daily", "butter-close-daily"),
      2,
      "slug",
      /butter_close_daily is not in metrics/
    ],
    [
      "a header that lacks a column",
      "products",
      (text) => text.replace("description", "text"),
      1,
      null,
      /no column description/
    ]
  ])("is reported with file, line and column: %s", (_, table, edit, line, column, problem) => {
    const fault = faultOf(table, edit)
    assert.instanceOf(fault, BadLine)
    assert.deepInclude(fault, { file: `pipelines/commodities/catalog/${table}.tsv`, line, column })
    assert.match(fault.problem, problem)
    const location = column === null ? `line ${line}: ` : `line ${line}, column ${column}: `
    assert.include(fault.message, `${table}.tsv, ${location}`)
  })
})
