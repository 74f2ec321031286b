import { assert, describe, it } from "@effect/vitest"
import { dayOf, dayOfUsDate } from "./calendar.ts"
import { committed, marketNews, number, text } from "./committed.ts"

describe("sample payloads: regional and international reports", () => {
  const weekly = [1043, 1044, 1045, 1046, 1047, 1048, 1049, 1050, 1051, 1052, 1053, 1089, 1090, 1091]
  const biweekly = [1034, 1035, 1036, 1038, 1039, 1041, 1042, 1082, 1098, 1099]
  const week = (slug: number, end: string) => marketNews(slug).results.filter((row) => row.report_end_date === end)

  it.each([...weekly, ...biweekly])("%i: keeps its ranges in order", (slug) => {
    for (const row of marketNews(slug).results) {
      const [low, high] = [number(row, "price_min"), number(row, "price_max")]
      assert.isTrue(low <= high)
      if (row.mostly_low_price === null) assert.strictEqual(row.mostly_high_price, null)
      else {
        const [mostlyLow, mostlyHigh] = [number(row, "mostly_low_price"), number(row, "mostly_high_price")]
        assert.isTrue(low <= mostlyLow && mostlyLow <= mostlyHigh && mostlyHigh <= high, JSON.stringify(row))
      }
    }
  })
  it.each(biweekly)("%i: ends every second Friday, in steps of 25 USD", (slug) => {
    for (const row of marketNews(slug).results) {
      assert.strictEqual((dayOf("2026-09-25") - dayOfUsDate(text(row, "report_end_date"))) % 14, 0)
      assert.strictEqual(number(row, "price_min") % 25, 0)
      assert.strictEqual(number(row, "price_max") % 25, 0)
    }
  })
  it("has the published ranges of the week of 2026-08-21, without padding", () => {
    const quoted = (slug: number) =>
      week(slug, "08/21/2026").map((row) =>
        ["price_min", "price_max", "mostly_low_price", "mostly_high_price"].map((column) => row[column])
      )
    assert.deepStrictEqual(quoted(1052), [[0.56, 0.76, 0.62, 0.72]])
    assert.deepStrictEqual(quoted(1053), [[1.88, 2.75, 2, 2.24]])
    assert.include(
      committed("marsapi.ams.usda.gov/services/v1.2/reports/1053"),
      '"price_min":1.88,"price_max":2.75,"mostly_low_price":2,"mostly_high_price":2.24'
    )
  })
  it("lets the grade of whey protein drift for seven of eight weeks", () => {
    const grades = marketNews(1053)
      .results.filter((row) => {
        const end = dayOfUsDate(text(row, "report_end_date"))
        return end >= dayOf("2026-01-30") && end <= dayOf("2026-03-20")
      })
      .map((row) => row.grade)
    assert.deepStrictEqual(grades.toSorted(), ["", "", "", "", "", "", "", "Extra Grade"])
  })
  it("tells two products of one report apart by their columns", () => {
    const pairs = (slug: number, columns: ReadonlyArray<string>) =>
      week(slug, "09/25/2026").map((row) => columns.map((column) => row[column]))
    assert.deepStrictEqual(pairs(1045, ["grade", "quality", "lot_Desc"]), [
      ["Extra & Grade A", "Edible", "Non-Hygroscopic"],
      ["", "Non-Edible", "Animal Feed - Milk Replacer"]
    ])
    assert.deepStrictEqual(pairs(1048, ["lot_Desc"]), [["High Heat"], ["Low & Medium Heat"]])
    assert.deepStrictEqual(pairs(1051, ["group"]), [["Acid"], ["Rennet"]])
    assert.deepStrictEqual(pairs(1098, ["commodity", "lot_Desc"]), [
      ["Butter", "82% Butterfat"],
      ["Butteroil", "99% Butterfat"]
    ])
  })
  it("quotes butter as a basis, sometimes negative, and not at all in two weeks of Central 2025", () => {
    for (const slug of [1089, 1090, 1091])
      for (const row of marketNews(slug).results) {
        assert.strictEqual(row.price_unit, "Basis Pricing")
        assert.isTrue(Math.abs(number(row, "price_max")) <= 0.12)
      }
    assert.isTrue(marketNews(1091).results.some((row) => number(row, "price_min") < 0))
    assert.deepStrictEqual([...week(1089, "06/27/2025"), ...week(1089, "07/04/2025")], [])
    assert.strictEqual(week(1090, "07/04/2025").length, 1)
  })
})
