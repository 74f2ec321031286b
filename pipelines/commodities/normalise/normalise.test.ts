import { assert, describe, it } from "@effect/vitest"
import {
  aBlockRow,
  aClassRow,
  aClose,
  aRange,
  blocks,
  feedNamed,
  formatReadings,
  n,
  type Row,
  readRows
} from "@larder/test/support/pipelines/commodity-payloads.ts"

const [closes, classes] = [feedNamed("gov-mars/1603"), feedNamed("gov-mpr/2991/Detail")]

describe("a cell without a number", () => {
  it.each([[null], [""], ["N/A"], [undefined]])("has no reading, and never 0, for %j", (close_price) => {
    const { readings, rejects, rows_skipped } = readRows(closes, [
      aClose(),
      aClose({ report_date: "09/28/2026", close_price })
    ])
    assert.deepStrictEqual([readings.length, rejects.length, rows_skipped], [1, 0, 1])
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
      [`"${long(29)}"`, `"${long(57)}…`].map((quote) => `cheese_40_Price is ${quote}, which is not a price`)
    )
  })

  it.each(["1.6140*", "1,61", "0", "0.0000", "-1.6140", "1e3", "9999999999999"])(
    "rejects the row of a price printed as %s",
    (price) => {
      const { readings, rejects } = readRows(blocks, [aBlockRow(), aBlockRow({ cheese_40_Price: price })])
      assert.strictEqual(readings.length, 1)
      assert.deepStrictEqual(
        rejects.map(({ position, reason }) => ({ position, reason })),
        [{ position: 2, reason: `cheese_40_Price is "${price}", which is not a price` }]
      )
    }
  )

  it("may be negative or zero for a basis", () => {
    const basis = feedNamed("gov-mars/1089")
    const row = aRange(1089, { price_min: n("-0.04"), price_max: 0, mostly_low_price: null, mostly_high_price: null })
    assert.deepStrictEqual(formatReadings(basis, row), [
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
      {
        position: 2,
        reason: "Week Ending Date is null, which is not a date",
        payload: JSON.stringify(undated),
        is_newest: true
      }
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
      [2, 3, 4].map((position) => `${position} the row is not a JSON object`)
    )
  })

  it("is rejected when its timestamp is not a date and time", () => {
    const { rejects } = readRows(closes, [aClose(), aClose({ published_date: "soon" })])
    assert.strictEqual(rejects[0]?.reason, 'published_date is "soon", which is not a date and time')
  })

  it.each([
    ["a price in a list", "close_price", [1.39], "close_price is [1.39], which is not a price"],
    ["an empty list for a price", "close_price", [], "close_price is [], which is not a price"],
    ["a price that is true", "close_price", true, "close_price is true, which is not a price"],
    ["a day in a list", "report_date", ["09/28/2026"], 'report_date is ["09/28/2026"], which is not a date'],
    ["a day as a number", "report_date", 20260928, "report_date is 20260928, which is not a date"],
    ["a timestamp in a list", "published_date", [], 'published_date is "[]", which is not a date and time'],
    [
      "a product that is not a string",
      "commodity",
      { name: "Butter" },
      'commodity is {"name":"Butter"}, a value of another type'
    ],
    ["the number of a report in a list", "slug_id", [1603], "slug_id is [1603], a value of another type"]
  ])("is rejected, and never read like an empty cell, for %s", (_, field, value, reason) => {
    const { readings, rejects } = readRows(closes, [aClose(), aClose({ report_date: "09/28/2026", [field]: value })])
    assert.deepStrictEqual([readings.length, rejects.map((reject) => reject.reason)], [1, [reason]])
  })

  it("is rejected when its price is in another unit, and a payload of such rows fails", () => {
    const [pounds, tons] = ["Dollars per Pound", "Dollars per Metric Ton"]
    const row = aClose({ price_unit: tons, report_date: "09/28/2026" })
    const { rejects } = readRows(closes, [aClose({ price_unit: pounds }), row])
    assert.strictEqual(rejects[0]?.reason, 'its unit is "Dollars per Metric Ton", but usd_per_lb was expected')
    assert.throws(() => readRows(closes, [row]), /1 of 1 rows cannot be read/)
  })

  it("is rejected when its day is more than 31 days after its publication", () => {
    const rowOn = (report_date: string) => aClose({ report_date, published_date: "09/29/2026 10:57:04" })
    const { readings, rejects } = readRows(closes, [rowOn("10/30/2026"), rowOn("10/31/2026"), rowOn("11/30/2027")])
    assert.deepStrictEqual(
      readings.map(({ observed_on }) => observed_on),
      ["2026-10-30"]
    )
    assert.deepStrictEqual(
      rejects.map(({ reason }) => reason),
      ["2026-10-31", "2027-11-30"].map(
        (day) => `its day is ${day}, more than 31 days after it was published on 2026-09-29`
      )
    )
  })

  it("is rejected as a whole even if only one of its numbers is invalid", () => {
    const row = aClassRow({ report_month: "Jun", class_3_Price: "see note" })
    const { readings, rejects } = readRows(classes, [aClassRow(), row])
    assert.deepStrictEqual([...new Set(readings.map(({ observed_on }) => observed_on))], ["2026-07-01"])
    assert.strictEqual(rejects.length, 1)
  })
})

