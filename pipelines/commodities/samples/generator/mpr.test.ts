import { assert, describe, it } from "@effect/vitest"
import { dayOf, dayOfUsDate, weekdayOf } from "./calendar.ts"
import { barrels, blocks, powder, price, printed, reportsOf, sections, survey, text } from "./committed.ts"
import { halfUp, unfixed } from "./decimal.ts"

describe("sample payloads: the weekly survey (2993)", () => {
  it.each(sections)("%s: 757 reports restate five weeks each, in both orders", (section) => {
    const reports = [...reportsOf(survey(section).results)]
    assert.strictEqual(survey(section).results.length, 757 * 5)
    assert.strictEqual(reports.length, 757)
    const orders = new Set<string>()
    for (const [report, rows] of reports) {
      const ages = rows.map((row) => (dayOfUsDate(report) - dayOfUsDate(text(row, "Week Ending Date"))) / 7)
      assert.deepStrictEqual(ages.toSorted(), [0, 1, 2, 3, 4])
      orders.add(ages.join())
    }
    assert.isTrue(orders.has("0,1,2,3,4") && orders.has("4,3,2,1,0"))
  })
  it.each(sections)("%s: a final row equals the last rolling one and is dated by its own week", (section, column) => {
    const last = new Map(
      survey(section)
        .results.toReversed()
        .map((row) => [row["Week Ending Date"], row])
    )
    const finals = survey(`Final ${section}`).results
    assert.strictEqual(finals.length, 753)
    for (const row of finals) {
      assert.isFalse("Week Ending Date" in row)
      const rolling = last.get(row.week_ending_date)
      assert(rolling)
      assert.strictEqual(row[column], rolling[column])
      assert.strictEqual(row.published_date, rolling.published_date)
    }
  })
  it("prints the known blocks and their revisions", () => {
    assert.deepStrictEqual(printed(blocks, "cheese_40_Price", "08/29/2026"), Array(5).fill("1.6140"))
    assert.deepStrictEqual(printed(blocks, "cheese_40_Sales", "08/29/2026"), Array(5).fill("10,362,221"))
    assert.deepStrictEqual(printed(blocks, "cheese_40_Price", "09/05/2026"), ["1.6133", "1.6121", "1.6121", "1.6121"])
    assert.deepStrictEqual(printed(blocks, "cheese_40_Price", "09/12/2026"), ["1.5790", "1.5793", "1.5793"])
  })
  it("prints the known revisions of nonfat dry milk", () => {
    assert.deepStrictEqual(printed(powder, "nonfat_milk_Price", "06/27/2026"), [
      "1.8439",
      "1.8446",
      "1.8480",
      "1.8483",
      "1.8483"
    ])
    assert.deepStrictEqual(printed(powder, "nonfat_milk_Price", "10/05/2013"), Array(5).fill(null))
  })
  it("ends barrels on 2025-05-31 and takes back the four weeks before", () => {
    const rows = survey(barrels).results
    for (const row of rows) {
      const ended = dayOfUsDate(text(row, "week_ending_date")) >= dayOf("2025-06-07")
      if (ended) assert.strictEqual(row.cheese_500_Price, null)
    }
    const known = rows.filter((row) => row.week_ending_date === "05/31/2025")
    assert.deepStrictEqual(Object.fromEntries(known.map((row) => [row["Week Ending Date"], row.cheese_500_Price])), {
      "05/03/2025": "1.9234",
      "05/10/2025": "1.9056",
      "05/17/2025": "1.8935",
      "05/24/2025": "1.9268",
      "05/31/2025": "1.9495"
    })
  })
  it("adjusts barrels to 38 % moisture: exactly where generated, within 0.0003 where published", () => {
    for (const row of survey(barrels).results) {
      if (row.cheese_500_Price === null) continue
      const moisture = unfixed(text(row, "cheese_500_Wtd_Mst"), 2)
      const miss = price(row, "cheese_500_Wtd_Price") - halfUp(price(row, "cheese_500_Price") * 6200, 10_000 - moisture)
      const published = dayOfUsDate(text(row, "Week Ending Date")) >= dayOf("2025-04-26")
      assert.isTrue(Math.abs(miss) <= (published ? 3 : 0), JSON.stringify(row))
    }
  })
  it("comes out on Wednesday, or on Thursday after a holiday", () => {
    const stamps = new Map(survey(blocks).results.map((row) => [row.week_ending_date, text(row, "published_date")]))
    assert.strictEqual(stamps.get("09/26/2026"), "09/30/2026 13:04:36")
    assert.strictEqual(stamps.get("09/05/2026"), "09/10/2026 12:52:03")
    assert.match(stamps.get("05/23/2026") ?? "", /^05\/28\/2026 13:0/)
    for (const stamp of stamps.values()) assert.include([3, 4], weekdayOf(dayOfUsDate(stamp)))
  })
  it("revises more first prints than it leaves, by at most 0.0300", () => {
    const weeks = Map.groupBy(survey(blocks).results, (row) => row["Week Ending Date"])
    const moves = [...weeks.values()].flatMap((rows) => {
      const prices = rows.flatMap((row) => (row.cheese_40_Price === null ? [] : [price(row, "cheese_40_Price")]))
      return prices.length < 5 ? [] : [Math.max(...prices) - Math.min(...prices)]
    })
    const moved = moves.filter((move) => move > 0).length / moves.length
    assert.isTrue(moved > 0.5 && moved < 0.85, `${moved}`)
    assert.isTrue(Math.max(...moves) <= 300)
  })
})
