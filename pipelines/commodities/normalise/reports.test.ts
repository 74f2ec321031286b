/** The peculiarities of each report, from payload text to readings. */
import { assert, describe, it } from "@effect/vitest"
import {
  aBarrelRow,
  aBlockRow,
  aClassRow,
  aClose,
  aFinalBlockRow,
  aMonthlyAverage,
  anAdvancedRow,
  aRange,
  aWeeklyAverage,
  barrels,
  blocks,
  feedNamed,
  finalBlocks,
  formatReadings,
  type Row,
  readRows
} from "@larder/test/support/pipelines/commodity-payloads.ts"
import fc from "fast-check"

const [closes, weeks, months] = [feedNamed("gov-mars/1603"), feedNamed("gov-mars/1602"), feedNamed("gov-mars/1623")]
const [classes, advanced] = [feedNamed("gov-mpr/2991/Detail"), feedNamed("gov-mpr/2989/Detail")]

describe("the five restatements of a survey report", () => {
  const weekEndings = ["08/29/2026", "09/05/2026", "09/12/2026", "09/19/2026", "09/26/2026"]
  const rows = weekEndings.map((week, index) =>
    aBlockRow({ "Week Ending Date": week, cheese_40_Price: `1.6${index}00` })
  )

  it("have the same readings in any order of their rows", () => {
    const sorted = formatReadings(blocks, ...rows)
    assert.deepStrictEqual(sorted.slice(0, 2), [
      "cheese_block_sales_price_weekly 2026-08-29 1.6000",
      "cheese_block_sales_price_weekly 2026-09-05 1.6100"
    ])
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: 5 }), (shuffled) => {
        assert.deepStrictEqual(formatReadings(blocks, ...shuffled).toSorted(), sorted)
      })
    )
  })

  it("are dated by the week of the data in rolling sections, and by the lower-case week in final ones", () => {
    assert.deepStrictEqual(formatReadings(blocks, aBlockRow()), ["cheese_block_sales_price_weekly 2026-08-29 1.6140"])
    const [final] = readRows(finalBlocks, [aFinalBlockRow({ week_ending_date: "09/05/2026" })]).readings
    assert.strictEqual(final?.observed_on, "2026-09-05")
    assert.strictEqual(final?.revision_status, "final")
    const both = aFinalBlockRow({ week_ending_date: "09/05/2026", "Week Ending Date": "08/29/2026" })
    assert.strictEqual(readRows(finalBlocks, [both]).readings[0]?.observed_on, "2026-09-05")
  })

  it("have the publication time of their report", () => {
    assert.strictEqual(readRows(blocks, [aBlockRow()]).readings[0]?.published_at, "2026-09-30 13:04:36")
  })
})

describe("barrels", () => {
  it("have the price as sold, never the one adjusted for moisture", () => {
    assert.deepStrictEqual(formatReadings(barrels, aBarrelRow("05/31/2025", "1.9495")), [
      "cheese_barrel_sales_price_weekly 2025-05-31 1.9495"
    ])
  })

  it("have neither a reading nor a reject if they are null", () => {
    const { readings, rejects, rows_skipped } = readRows(barrels, [
      aBarrelRow("05/31/2025", null),
      aBarrelRow("05/24/2025", null)
    ])
    assert.deepStrictEqual({ readings, rejects, rows_skipped }, { readings: [], rejects: [], rows_skipped: 2 })
  })
})