describe("the unit that a row states", () => {
  const rows: ReadonlyArray<readonly [unit: string, feed: typeof closes, row: Row]> = [
    ["usd_per_lb", closes, aClose()],
    ["usd_per_cwt", classes, aClassRow()],
    ["usd_per_metric_ton", feedNamed("gov-mars/1098"), aRange(1098, { commodity: "Butter" })],
    ["usd_per_lb_basis", feedNamed("gov-mars/1089"), aRange(1089)]
  ]
  const units = rows.map(([unit]) => unit)
  const findAcceptingUnits = (price_unit: string | null) =>
    rows.flatMap(([unit, feed, row]) =>
      readRows(feed, [row, { ...row, price_unit }]).rejects.length === 0 ? [unit] : []
    )

  it.each([
    ["Dollars per Pound", ["usd_per_lb"]],
    ["$/lb", ["usd_per_lb"]],
    ["Dollars per Metric Ton", ["usd_per_metric_ton"]],
    ["USD/tonne", ["usd_per_metric_ton"]],
    ["Dollars per Hundredweight", ["usd_per_cwt"]],
    ["Dollars per 100 Pounds", ["usd_per_cwt"]],
    ["Basis Pricing", ["usd_per_lb_basis"]],
    ["Cents per Pound", []],
    ["per carton", []],
    ["Euros per Metric Ton", []],
    ["Dollars per Kilogram", []],
    ["12", []],
    ["N/A", units],
    [null, units]
  ])("%s fits metrics in %j", (price_unit, expected) => {
    assert.deepStrictEqual(findAcceptingUnits(price_unit), expected)
  })
})

describe("a window of days", () => {
  const august = { from: "2026-08-01", to: "2026-08-31" }
  const rows = [aBlockRow(), aBlockRow({ "Week Ending Date": "09/05/2026" })]

  it("returns readings of its days and leaves out the others", () => {
    const { readings, rejects, rows_skipped } = readRows(blocks, rows, { runDays: august })
    assert.deepStrictEqual(
      [readings.map(({ observed_on }) => observed_on), rejects.length, rows_skipped],
      [["2026-08-29"], 0, 1]
    )
  })

  it("fails when the service ignored it and sent a row of another day", () => {
    assert.throws(
      () => readRows(blocks, rows, { requestedWindow: august }),
      /week_ending_date was requested from 2026-08-01 to 2026-08-31, and a row for 2026-09-26 was returned: the service ignored the filter/
    )
    assert.strictEqual(
      readRows(blocks, rows, { requestedWindow: { from: "2026-09-20", to: "2026-09-30" } }).readings.length,
      2
    )
  })
})

describe("an unknown field", () => {
  it("is reported with an example, and does not fail the payload", () => {
    const { readings, unknown_fields } = readRows(closes, [
      aClose({ last_trade: null }),
      aClose({ last_trade: "09:59" })
    ])
    assert.deepStrictEqual(unknown_fields, [{ field: "last_trade", example: '"09:59"' }])
    assert.strictEqual(readings.length, 2)
  })
})
