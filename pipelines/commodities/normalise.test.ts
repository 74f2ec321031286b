import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { type Feed, feeds } from "./catalog.ts"
import { type Limits, normalise } from "./normalise.ts"
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
  bodyOf,
  everyFeed,
  feedNamed,
  finalBlocks,
  n,
  type Row
} from "./payloads-for-tests.ts"
import { rowsOf } from "./wire.ts"

const [closes, weeks, months] = [feedNamed("gov-mars/1603"), feedNamed("gov-mars/1602"), feedNamed("gov-mars/1623")]
const [classes, advanced] = [feedNamed("gov-mpr/2991/Detail"), feedNamed("gov-mpr/2989/Detail")]

/** Through the text of a payload, as it comes. */
const read = (feed: Feed, rows: ReadonlyArray<unknown>, limits?: Limits) => {
  const answered = { url: "https://example.test", text: bodyOf(feed, rows), content_type: null, recorded: false }
  return normalise(feed, rowsOf(feed, answered).rows, limits)
}

const readings = (feed: Feed, ...rows: ReadonlyArray<Row>) =>
  read(feed, rows).readings.map(
    ({ metric_name, observed_on, value_text }) => `${metric_name} ${observed_on} ${value_text}`
  )

describe("the five restatements of a survey report", () => {
  const weekEndings = ["08/29/2026", "09/05/2026", "09/12/2026", "09/19/2026", "09/26/2026"]
  const rows = weekEndings.map((week, index) =>
    aBlockRow({ "Week Ending Date": week, cheese_40_Price: `1.6${index}00` })
  )

  it("give the same five weeks in any order", () => {
    const sorted = readings(blocks, ...rows)
    assert.deepStrictEqual(sorted.slice(0, 2), [
      "cheese_block_sales_price_weekly 2026-08-29 1.6000",
      "cheese_block_sales_price_weekly 2026-09-05 1.6100"
    ])
    fc.assert(
      fc.property(fc.shuffledSubarray(rows, { minLength: 5 }), (shuffled) => {
        assert.deepStrictEqual(readings(blocks, ...shuffled).toSorted(), sorted)
      })
    )
  })

  it("are dated by the week of the data in rolling sections and by the lower-case week in final ones", () => {
    assert.deepStrictEqual(readings(blocks, aBlockRow()), ["cheese_block_sales_price_weekly 2026-08-29 1.6140"])
    const [final] = read(finalBlocks, [aFinalBlockRow({ week_ending_date: "09/05/2026" })]).readings
    assert.strictEqual(final?.observed_on, "2026-09-05")
    assert.isTrue(final?.is_final)
    const both = aFinalBlockRow({ week_ending_date: "09/05/2026", "Week Ending Date": "08/29/2026" })
    assert.strictEqual(read(finalBlocks, [both]).readings[0]?.observed_on, "2026-09-05")
  })

  it("keep the publication of their report", () => {
    assert.strictEqual(read(blocks, [aBlockRow()]).readings[0]?.published_at, "2026-09-30 13:04:36")
  })
})

describe("barrels", () => {
  it("are the price as sold, never the one adjusted for moisture", () => {
    assert.deepStrictEqual(readings(barrels, aBarrelRow("05/31/2025", "1.9495")), [
      "cheese_barrel_sales_price_weekly 2025-05-31 1.9495"
    ])
  })

  it("that are null give no reading and no reject", () => {
    const { readings, rejects, rows_silent } = read(barrels, [
      aBarrelRow("05/31/2025", null),
      aBarrelRow("05/24/2025", null)
    ])
    assert.deepStrictEqual({ readings, rejects, rows_silent }, { readings: [], rejects: [], rows_silent: 2 })
  })
})

describe("a cell without a number is no reading, and never 0:", () => {
  it.each([[null], [""], ["N/A"], [undefined]])("%j", (close_price) => {
    const { readings, rejects, rows_silent } = read(closes, [
      aClose(),
      aClose({ report_date: "09/28/2026", close_price })
    ])
    assert.deepStrictEqual([readings.length, rejects.length, rows_silent], [1, 0, 1])
  })
})

