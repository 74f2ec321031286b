import { assert, describe, it } from "@effect/vitest"
import {
  aBlockRow,
  aClassRow,
  aClose,
  aMonthlyAverage,
  anAdvancedRow,
  aRange,
  blocks,
  feedNamed,
  n,
  type Row,
  readings,
  readRows
} from "@larder/test/support/pipelines/commodity-payloads.ts"

const [closes, months, classes] = [
  feedNamed("gov-mars/1603"),
  feedNamed("gov-mars/1623"),
  feedNamed("gov-mpr/2991/Detail")
]

describe("a cell without a number", () => {
  it.each([[null], [""], ["N/A"], [undefined]])("gives no reading, and never 0, for %j", (close_price) => {
    const { readings, rejects, rows_silent } = readRows(closes, [
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
    ["a JSON number with more digits than a double holds", n("1.61400000000000000001"), "1.61400000000000000001"]
  ])("keeps its digits as %s", (_, price, expected) => {
    assert.strictEqual(readRows(blocks, [aBlockRow({ cheese_40_Price: price })]).readings[0]?.value_text, expected)
  })

  it("rejects the row of a price with more than 30 characters, and quotes only its beginning", () => {
    const long = (digits: number) => `1.${"6".repeat(digits)}`
    const { readings, rejects } = readRows(
      blocks,
      [28, 29, 5000].map((digits) =>
        aBlockRow({ cheese_40_Price: long(digits), published_date: `10/07/2026 13:04:${digits % 60}` })
      )
    )
    assert.deepStrictEqual(
      readings.map(({ value_text }) => value_text),
      [long(28)]
    )
    assert.deepStrictEqual(
      rejects.map(({ reason }) => reason),
      [`"${long(29)}"`, `"${long(57)}…`].map((quote) => `cheese_40_Price is ${quote}, which is no price`)
    )
  })

  it.each(["1.6140*", "1,61", "0", "0.0000", "-1.6140", "1e3", "9999999999999"])(
    "rejects the row of a price printed as %s",
    (price) => {
      const { readings, rejects } = readRows(blocks, [aBlockRow(), aBlockRow({ cheese_40_Price: price })])
      assert.strictEqual(readings.length, 1)
      assert.deepStrictEqual(
        rejects.map(({ position, reason }) => ({ position, reason })),
        [{ position: 2, reason: `cheese_40_Price is "${price}", which is no price` }]
      )
    }
  )

  it("may be negative or zero for a basis", () => {
    const basis = feedNamed("gov-mars/1089")
    const row = aRange(1089, { price_min: n("-0.04"), price_max: 0, mostly_low_price: null, mostly_high_price: null })
    assert.deepStrictEqual(readings(basis, row), [
      "butter_basis_us_central_price_min_weekly 2026-09-25 -0.04",
      "butter_basis_us_central_price_max_weekly 2026-09-25 0"
    ])
  })
})

describe("a row that cannot be read", () => {
  it("is rejected without a date, with its position and its text", () => {
    const undated = aBlockRow({ "Week Ending Date": null })
    const { rejects, readings, rows_read } = readRows(blocks, [aBlockRow(), undated])
    assert.deepStrictEqual(rejects, [
      { position: 2, reason: "Week Ending Date is null, which is no date", payload: JSON.stringify(undated) }
    ])
    assert.deepStrictEqual([readings.length, rows_read], [1, 2])
  })

  it("keeps the printed digits in its reject", () => {
    const { rejects } = readRows(closes, [aClose(), aClose({ report_date: null, close_price: n("1.6140") })])
    assert.include(rejects[0]?.payload, '"close_price":1.6140')
  })

  it("does not fail a payload in which no row has a date", () => {
    assert.strictEqual(readRows(blocks, [aBlockRow({ "Week Ending Date": null })]).rejects.length, 1)
  })

  it("is rejected when it is not a JSON object", () => {
    const { rejects } = readRows(closes, [aClose(), 7, null, ["a"]])
    assert.deepStrictEqual(
      rejects.map(({ position, reason }) => `${position} ${reason}`),
      [2, 3, 4].map((position) => `${position} the row is no JSON object`)
    )
  })

  it("is rejected when its publication stamp is not a date and time", () => {
    const { rejects } = readRows(closes, [aClose(), aClose({ published_date: "soon" })])
    assert.strictEqual(rejects[0]?.reason, 'published_date is "soon", which is no date and time')
  })

  it.each([
    ["a price in a list", "close_price", [1.39], "close_price is [1.39], which is no price"],
    ["an empty list for a price", "close_price", [], "close_price is [], which is no price"],
    ["a price that is true", "close_price", true, "close_price is true, which is no price"],
    ["a day in a list", "report_date", ["09/28/2026"], 'report_date is ["09/28/2026"], which is no date'],
    ["a day as a number", "report_date", 20260928, "report_date is 20260928, which is no date"],
    ["a stamp in a list", "published_date", [], 'published_date is "[]", which is no date and time'],
    [
      "a product that is no text",
      "commodity",
      { name: "Butter" },
      'commodity is {"name":"Butter"}, a value of another type'
    ],
    ["the number of a report in a list", "slug_id", [1603], "slug_id is [1603], a value of another type"]
  ])("is rejected, and never read as if it stated nothing, for %s", (_, field, value, reason) => {
    const { readings, rejects } = readRows(closes, [aClose(), aClose({ report_date: "09/28/2026", [field]: value })])
    assert.deepStrictEqual([readings.length, rejects.map((reject) => reject.reason)], [1, [reason]])
  })

  it("is rejected when its price is in another unit, and a payload of such rows fails", () => {
    const [pounds, tons] = ["Dollars per Pound", "Dollars per Metric Ton"]
    const row = aClose({ price_unit: tons, report_date: "09/28/2026" })
    const { rejects } = readRows(closes, [aClose({ price_unit: pounds }), row])
    assert.strictEqual(rejects[0]?.reason, 'its unit is "Dollars per Metric Ton", where usd_per_lb was expected')
    assert.throws(() => readRows(closes, [row]), /1 of 1 rows cannot be read/)
  })

  it("is rejected when its day lies more than 31 days after its publication", () => {
    const ahead = (report_date: string) => aClose({ report_date, published_date: "09/29/2026 10:57:04" })
    const { readings, rejects } = readRows(closes, [ahead("10/30/2026"), ahead("10/31/2026"), ahead("11/30/2027")])
    assert.deepStrictEqual(
      readings.map(({ observed_on }) => observed_on),
      ["2026-10-30"]
    )
    assert.deepStrictEqual(
      rejects.map(({ reason }) => reason),
      ["2026-10-31", "2027-11-30"].map(
        (day) => `it is of ${day}, more than 31 days after it was published on 2026-09-29`
      )
    )
  })

  it("is rejected as a whole when only one of its numbers is odd", () => {
    const row = aClassRow({ report_month: "Jun", class_3_Price: "see note" })
    const { readings, rejects } = readRows(classes, [aClassRow(), row])
    assert.deepStrictEqual([...new Set(readings.map(({ observed_on }) => observed_on))], ["2026-07-01"])
    assert.strictEqual(rejects.length, 1)
  })
})

describe("two rows of one metric, day and publication", () => {
  const stated = (...prices: ReadonlyArray<unknown>) => {
    const { readings, rejects } = readRows(
      closes,
      prices.map((close_price) => aClose({ close_price }))
    )
    return { readings: readings.length, rejects: rejects.map(({ reason }) => reason) }
  }

  it("agree when their values are equal, padded or not", () => {
    assert.deepStrictEqual(stated("1.40", n("1.4"), "1.400"), { readings: 3, rejects: [] })
    assert.deepStrictEqual(stated("10", n("10.0")), { readings: 2, rejects: [] })
  })

  it("make the payload untrusted when they differ, because nothing tells which of them is meant", () => {
    assert.throws(
      () => stated("1.39", "1.39", "13.9"),
      /row 3 contradicts row 1: butter_exch_spot_close_daily of 2026-09-29 is 1\.39 there and 13\.9 here/
    )
  })

  it("are a revision when their publications differ", () => {
    const rows = [aBlockRow(), aBlockRow({ cheese_40_Price: "1.6150", published_date: "10/07/2026 13:04:36" })]
    assert.deepStrictEqual(readRows(blocks, rows).rejects, [])
  })
})

describe("reading a payload that has changed", () => {
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
      "whose dates are printed differently",
      closes,
      [aClose({ report_date: "29 September 2026" })],
      /1 of 1 rows cannot be read, .* the first: report_date is "29 September 2026"/
    ],
    [
      "whose stamps are printed differently",
      closes,
      [aClose({ published_date: 1_790_000_000 })],
      /the column published_date holds only values of another type, such as 1790000000/
    ],
    ["whose rows are not objects", closes, [1, 2], /2 of 2 rows cannot be read/]
  ])("fails for a payload %s", (_, feed, rows, message) => {
    assert.throws(() => readRows(feed, rows), message)
  })

  it.each([
    ["a selector", "commodity", { name: "Butter" }],
    ["the region", "region", 4],
    ["the number of the report", "slug_id", [1603]]
  ])("fails when all that a column states is of another type: %s", (_, field, value) => {
    const rows = [aClose({ [field]: value }), aClose({ [field]: null, report_date: "09/28/2026" })]
    const feed = field === "region" ? feedNamed("gov-mars/1046") : closes
    const read = field === "region" ? [aRange(1046, { region: value })] : rows
    assert.throws(() => readRows(feed, read), new RegExp(`the column ${field} holds only values of another type`))
  })

  it("fails when an optional column is gone that has had values, and not before it had any", () => {
    const feed = feedNamed("gov-mars/1046")
    const { mostly_low_price: _, ...row } = aRange(1046)
    assert.strictEqual(readRows(feed, [row]).rejects.length, 0)
    const valued = new Map([["dry_whey_us_west_mostly_low_weekly", new Set(["2026-09-18"])]])
    assert.throws(() => readRows(feed, [row], { valued }), /the column mostly_low_price is missing/)
  })

  it("fails when a column is empty on more than five days that had values, and not on fewer or other days", () => {
    const metric = "butter_exch_spot_close_daily"
    const days = ["14", "15", "16", "17", "18", "21", "22"].map((day) => `2026-09-${day}`)
    const rows = days.map((day) => aClose({ report_date: day, published_date: `${day} 10:57:04`, close_price: null }))
    const valued = (from: number) => new Map([[metric, new Set(["2026-01-02", ...days.slice(from)])]])
    assert.throws(
      () => readRows(closes, rows, { valued: valued(1) }),
      /the column close_price of butter_exch_spot_close_daily is empty in all 7 rows, 6 days among them that had a value/
    )
    assert.strictEqual(readRows(closes, rows, { valued: valued(2) }).rows_silent, 7)
    assert.strictEqual(readRows(closes, [...rows, aClose()], { valued: valued(0) }).readings.length, 1)
  })

  it("fails when most Class I prices were announced after their months began", () => {
    const advanced = feedNamed("gov-mpr/2989/Detail")
    const announced = (report_month: string, published_date: string | null) =>
      anAdvancedRow({ report_month, published_date, week_ending_date: `${report_month}/13/2026` })
    const onTime = [announced("06", "05/20/2026 13:04:11"), announced("07", "06/17/2026 13:04:11")]
    const late = [announced("08", "08/19/2026 13:04:11"), announced("09", "09/16/2026 13:04:11")]
    const others = [announced("10", null), announced("11", null), announced("12", null)]
    const republished = ["03", "04"].map((month) => announced(month, "12/30/2026 09:00:00"))
    const ours = [...onTime, ...others, ...republished]
    assert.throws(
      () => readRows(advanced, [...late, announced("10", "10/21/2026 13:04:11"), ...ours]),
      /report_month no longer means the month that is priced: 3 of 5 months were announced after they began, such as 2026-08 on 2026-08-19/
    )
    assert.strictEqual(readRows(advanced, [...late, ...ours]).rejects.length, 0)
    assert.strictEqual(readRows(advanced, late.slice(0, 1)).rejects.length, 0, "one alone proves nothing")
  })

  it("fails when no row is of a metric any more that has had values, and not before it had any", () => {
    const rows = [aClose({ commodity: "Butter (AA)" })]
    assert.strictEqual(readRows(closes, rows).rows_silent, 1)
    const valued = new Map([["butter_exch_spot_close_daily", new Set(["2026-09-28"])]])
    assert.throws(
      () => readRows(closes, rows, { valued }),
      /none of its 1 rows has what tells .* such as commodity Butter/
    )
    const days = { from: "2026-09-01", to: "2026-09-30" }
    assert.strictEqual(readRows(closes, rows, { valued, days }).rows_silent, 1, "a backfill may find none")
  })

  it("fails although rows of other markets can be read", () => {
    const other = aMonthlyAverage({ region: "Oceania", commodity: "Butter" })
    assert.throws(
      () => readRows(months, [other, aMonthlyAverage({ report_end_date: "August 2026" })]),
      /1 of 2 rows cannot be read/
    )
  })

  it("does not fail because of texts in rows of other markets", () => {
    const other = aMonthlyAverage({ region: "Oceania", "monthly Av": "see note" })
    assert.strictEqual(readRows(months, [other, aMonthlyAverage()]).readings.length, 1)
  })
})