describe("a daily close", () => {
  it("is identified by commodity and package", () => {
    const cheese = (row: Row) => aClose({ commodity: "Cheese", grade: null, ...row })
    assert.deepStrictEqual(
      formatReadings(
        closes,
        cheese({ package: "40 pound Block", close_price: 1.5 }),
        cheese({ package: "Barrels", close_price: 1.45 })
      ),
      ["cheese_block_exch_spot_close_daily 2026-09-29 1.5", "cheese_barrel_exch_spot_close_daily 2026-09-29 1.45"]
    )
  })

  it("needs no package unless it is of cheese", () => {
    const { package: _, ...butter } = aClose()
    assert.deepStrictEqual(formatReadings(closes, butter), ["butter_exch_spot_close_daily 2026-09-29 1.39"])
  })

  it("fails when it is of cheese and has no package", () => {
    const { package: _, ...cheese } = aClose({ commodity: "Cheese" })
    assert.throws(
      () => formatReadings(closes, cheese),
      /the field package, which distinguishes the rows of cheese_block_.*, is missing/
    )
  })

  it("may have a number or a text as slug_id", () => {
    assert.deepStrictEqual(
      formatReadings(closes, aClose({ slug_id: 1603 })),
      formatReadings(closes, aClose({ slug_id: "1603" }))
    )
  })

  it("may be dated after its publication", () => {
    const row = aClose({ report_date: "10/02/2026", published_date: "10/01/2026 10:57:04" })
    assert.deepStrictEqual(formatReadings(closes, row), ["butter_exch_spot_close_daily 2026-10-02 1.39"])
  })

  it("counts as published at the end of its own day, with microseconds, when it has no timestamp", () => {
    const { published_date: _, ...row } = aClose()
    assert.strictEqual(readRows(closes, [row]).readings[0]?.published_at, "2026-09-29 23:59:59.999999")
  })

  it("is reported as absent for each product without a row", () => {
    const { metrics_without_rows } = readRows(closes, [aClose()])
    assert.deepStrictEqual(metrics_without_rows, [
      "cheese_block_exch_spot_close_daily",
      "cheese_barrel_exch_spot_close_daily",
      "nonfat_dry_milk_exch_spot_close_daily",
      "dry_whey_exch_spot_close_daily"
    ])
  })
})

describe("an average whose column is not documented", () => {
  it("is read from the column that fits, which is recorded as the measure", () => {
    const { measures, readings } = readRows(weeks, [aWeeklyAverage()])
    assert.strictEqual(measures.get("butter_exch_spot_average_weekly"), "weekly Av")
    assert.strictEqual(readings[0]?.observed_on, "2026-09-25")
    const { "weekly Av": price, ...row } = aWeeklyAverage()
    assert.strictEqual(
      readRows(weeks, [{ ...row, weekly_average: price }]).measures.get("butter_exch_spot_average_weekly"),
      "weekly_average"
    )
  })

  it("has no reading for a product without numbers, and finds its column by the other rows", () => {
    const barrel = aMonthlyAverage({ commodity: "Cheese", package: "Barrels", "monthly Av": null })
    const { measures, readings, rows_skipped } = readRows(months, [barrel, aMonthlyAverage()])
    assert.deepStrictEqual([readings.length, rows_skipped], [1, 1])
    assert.strictEqual(measures.get("cheese_barrel_exch_spot_average_monthly"), "monthly Av")
  })
})

describe("a year-to-date report", () => {
  it("dates a month by the year of its end, not of its publication", () => {
    const row = aMonthlyAverage({
      report_month: "December",
      report_end_date: "12/31/2025",
      report_date: "01/01/2025",
      published_date: "01/12/2026 10:22:13"
    })
    assert.deepStrictEqual(formatReadings(months, row), ["butter_exch_spot_average_monthly 2025-12-01 1.4719"])
  })

  it("has the same reading for a month that three reports repeat", () => {
    const ends = ["04/30/2026", "05/31/2026", "08/31/2026"]
    const rows = ends.map((end) =>
      aMonthlyAverage({ report_month: "April", report_end_date: end, "monthly Av": 1.7224 })
    )
    assert.deepStrictEqual(
      new Set(formatReadings(months, ...rows)),
      new Set(["butter_exch_spot_average_monthly 2026-04-01 1.7224"])
    )
  })

  it("is left out without rows of the exchange, except for days that a person chose", () => {
    const rows = [aMonthlyAverage({ region: "Oceania" })]
    assert.throws(() => readRows(months, rows), /none of its 1 rows with a price matches a metric: .*Oceania/)
    const { metrics_without_rows, readings } = readRows(months, rows, {
      runDays: { from: "2026-08-01", to: "2026-08-31" }
    })
    assert.deepStrictEqual([readings.length, metrics_without_rows.length], [0, 5])
  })

  it("leaves out rows of other markets", () => {
    assert.deepStrictEqual(
      formatReadings(months, aMonthlyAverage({ region: "West Europe" }), aMonthlyAverage()).length,
      1
    )
  })
})