describe("a number", () => {
  it.each([
    ["a text with trailing zeros", "1.6140", "1.6140"],
    ["a text with thousands commas", "13,594.4730", "13594.4730"],
    ["a JSON number with trailing zeros", n("1.6140"), "1.6140"],
    ["a JSON number without padding", 2, "2"],
    ["more digits than a double holds", n("1.61400000000000000001"), "1.61400000000000000001"]
  ])("as %s keeps its digits", (_, price, expected) => {
    assert.strictEqual(read(blocks, [aBlockRow({ cheese_40_Price: price })]).readings[0]?.value_text, expected)
  })

  it.each(["1.6140*", "1,61", "0", "0.0000", "-1.6140", "1e3", "9999999999999"])(
    "printed as %s is a reject",
    (price) => {
      const { readings, rejects } = read(blocks, [aBlockRow(), aBlockRow({ cheese_40_Price: price })])
      assert.strictEqual(readings.length, 1)
      assert.deepStrictEqual(
        rejects.map(({ position, reason }) => ({ position, reason })),
        [{ position: 2, reason: `cheese_40_Price is "${price}", which is no price` }]
      )
    }
  )

  it("of a basis may be negative or zero, and has the unit of a basis", () => {
    const basis = feedNamed("gov-mars/1089")
    const row = aRange(1089, { price_min: n("-0.04"), price_max: 0, mostly_low_price: null, mostly_high_price: null })
    assert.deepStrictEqual(readings(basis, row), [
      "butter_basis_us_central_price_min_weekly 2026-09-25 -0.04",
      "butter_basis_us_central_price_max_weekly 2026-09-25 0"
    ])
  })
})

describe("a row that cannot be read", () => {
  it("for want of a date is rejected, with its number and as it stands", () => {
    const undated = aBlockRow({ "Week Ending Date": null })
    const { rejects, readings, rows_read } = read(blocks, [aBlockRow(), undated])
    assert.deepStrictEqual(rejects, [
      { position: 2, reason: "Week Ending Date is null, which is no date", payload: JSON.stringify(undated) }
    ])
    assert.deepStrictEqual([readings.length, rows_read], [1, 2])
  })

  it("keeps in its reject the digits that were printed", () => {
    const { rejects } = read(closes, [aClose(), aClose({ report_date: null, close_price: n("1.6140") })])
    assert.include(rejects[0]?.payload, '"close_price":1.6140')
  })

  it("does not fail a payload in which no row has a date", () => {
    assert.strictEqual(read(blocks, [aBlockRow({ "Week Ending Date": null })]).rejects.length, 1)
  })

  it("is one that is no object", () => {
    const { rejects } = read(closes, [aClose(), 7, null, ["a"]])
    assert.deepStrictEqual(
      rejects.map(({ position, reason }) => `${position} ${reason}`),
      [2, 3, 4].map((position) => `${position} the row is no JSON object`)
    )
  })

  it("has a stamp that is none", () => {
    const { rejects } = read(closes, [aClose(), aClose({ published_date: "soon" })])
    assert.strictEqual(rejects[0]?.reason, 'published_date is "soon", which is no date and time')
  })

  it("is rejected as a whole, also where only one of its numbers is odd", () => {
    const row = aClassRow({ report_month: "Jun", class_3_Price: "see note" })
    const { readings, rejects } = read(classes, [aClassRow(), row])
    assert.deepStrictEqual([...new Set(readings.map(({ observed_on }) => observed_on))], ["2026-07-01"])
    assert.strictEqual(rejects.length, 1)
  })
})

describe("two rows that state one metric, day and publication", () => {
  const stated = (...prices: ReadonlyArray<unknown>) => {
    const { readings, rejects } = read(
      closes,
      prices.map((close_price) => aClose({ close_price }))
    )
    return { readings: readings.length, rejects: rejects.map(({ reason }) => reason) }
  }

  it("agree where they are the same, padded or not", () => {
    assert.deepStrictEqual(stated("1.40", n("1.4"), "1.400"), { readings: 3, rejects: [] })
    assert.deepStrictEqual(stated("10", n("10.0")), { readings: 2, rejects: [] })
  })

  it("contradict each other where they differ: the later one is rejected and names the earlier", () => {
    assert.deepStrictEqual(stated("1.39", "1.39", "13.9"), {
      readings: 2,
      rejects: ["contradicts row 1: butter_exch_spot_close_daily of 2026-09-29 is 1.39 there and 13.9 here"]
    })
  })

  it("in two publications are a revision", () => {
    const rows = [aBlockRow(), aBlockRow({ cheese_40_Price: "1.6150", published_date: "10/07/2026 13:04:36" })]
    assert.deepStrictEqual(read(blocks, rows).rejects, [])
  })
})