describe("a window of days", () => {
  const august = { from: "2026-08-01", to: "2026-08-31" }
  const rows = [aBlockRow(), aBlockRow({ "Week Ending Date": "09/05/2026" })]

  it("keeps the readings of its days and leaves out the others", () => {
    const { readings, rejects, rows_silent } = readRows(blocks, rows, { days: august })
    assert.deepStrictEqual(
      [readings.map(({ observed_on }) => observed_on), rejects.length, rows_silent],
      [["2026-08-29"], 0, 1]
    )
  })

  it("fails when the service ignored it and sent a row of another day", () => {
    assert.throws(
      () => readRows(blocks, rows, { asked: august }),
      /week_ending_date was asked from 2026-08-01 to 2026-08-31, and a row of 2026-09-26 came: the filter was ignored/
    )
    assert.strictEqual(readRows(blocks, rows, { asked: { from: "2026-09-20", to: "2026-09-30" } }).readings.length, 2)
  })
})

describe("an unknown field", () => {
  it("is reported with an example, and is not a failure", () => {
    const { readings, unknown_fields } = readRows(closes, [
      aClose({ last_trade: null }),
      aClose({ last_trade: "09:59" })
    ])
    assert.deepStrictEqual(unknown_fields, [{ field: "last_trade", example: '"09:59"' }])
    assert.strictEqual(readings.length, 2)
  })
})
