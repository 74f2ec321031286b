import { assert, describe, it } from "@effect/vitest"
import { dayOf, dayOfUsDate, monthOf, weekdayOf } from "./calendar.ts"
import { factLines, marketNews, monthly, number, places4, type Row, text } from "./committed.ts"
import { halfUp, unfixed } from "./decimal.ts"

describe("sample payloads: the spot market (1603, 1602, 1623)", () => {
  const keyOf = (row: Row) => `${row.commodity} ${row.package} ${row.grade}`
  const closes = () => marketNews(1603).results

  it("closes on weekdays only, in steps of 0.0025, once per product and day", () => {
    for (const row of closes()) {
      assert.include([1, 2, 3, 4, 5], weekdayOf(dayOfUsDate(text(row, "report_date"))))
      assert.strictEqual(places4(number(row, "close_price")) % 25, 0)
    }
    assert.strictEqual(new Set(closes().map((row) => `${row.report_date} ${keyOf(row)}`)).size, closes().length)
  })
  it("has every published close of nonfat dry milk, and rests on the exchange's holidays as those do", () => {
    const facts = factLines("cme-nonfat-dry-milk.csv")
    const [first, last] = [dayOf("2021-02-24"), dayOf("2026-08-20")]
    const rows = closes()
      .filter((row) => row.commodity === "Nonfat Dry Milk")
      .map((row) => ({ day: dayOfUsDate(text(row, "report_date")), close: places4(number(row, "close_price")) }))
      .filter(({ day }) => day >= first && day <= last)
      .toReversed()
    assert.deepStrictEqual(
      rows,
      facts.map((line) => ({ day: dayOf(line.slice(0, 10)), close: unfixed(line.slice(11), 4) }))
    )
  })
  it("names the five products as the service does", () => {
    assert.deepStrictEqual([...new Set(closes().map(keyOf))].toSorted(), [
      "Butter null Grade AA",
      "Cheese 40 pound Block null",
      "Cheese Barrels null",
      "Dry Whey null Extra Grade",
      "Nonfat Dry Milk null Grade A"
    ])
  })
  it("has the mean of the week's closes as the weekly average", () => {
    const rows = marketNews(1602).results
    const byWeek = Map.groupBy(closes(), (row) => {
      const day = dayOfUsDate(text(row, "report_date"))
      return `${day - weekdayOf(day) + 1} ${keyOf(row)}`
    })
    for (const row of rows) {
      const monday = dayOfUsDate(text(row, "report_begin_date"))
      assert.strictEqual(dayOfUsDate(text(row, "report_end_date")) - monday, 4)
      const week = byWeek.get(`${monday} ${keyOf(row)}`) ?? []
      const sum = week.reduce((total, close) => total + places4(number(close, "close_price")), 0)
      assert.strictEqual(places4(number(row, "weekly Av")), halfUp(sum, week.length))
    }
    assert.strictEqual(rows.length, 299 * 5)
  })
  it("has exactly one number beside the report's own in a weekly and in a monthly row", () => {
    const numbers = (row: Row) => Object.keys(row).filter((key) => typeof row[key] === "number" && key !== "slug_id")
    for (const row of marketNews(1602).results) assert.deepStrictEqual(numbers(row), ["weekly Av"])
    for (const { results } of monthly()) for (const row of results) assert.deepStrictEqual(numbers(row), ["monthly Av"])
  })
  it("averages months from their closes, and butter to the published averages", () => {
    const rows = (monthly()[0]?.results ?? []).filter((row) => row.commodity === "Butter")
    const days = Map.groupBy(
      closes().filter((row) => row.commodity === "Butter"),
      (row) => monthOf(dayOfUsDate(text(row, "report_date")))
    )
    const averages = new Map<string, number>()
    for (const row of rows) {
      const monthNumber = new Date(`1 ${text(row, "report_month")} 2000 UTC`).toISOString().slice(5, 7)
      const month = `${text(row, "report_end_date").slice(6)}-${monthNumber}`
      const each = days.get(month) ?? []
      const sum = each.reduce((total, close) => total + places4(number(close, "close_price")), 0)
      assert.strictEqual(places4(number(row, "monthly Av")), halfUp(sum, each.length), month)
      averages.set(month, number(row, "monthly Av"))
    }
    for (const line of factLines("cme-butter-months.csv"))
      assert.strictEqual(averages.get(line.slice(0, 7)), Number(line.slice(8)))
  })
  it("repeats the year to date, without spot and buttermilk rows in six reports of 2025", () => {
    const ends = (section: number) => {
      const rows = monthly()[section]?.results ?? []
      return new Set(rows.map((row) => text(row, "report_end_date")).filter((end) => end.endsWith("2025")))
    }
    const kept = ["01/31/2025", "05/31/2025", "06/30/2025", "07/31/2025", "11/30/2025", "12/31/2025"]
    assert.deepStrictEqual([...ends(0)].toSorted(), kept)
    assert.deepStrictEqual([...ends(4)].toSorted(), kept)
    assert.strictEqual(ends(5).size, 12)
  })
})