describe("a payload that has changed fails", () => {
  const without = (row: Row, field: string) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name !== field))

  it.each([
    [
      "whose mapped column is gone",
      closes,
      [without(aClose(), "close_price")],
      /the column close_price is missing\. The payload has: report_date/
    ],
    [
      "whose date column is gone",
      blocks,
      [without(aBlockRow(), "Week Ending Date")],
      /the date field Week Ending Date is missing/
    ],
    [
      "whose column holds texts",
      closes,
      [aClose({ close_price: "see note" }), aClose({ close_price: "unchanged" })],
      /close_price of butter_exch_spot_close_daily holds no numbers any more, but values like "see note"/
    ],
    [
      "whose column holds objects",
      closes,
      [aClose({ close_price: { amount: 1.39 } })],
      /holds no numbers any more, but values like {"amount":1.39}/
    ],
    [
      "whose column holds booleans",
      closes,
      [aClose({ close_price: true })],
      /holds no numbers any more, but values like true/
    ],
    [
      "whose dates are printed otherwise",
      closes,
      [aClose({ report_date: "29 September 2026" })],
      /1 of 1 rows cannot be read, .* the first: report_date is "29 September 2026"/
    ],
    [
      "whose stamps are printed otherwise",
      closes,
      [aClose({ published_date: 1_790_000_000 })],
      /the first: published_date is "1790000000"/
    ],
    ["whose rows are no objects", closes, [1, 2], /2 of 2 rows cannot be read/]
  ])("%s", (_, feed, rows, message) => {
    assert.throws(() => read(feed, rows), message)
  })

  it("although rows of other markets are still fine", () => {
    const other = aMonthlyAverage({ region: "Oceania", commodity: "Butter" })
    assert.throws(
      () => read(months, [other, aMonthlyAverage({ report_end_date: "August 2026" })]),
      /1 of 2 rows cannot be read/
    )
  })

  it("but not for a column of none of our rows", () => {
    const other = aMonthlyAverage({ region: "Oceania", "monthly Av": "see note" })
    assert.strictEqual(read(months, [other, aMonthlyAverage()]).readings.length, 1)
  })
})

describe("a daily close", () => {
  it("is told apart by commodity and package, whatever else the row says", () => {
    const cheese = (row: Row) => aClose({ commodity: "Cheese", grade: null, ...row })
    assert.deepStrictEqual(
      readings(
        closes,
        cheese({ package: "40 pound Block", close_price: 1.5 }),
        cheese({ package: "Barrels", close_price: 1.45 })
      ),
      ["cheese_block_exch_spot_close_daily 2026-09-29 1.5", "cheese_barrel_exch_spot_close_daily 2026-09-29 1.45"]
    )
  })

  it("needs no package where there is no cheese", () => {
    const { package: _, ...butter } = aClose()
    assert.deepStrictEqual(readings(closes, butter), ["butter_exch_spot_close_daily 2026-09-29 1.39"])
  })

  it("of cheese without a package cannot be told apart, and fails", () => {
    const { package: _, ...cheese } = aClose({ commodity: "Cheese" })
    assert.throws(
      () => readings(closes, cheese),
      /the field package, which tells the rows of cheese_block_.* apart, is missing/
    )
  })

  it("has a slug_id that may be a number or a text", () => {
    assert.deepStrictEqual(readings(closes, aClose({ slug_id: 1603 })), readings(closes, aClose({ slug_id: "1603" })))
  })

  it("may be dated after the day that it was published on", () => {
    const row = aClose({ report_date: "10/02/2026", published_date: "10/01/2026 10:57:04" })
    assert.deepStrictEqual(readings(closes, row), ["butter_exch_spot_close_daily 2026-10-02 1.39"])
  })

  it("without any stamp is dated by its own day", () => {
    const { published_date: _, ...row } = aClose()
    assert.strictEqual(read(closes, [row]).readings[0]?.published_at, "2026-09-29 00:00:00")
  })

  it("that is missing for a product is told, and removes nothing", () => {
    const { absent } = read(closes, [aClose()])
    assert.deepStrictEqual(absent, [
      "cheese_block_exch_spot_close_daily",
      "cheese_barrel_exch_spot_close_daily",
      "nonfat_dry_milk_exch_spot_close_daily",
      "dry_whey_exch_spot_close_daily"
    ])
  })
})

