import { assert, describe, it } from "@effect/vitest"
import { dayOf, dayOfUsDate, monthOf } from "./calendar.ts"
import { milk, price, type Row, reportsOf, survey, text } from "./committed.ts"
import { halfUp, unfixed } from "./decimal.ts"

describe("sample payloads: milk prices (2991, 2989)", () => {
  /** The announced formula, written anew: constants up to May 2025, from June and from December 2025. */
  const classIv = (month: string, butter: number, nonfatDryMilk: number) => {
    const [a, b] = month < "2025-06" ? [1715, 1678] : [2272, 2393]
    const butterfat = halfUp((butter - a) * 1211, 1000)
    const skim = halfUp(halfUp((nonfatDryMilk - b) * 99, 100) * (month < "2025-12" ? 90 : 93), 1000)
    return halfUp(965 * skim + 35 * butterfat, 1000)
  }
  const monthOfRow = (row: Row) =>
    monthOf(
      dayOfUsDate(
        `${new Date(`1 ${text(row, "report_month")} 2000 UTC`).toISOString().slice(5, 7)}/01/${text(row, "report_year")}`
      )
    )

  it("has one row per month since March 2012, whose prices are null", () => {
    const months = milk(2991).results.map(monthOfRow).toReversed()
    assert.strictEqual(new Set(months).size, 175)
    assert.deepStrictEqual([months[0], months.at(-1)], ["2012-03", "2026-09"])
    assert.strictEqual(milk(2991).results.at(-1)?.class_4_Price, null)
  })
  it("meets the Class IV formula to the cent in every month", () => {
    for (const row of milk(2991).results.slice(0, -1)) {
      const expected = classIv(
        monthOfRow(row),
        price(row, "butter_monthly_avg_Price"),
        price(row, "nfdm_monthly_avg_Price")
      )
      assert.strictEqual(unfixed(text(row, "class_4_Price"), 2), expected, monthOfRow(row))
    }
  })
  it("dates a month by its last survey week, which may lie in the next month", () => {
    const july = milk(2991).results.find((row) => monthOfRow(row) === "2026-07")
    assert.strictEqual(july?.week_ending_date, "08/01/2026")
    assert.strictEqual(july?.class_4_Price, "18.34")
  })
  it("averages butter as the survey printed it when the price was announced", () => {
    const rows = milk(2991).results
    const butter = reportsOf(survey("Butter Prices and Sales").results)
    for (const [index, row] of rows.entries()) {
      const before = rows[index + 1]
      if (!before || dayOfUsDate(text(row, "week_ending_date")) < dayOf("2012-05-01")) break
      const prints = (butter.get(text(row, "week_ending_date")) ?? []).filter(
        (print) =>
          print.Butter_Price !== null &&
          dayOfUsDate(text(print, "Week Ending Date")) > dayOfUsDate(text(before, "week_ending_date"))
      )
      const pounds = prints.map((print) => Number(text(print, "Butter_Sales").replaceAll(",", "")))
      const worth = prints.reduce((sum, print, i) => sum + price(print, "Butter_Price") * (pounds[i] ?? 0), 0)
      const average = halfUp(
        worth,
        pounds.reduce((sum, each) => sum + each, 0)
      )
      assert.strictEqual(price(row, "butter_monthly_avg_Price"), average, monthOfRow(row))
    }
  })
  it("announces Class I in the month before the one it prices", () => {
    const rows = milk(2989).results
    assert.strictEqual(rows.length, 175)
    for (const row of rows) {
      const published = dayOfUsDate(text(row, "published_date"))
      assert.isTrue(monthOf(published) < monthOfRow(row))
      assert.include([17, 18, 19, 20, 21, 22, 23, 24], Number(text(row, "published_date").slice(3, 5)))
    }
    const of = (month: string) => rows.find((row) => monthOfRow(row) === month)?.class_1_Price
    assert.deepStrictEqual([of("2026-06"), of("2026-07")], ["22.18", "21.33"])
  })
})
