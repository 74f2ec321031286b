/** Rows with a price that match no metric. */
import { assert, describe, it } from "@effect/vitest"
import {
  aClose,
  aMonthlyAverage,
  feedNamed,
  type Row,
  readRows
} from "@larder/test/support/pipelines/commodity-payloads.ts"

const [closes, months] = [feedNamed("gov-mars/1603"), feedNamed("gov-mars/1623")]
const on = (day: string, row: Row) =>
  aClose({ report_date: `09/${day}/2026`, published_date: `09/${day}/2026 10:57:04`, ...row })
const block = (day: string, name = "40 pound Block", price: number | null = 1.4) =>
  on(day, { commodity: "Cheese", grade: null, package: name, close_price: price })

describe("a text that no metric has", () => {
  it("is reported once with its rows, and costs nothing while every metric keeps its value", () => {
    const rows = [block("28"), block("29"), block("28", "5 pound Loaf"), block("29", "5 pound Loaf")]
    const { lost_metrics, odd_values, readings } = readRows(closes, rows)
    assert.strictEqual(readings.length, 2)
    assert.deepStrictEqual(odd_values, [
      { kind: "unmatched", field: "commodity, package", said: "Cheese, 5 pound Loaf", rows: 2 }
    ])
    assert.deepStrictEqual(lost_metrics, [])
  })

  it("is not reported without a price", () => {
    assert.deepStrictEqual(readRows(closes, [block("29"), block("29", "Sticks", null)]).odd_values, [])
  })

  const lost =
    'rows with commodity, package "Cheese, 40 lb. Block" match no metric, and cheese_block_exch_spot_close_daily had a value before and has none in the same publication'

  it("is named as the cause when a metric has values in earlier publications and none in the same", () => {
    const rows = [block("28"), on("28", {}), block("29", "40 lb. Block"), on("29", {})]
    assert.deepStrictEqual(readRows(closes, rows).lost_metrics, [lost])
  })

  it("is named as the cause when all rows have it and earlier runs knew values", () => {
    const daysWithValues = new Map(
      ["cheese_block", "butter"].map((name) => [`${name}_exch_spot_close_daily`, new Set(["2026-09-25"])])
    )
    const rows = [block("28", "40 lb. Block"), on("28", {}), block("29", "40 lb. Block"), on("29", {})]
    assert.deepStrictEqual(readRows(closes, rows, { daysWithValues }).lost_metrics, [lost])
    assert.deepStrictEqual(readRows(closes, rows).lost_metrics, [], "it never had a value")
  })

  it("is named even if more than one of its fields is spelled in a new way", () => {
    const renamed = { ...block("29", "Blocks 40 lb"), commodity: "Cheddar" }
    const [message] = readRows(closes, [block("28"), on("28", {}), renamed, on("29", {})]).lost_metrics
    assert.match(
      message ?? "",
      /"Cheddar, Blocks 40 lb" match no metric, and cheese_block_exch_spot_close_daily had a value/
    )
  })

  it("is named in a report that repeats earlier months under the old text", () => {
    const cheese = { commodity: "Cheese", package: "40 pound Block" }
    const drifted = { commodity: "Cheese", package: "40 lb. Block", report_month: "August" }
    const rows = [
      aMonthlyAverage({ ...cheese, report_month: "July" }),
      aMonthlyAverage({ report_month: "July" }),
      aMonthlyAverage(drifted),
      aMonthlyAverage({ report_month: "August" })
    ]
    const [message] = readRows(months, rows).lost_metrics
    assert.match(
      message ?? "",
      /40 lb\. Block" match no metric, and cheese_block_exch_spot_average_monthly had a value/
    )
  })

  it("is no cause in earlier days than a metric's known values", () => {
    const daysWithValues = new Map([["cheese_block_exch_spot_close_daily", new Set(["2026-09-30"])]])
    const runDays = { from: "2026-09-28", to: "2026-09-29" }
    const rows = [block("28", "40# Blocks"), on("28", {})]
    assert.deepStrictEqual(readRows(closes, rows, { daysWithValues, runDays }).lost_metrics, [])
  })

  it("may be another spelling of a metric that has no value at all", () => {
    const [message] = readRows(closes, [block("29", "40 lb. Block"), on("29", {})]).possible_spellings
    assert.strictEqual(
      message,
      'cheese_block_exch_spot_close_daily, cheese_barrel_exch_spot_close_daily would have no value, and rows with commodity, package "Cheese, 40 lb. Block" match no metric'
    )
  })

  it("is no cause for a metric that ended long before", () => {
    const ended = { report_date: "05/01/2026", published_date: "05/01/2026 10:57:04" }
    const rows = [{ ...block("28"), ...ended }, on("28", {}), block("29", "40 lb. Block"), on("29", {})]
    assert.deepStrictEqual(readRows(closes, rows).lost_metrics, [])
  })

  it("is another market if it ever stood beside the metric's value", () => {
    const other = { region: "West", commodity: "Butter" }
    const july = { report_month: "July", published_date: "08/11/2026 10:22:13" }
    const rows = [aMonthlyAverage({ ...july }), aMonthlyAverage({ ...july, ...other }), aMonthlyAverage(other)]
    assert.deepStrictEqual(readRows(months, rows).lost_metrics, [])
  })
})