describe("an average whose column nobody documents", () => {
  it("is read from the column that fits, which becomes the measure", () => {
    const { measures, readings } = read(weeks, [aWeeklyAverage()])
    assert.strictEqual(measures.get("butter_exch_spot_average_weekly"), "weekly Av")
    assert.strictEqual(readings[0]?.observed_on, "2026-09-25")
    const { "weekly Av": price, ...row } = aWeeklyAverage()
    assert.strictEqual(
      read(weeks, [{ ...row, weekly_average: price }]).measures.get("butter_exch_spot_average_weekly"),
      "weekly_average"
    )
  })

  it("of a product without numbers is silent where the others tell the column", () => {
    const barrel = aMonthlyAverage({ commodity: "Cheese", package: "Barrels", "monthly Av": null })
    const { measures, readings, rows_silent } = read(months, [barrel, aMonthlyAverage()])
    assert.deepStrictEqual([readings.length, rows_silent], [1, 1])
    assert.strictEqual(measures.get("cheese_barrel_exch_spot_average_monthly"), "monthly Av")
  })
})

describe("a year-to-date report", () => {
  it("gives a month the year of its end, never of its date, its begin or its publication", () => {
    const row = aMonthlyAverage({
      report_month: "December",
      report_end_date: "12/31/2025",
      report_date: "01/01/2025",
      published_date: "01/12/2026 10:22:13"
    })
    assert.deepStrictEqual(readings(months, row), ["butter_exch_spot_average_monthly 2025-12-01 1.4719"])
  })

  it("repeats a month in many reports, as versions of one point", () => {
    const ends = ["04/30/2026", "05/31/2026", "08/31/2026"]
    const rows = ends.map((end) =>
      aMonthlyAverage({ report_month: "April", report_end_date: end, "monthly Av": 1.7224 })
    )
    assert.deepStrictEqual(
      new Set(readings(months, ...rows)),
      new Set(["butter_exch_spot_average_monthly 2026-04-01 1.7224"])
    )
  })

  it("without exchange rows gives nothing and is no failure", () => {
    const { absent, readings } = read(months, [aMonthlyAverage({ region: "Oceania" })])
    assert.deepStrictEqual([readings.length, absent.length], [0, 5])
  })

  it("takes no other market for the exchange", () => {
    assert.deepStrictEqual(readings(months, aMonthlyAverage({ region: "West Europe" }), aMonthlyAverage()).length, 1)
  })
})

describe("milk prices", () => {
  it("of July are July's, although the last survey week ends in August", () => {
    assert.deepStrictEqual(readings(classes, aClassRow()), [
      "milk_class_ii_price_monthly 2026-07-01 17.60",
      "milk_class_iii_price_monthly 2026-07-01 15.97",
      "milk_class_iv_price_monthly 2026-07-01 18.34"
    ])
  })

  it("that are null in the first month stay out", () => {
    const row = aClassRow({
      report_month: "Mar",
      report_year: "2012",
      class_2_Price: null,
      class_3_Price: null,
      class_4_Price: null
    })
    assert.strictEqual(read(classes, [row]).rows_silent, 1)
  })

  it("of class I are those of the month priced, not of the announcement", () => {
    const [reading] = read(advanced, [anAdvancedRow()]).readings
    assert.strictEqual(reading?.observed_on, "2026-07-01")
    assert.strictEqual(reading?.published_at, "2026-06-17 13:04:11")
  })

  it.each(["class_1_Price", "class_1_base_Price", "base_class_1_Price", "class_I_Price", "class_I_base_Price"])(
    "of class I may stand in %s",
    (column) => {
      const { class_1_Price: price, ...row } = anAdvancedRow()
      assert.strictEqual(
        read(advanced, [{ ...row, [column]: price }]).measures.get("milk_class_i_price_monthly"),
        column
      )
    }
  )

  it("of class I in a column of another name fail, naming the columns that were found", () => {
    const { class_1_Price: _, ...row } = anAdvancedRow({ advanced_price: "21.33" })
    assert.throws(
      () => read(advanced, [row]),
      /the column class_1_Price or .* is missing\. The payload has: .*advanced_price/
    )
  })
})