describe("milk prices", () => {
  it("are dated in July for July, although the last survey week ends in August", () => {
    assert.deepStrictEqual(formatReadings(classes, aClassRow()), [
      "milk_class_ii_price_monthly 2026-07-01 17.60",
      "milk_class_iii_price_monthly 2026-07-01 15.97",
      "milk_class_iv_price_monthly 2026-07-01 18.34"
    ])
  })

  it("have no reading for a month in which they are null", () => {
    const row = aClassRow({
      report_month: "Mar",
      report_year: "2012",
      class_2_Price: null,
      class_3_Price: null,
      class_4_Price: null
    })
    assert.strictEqual(readRows(classes, [row]).rows_skipped, 1)
  })

  it("are dated by the month priced for Class I, not by the announcement", () => {
    const [reading] = readRows(advanced, [anAdvancedRow()]).readings
    assert.strictEqual(reading?.observed_on, "2026-07-01")
    assert.strictEqual(reading?.published_at, "2026-06-17 13:04:11")
  })

  it.each(["class_1_Price", "class_1_base_Price", "base_class_1_Price", "class_I_Price", "class_I_base_Price"])(
    "read Class I from the column %s",
    (column) => {
      const { class_1_Price: price, ...row } = anAdvancedRow()
      assert.strictEqual(
        readRows(advanced, [{ ...row, [column]: price }]).measures.get("milk_class_i_price_monthly"),
        column
      )
    }
  )

  it("fail for Class I in a column with a different name, and name the columns found", () => {
    const { class_1_Price: _, ...row } = anAdvancedRow({ advanced_price: "21.33" })
    assert.throws(
      () => readRows(advanced, [row]),
      /the column class_1_Price or .* is missing\. The payload has: .*advanced_price/
    )
  })
})

describe("regional reports", () => {
  it("have different metrics for food whey and feed whey", () => {
    const whey = feedNamed("gov-mars/1045")
    const food = aRange(1045, { quality: "Edible", grade: "Extra & Grade A", price_min: 0.59 })
    const feed = aRange(1045, { quality: "Non-Edible", lot_Desc: "Animal Feed - Milk Replacer", price_min: 0.35 })
    const lowest = formatReadings(whey, food, feed).filter((reading) => reading.includes("price_min"))
    assert.deepStrictEqual(lowest, [
      "dry_whey_us_central_price_min_weekly 2026-09-25 0.59",
      "dry_whey_feed_us_central_price_min_weekly 2026-09-25 0.35"
    ])
  })

  it("have no gap when the grade is stated in some weeks only", () => {
    const concentrate = feedNamed("gov-mars/1053")
    const rows = ["Extra Grade", "", "N/A", null].map((grade, week) =>
      aRange(1053, { grade, report_end_date: `09/0${week + 1}/2026` })
    )
    assert.strictEqual(formatReadings(concentrate, ...rows).length, 16)
  })

  it("have no mostly range when none is stated", () => {
    const lactose = feedNamed("gov-mars/1052")
    const { mostly_low_price: _low, mostly_high_price: _high, ...row } = aRange(1052, { grade: "N/A" })
    const expected = [
      "lactose_us_central_and_west_price_min_weekly 2026-09-25 0.59",
      "lactose_us_central_and_west_price_max_weekly 2026-09-25 0.74"
    ]
    assert.deepStrictEqual(formatReadings(lactose, row), expected)
    assert.deepStrictEqual(
      formatReadings(lactose, { ...row, mostly_low_price: "N/A", mostly_high_price: null }),
      expected
    )
  })

  it("distinguish butter from butteroil by the whole word", () => {
    const europe = feedNamed("gov-mars/1098")
    const rows = [aRange(1098, { commodity: "Butter" }), aRange(1098, { commodity: "Butteroil" })]
    assert.strictEqual(formatReadings(europe, ...rows).filter((reading) => reading.startsWith("butter_82")).length, 4)
  })

  it("are dated by the end of their period, not by its beginning", () => {
    const row = aRange(1041, { report_begin_date: "09/14/2026", report_date: "09/14/2026" })
    assert.include(formatReadings(feedNamed("gov-mars/1041"), row)[0], " 2026-09-25 ")
  })
})