describe("regional reports", () => {
  it("keep food and feed whey apart", () => {
    const whey = feedNamed("gov-mars/1045")
    const food = aRange(1045, { quality: "Edible", grade: "Extra & Grade A", price_min: 0.59 })
    const feed = aRange(1045, { quality: "Non-Edible", lot_Desc: "Animal Feed - Milk Replacer", price_min: 0.35 })
    const lowest = readings(whey, food, feed).filter((reading) => reading.includes("price_min"))
    assert.deepStrictEqual(lowest, [
      "dry_whey_us_central_price_min_weekly 2026-09-25 0.59",
      "dry_whey_feed_us_central_price_min_weekly 2026-09-25 0.35"
    ])
  })

  it("have no gap where the grade drifts between words and nothing", () => {
    const concentrate = feedNamed("gov-mars/1053")
    const rows = ["Extra Grade", "", "N/A", null].map((grade, week) =>
      aRange(1053, { grade, report_end_date: `09/0${week + 1}/2026` })
    )
    assert.strictEqual(readings(concentrate, ...rows).length, 16)
  })

  it("without a mostly range have no point for it, and no copy of the range", () => {
    const lactose = feedNamed("gov-mars/1052")
    const { mostly_low_price: _low, mostly_high_price: _high, ...row } = aRange(1052, { grade: "N/A" })
    const expected = [
      "lactose_us_central_and_west_price_min_weekly 2026-09-25 0.59",
      "lactose_us_central_and_west_price_max_weekly 2026-09-25 0.74"
    ]
    assert.deepStrictEqual(readings(lactose, row), expected)
    assert.deepStrictEqual(readings(lactose, { ...row, mostly_low_price: "N/A", mostly_high_price: null }), expected)
  })

  it("tell butter from butteroil by the whole word", () => {
    const europe = feedNamed("gov-mars/1098")
    const rows = [aRange(1098, { commodity: "Butter" }), aRange(1098, { commodity: "Butteroil" })]
    assert.strictEqual(readings(europe, ...rows).filter((reading) => reading.startsWith("butter_82")).length, 4)
  })

  it("are dated by the end of their period, whenever it began", () => {
    const row = aRange(1041, { report_begin_date: "09/14/2026", report_date: "09/14/2026" })
    assert.include(readings(feedNamed("gov-mars/1041"), row)[0], " 2026-09-25 ")
  })
})

describe("a window of days", () => {
  const august = { from: "2026-08-01", to: "2026-08-31" }
  const rows = [aBlockRow(), aBlockRow({ "Week Ending Date": "09/05/2026" })]

  it("keeps the readings of these days and leaves out the others", () => {
    const { readings, rejects, rows_silent } = read(blocks, rows, { days: august })
    assert.deepStrictEqual(
      [readings.map(({ observed_on }) => observed_on), rejects.length, rows_silent],
      [["2026-08-29"], 0, 1]
    )
  })

  it("that the service was asked for and left fails: it ignored the filter", () => {
    assert.throws(
      () => read(blocks, rows, { asked: august }),
      /week_ending_date was asked from 2026-08-01 to 2026-08-31, and a row of 2026-09-26 came: the filter was ignored/
    )
    assert.strictEqual(read(blocks, rows, { asked: { from: "2026-09-20", to: "2026-09-30" } }).readings.length, 2)
  })
})

describe("an unknown field", () => {
  it("is told with an example, and is no failure", () => {
    const { readings, unknown_fields } = read(closes, [aClose({ last_trade: null }), aClose({ last_trade: "09:59" })])
    assert.deepStrictEqual(unknown_fields, [{ field: "last_trade", example: '"09:59"' }])
    assert.strictEqual(readings.length, 2)
  })
})

describe("every row", () => {
  it("ends in exactly one place: read = stated + silent + rejected", () => {
    const cell = fc.constantFrom<unknown>("1.6140", null, "", "N/A", "see note", 0, "2")
    const day = fc.constantFrom<unknown>("08/29/2026", "09/05/2026", null, "someday")
    const row = fc.oneof(
      {
        weight: 9,
        arbitrary: fc
          .record({ cell, day })
          .map(({ cell, day }) => aBlockRow({ cheese_40_Price: cell, "Week Ending Date": day }))
      },
      { weight: 1, arbitrary: fc.constant(7) }
    )
    fc.assert(
      fc.property(fc.array(row, { maxLength: 12 }), (rows) => {
        const { readings, rejects, rows_read, rows_silent } = read(blocks, [aBlockRow(), ...rows])
        const stated = new Set(readings.map(({ source_row }) => source_row)).size
        assert.strictEqual(rows_read, rows.length + 1)
        assert.strictEqual(stated + rows_silent + rejects.length, rows_read)
      })
    )
  })

  it("of the smallest payload of every feed is read", () => {
    const bodies = everyFeed()
    for (const feed of feeds) {
      const answered = { url: "", text: bodies[feed.feed] ?? "", content_type: null, recorded: false }
      const { absent, readings, rejects, rows_silent, unknown_fields } = normalise(feed, rowsOf(feed, answered).rows)
      assert.isNotEmpty(readings, feed.feed)
      assert.deepStrictEqual(
        { absent, rejects, rows_silent, unknown_fields },
        { absent: [], rejects: [], rows_silent: 0, unknown_fields: [] }
      )
    }
  })
})
