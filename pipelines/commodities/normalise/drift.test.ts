import { assert, describe, it } from "@effect/vitest"
import {
  aBlockRow,
  aClose,
  aMonthlyAverage,
  aRange,
  blocks,
  everyFeed,
  feedNamed,
  n,
  type Row,
  readBody,
  readRows
} from "@larder/test/support/pipelines/commodity-payloads.ts"
import { catalog } from "../catalog.ts"

const { feeds } = catalog()

const [closes, months] = [feedNamed("gov-mars/1603"), feedNamed("gov-mars/1623")]
const [west, east] = [feedNamed("gov-mars/1046"), feedNamed("gov-mars/1047")]

describe("the report that a payload states", () => {
  it("is rejected if it is another report with the same columns", () => {
    assert.throws(
      () => readRows(east, [aRange(1046)]),
      /is not the requested report: row 1 states slug_id 1046, but 1047 was requested/
    )
    assert.strictEqual(readRows(west, [aRange(1046)]).readings.length, 4)
  })

  it("is rejected for every other feed of the catalog", () => {
    const bodies = everyFeed()
    const report = (feed: string) => feed.split("/").slice(0, 2).join("/")
    for (const requested of feeds) {
      for (const received of feeds) {
        if (report(requested.feed) === report(received.feed)) continue
        assert.throws(
          () => readBody(requested, bodies[received.feed] ?? ""),
          /is not the requested report|lacks the section|several sections/
        )
      }
    }
  })

  it.each<[string, Row, RegExp]>([
    [
      "the name of the report",
      { slug_name: "AMS_1046" },
      /slug_name "AMS_1046", but AMS_1047 or MD_DA8\* was requested/
    ],
    [
      "its title",
      { report_title: "Dry Whey - West U.S." },
      /report_title "Dry Whey - West U\.S\.", but Dry Whey - East U\.S\. or Dry Whey - Northeastern U\.S\. was/
    ],
    ["the region", { region: "West" }, /region "West", but East or Eastern or Northeast or Northeastern was requested/],
    ["the commodity", { commodity: "Butter" }, /commodity "Butter", but Dry Whey was requested/]
  ])("is rejected if one row of the newest publication differs only in %s", (_, row, message) => {
    assert.throws(() => readRows(east, [aRange(1047), aRange(1047, row)]), message)
  })

  it.each<[string, Row, RegExp]>([
    ["the name of the report", { slug_name: "AMS_1046" }, /it states slug_name "AMS_1046"/],
    ["its title", { report_title: "Dry Whey - West U.S." }, /it states report_title "Dry Whey - West U\.S\."/],
    ["the region", { region: "West" }, /it states region "West", which the catalog does not know for this report/],
    ["the commodity", { commodity: "Butter" }, /it states commodity "Butter"/]
  ])("is rejected in one older row alone if it differs in %s", (_, row, message) => {
    const older = { report_begin_date: "09/14/2026", published_date: "09/17/2026 12:20:53", ...row }
    const { readings, rejects } = readRows(east, [aRange(1047), aRange(1047, older)])
    assert.strictEqual(readings.length, 4)
    assert.deepStrictEqual(
      rejects.map(({ is_newest, position }) => ({ is_newest, position })),
      [{ position: 2, is_newest: false }]
    )
    assert.match(rejects[0]?.reason ?? "", message)
  })

  it("is another report if all rows are strangers, or one row has another number, however old they are", () => {
    const older = { published_date: "09/17/2026 12:20:53" }
    const known = { newestPublication: "2026-09-24 12:20:53" }
    assert.throws(
      () => readRows(east, [aRange(1047, { ...older, region: "West" })], known),
      /all rows are of another one/
    )
    assert.throws(() => readRows(east, [aRange(1047), aRange(1047, { ...older, slug_id: 1046 })]), /slug_id 1046/)
    const mixed = [aRange(1047, older), aRange(1047, { ...older, report_begin_date: "09/07/2026", region: "West" })]
    assert.strictEqual(readRows(east, mixed, known).rejects.length, 1, "the newest publication is not among these rows")
    assert.throws(() => readRows(east, mixed), /row 2 states region "West"/)
  })

  it("is rejected with what each row states if a window has only older strangers", () => {
    const stranger = aRange(1047, { published_date: "09/17/2026 12:20:53", region: "West" })
    const options = { newestPublication: "2026-09-24 12:20:53", isPartOfHistory: true }
    assert.deepStrictEqual(
      readRows(east, [stranger], options).rejects.map(({ reason }) => reason),
      ['it states region "West", which the catalog does not know for this report']
    )
  })

  it("is judged by another day of the row if its time of publication cannot be read", () => {
    const undated = { published_date: "unknown", region: "West" }
    const old = {
      ...undated,
      report_date: "01/07/1991",
      report_begin_date: "01/07/1991",
      report_end_date: "01/11/1991"
    }
    assert.strictEqual(readRows(east, [aRange(1047), aRange(1047, old)]).rejects.length, 1)
    assert.throws(() => readRows(east, [aRange(1047), aRange(1047, undated)]), /row 2 states region "West"/)
    const pending = { published_date: "pending", report_begin_date: "09/21/2026" }
    const [reject] = readRows(east, [aRange(1047), aRange(1047, pending)]).rejects
    assert.deepInclude(reject, { position: 2, is_newest: true })
  })

  it("does not take a publication after the fetch for the newest one", () => {
    const typo = { report_begin_date: "09/14/2026", published_date: "09/17/2062 12:20:53" }
    const rows = [aRange(1047), aRange(1047, { region: "West" }), aRange(1047, typo)]
    assert.throws(() => readRows(east, rows, { fetchedOn: "2026-09-25" }), /row 2 states region "West"/)
  })

  it("may have an older name that the catalog knows", () => {
    const older = {
      slug_name: "MD_DA810",
      region: "Northeast",
      report_title: "Dry Whey - Northeastern U.S.",
      report_begin_date: "01/03/2000",
      published_date: "01/03/2000 00:00:00"
    }
    const [, , , , reading] = readRows(east, [aRange(1047), aRange(1047, older)]).readings
    assert.deepStrictEqual([reading?.observed_on, reading?.published_at], ["2000-01-07", "2000-01-07 23:59:59"])
  })

  const nameless = { slug_id: null, slug_name: "", report_title: "N/A" }

  it.each<[string, Row]>([
    ["nothing", { ...nameless, region: null, commodity: null }],
    ["only its region and commodity", nameless]
  ])("is rejected if every row states %s, and accepted if one row states more", (_, row) => {
    assert.throws(
      () => readRows(east, [aRange(1047, row)]),
      /is not the requested report: no row states the number, the name or the title of its report/
    )
    const { slug_id: _id, slug_name: _name, report_title: _title, ...unnamed } = aRange(1047)
    assert.throws(() => readRows(east, [unnamed]), /no row states the number/)
    assert.strictEqual(readRows(east, [aRange(1047), aRange(1047, row)]).readings.length, 8)
  })

  it.each<[string, Row]>([
    ["its number as a text", { slug_id: "1047" }],
    ["its title with a remark", { report_title: "DRY WHEY - EAST US (AMS_1047)" }],
    ["its region in different words", { region: "Eastern United States" }]
  ])("is accepted if it states %s", (_, row) => {
    assert.strictEqual(readRows(east, [aRange(1047, row)]).readings.length, 4)
  })

  it("may name two regions in any order, with any character between them", () => {
    const powder = feedNamed("gov-mars/1049")
    const row = (region: string) => aRange(1049, { region, lot_Desc: "High Heat" })
    assert.strictEqual(readRows(powder, [row("Central/East US")]).readings.length, 4)
    assert.throws(() => readRows(powder, [row("West")]), /region "West"/)
  })

  it("is compared with the catalog for Datamart, too", () => {
    assert.throws(() => readRows(blocks, [aBlockRow({ slug_id: "2991" })]), /slug_id "2991", but 2993 was requested/)
    assert.throws(() => readRows(blocks, [aBlockRow({ slug_name: "DYMCLASSPRICES" })]), /slug_name "DYMCLASSPRICES"/)
  })

  it("is rejected even if the payload also lacks a column", () => {
    const { close_price: _, ...row } = aClose({ slug_id: 1602 })
    assert.throws(() => readRows(closes, [row]), /slug_id 1602/)
  })
})

describe("two rows of one metric, day and publication", () => {
  const readPrices = (...prices: ReadonlyArray<unknown>) => {
    const { readings, rejects } = readRows(
      closes,
      prices.map((close_price) => aClose({ close_price }))
    )
    return { readings: readings.length, rejects: rejects.map(({ reason }) => reason) }
  }

  it("agree when their values are equal, padded or not", () => {
    assert.deepStrictEqual(readPrices("1.40", n("1.4"), "1.400"), { readings: 3, rejects: [] })
    assert.deepStrictEqual(readPrices("10", n("10.0")), { readings: 2, rejects: [] })
  })

  it("make the payload untrusted if their values differ, because either may be right", () => {
    assert.throws(
      () => readPrices("1.39", "1.39", "13.9"),
      /row 3 contradicts row 1: butter_exch_spot_close_daily of 2026-09-29 is 1\.39 there and 13\.9 here/
    )
  })

  it("reject all of these rows alone if they are not of the newest publication", () => {
    const older = { report_date: "09/28/2026", published_date: "09/28/2026 10:57:04" }
    const rows = [aClose(), ...["1.39", "1.40", "1.39"].map((close_price) => aClose({ ...older, close_price }))]
    const { readings, rejects } = readRows(closes, rows)
    assert.strictEqual(readings.length, 1)
    const reason = /row 3 contradicts row 2: butter_exch_spot_close_daily of 2026-09-28 is 1\.39 there and 1\.40 here/
    assert.deepStrictEqual(
      rejects.map(({ position }) => position),
      [2, 3, 4]
    )
    for (const reject of rejects) assert.match(reject.reason, reason)
  })

  it("are a revision when their publications differ", () => {
    const rows = [aBlockRow(), aBlockRow({ cheese_40_Price: "1.6150", published_date: "10/07/2026 13:04:36" })]
    assert.deepStrictEqual(readRows(blocks, rows).rejects, [])
  })
})

describe("reading a report that has changed", () => {
  const without = (row: Row, field: string) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => name !== field))

  it.each([
    [
      "whose mapped column is missing",
      closes,
      [without(aClose(), "close_price")],
      /the column close_price is missing\. The payload has: report_date/
    ],
    [
      "whose date column is missing",
      blocks,
      [without(aBlockRow(), "Week Ending Date")],
      /the date field Week Ending Date is missing/
    ],
    [
      "whose column contains strings",
      closes,
      [aClose({ close_price: "see note" }), aClose({ close_price: "unchanged" })],
      /close_price of butter_exch_spot_close_daily no longer contains numbers, but values like "see note"/
    ],
    [
      "whose column contains objects",
      closes,
      [aClose({ close_price: { amount: 1.39 } })],
      /no longer contains numbers, but values like {"amount":1.39}/
    ],
    [
      "whose column contains booleans",
      closes,
      [aClose({ close_price: true })],
      /no longer contains numbers, but values like true/
    ],
    [
      "whose dates are printed differently",
      closes,
      [aClose({ report_date: "29 September 2026" })],
      /1 of 1 rows cannot be read, .* the first: report_date is "29 September 2026"/
    ],
    [
      "whose timestamps are printed differently",
      closes,
      [aClose({ published_date: 1_790_000_000 })],
      /the column published_date contains only values of another type, such as 1790000000/
    ],
    ["whose rows are not objects", closes, [1, 2], /2 of 2 rows cannot be read/]
  ])("fails for a payload %s", (_, feed, rows, message) => {
    assert.throws(() => readRows(feed, rows), message)
  })

  it.each([
    ["a selector", "commodity", { name: "Butter" }],
    ["the region", "region", 4],
    ["the number of the report", "slug_id", [1603]]
  ])("fails when all values of a column are of another type: %s", (_, field, value) => {
    const rows = [aClose({ [field]: value }), aClose({ [field]: null, report_date: "09/28/2026" })]
    const feed = field === "region" ? feedNamed("gov-mars/1046") : closes
    const read = field === "region" ? [aRange(1046, { region: value })] : rows
    assert.throws(() => readRows(feed, read), new RegExp(`the column ${field} contains only values of another type`))
  })

  it("reports an optional column that is missing or empty on more than five days that had values", () => {
    const feed = feedNamed("gov-mars/1046")
    const weeks = ["08/03", "08/10", "08/17", "08/24", "08/31", "09/07"].map((day) => ({
      report_begin_date: `${day}/2026`,
      mostly_low_price: null
    }))
    const rows = weeks.map((row) => aRange(1046, row))
    const days = ["2026-08-07", "2026-08-14", "2026-08-21", "2026-08-28", "2026-09-04", "2026-09-11"]
    const emptiedIn = (rows: ReadonlyArray<Row>, known: ReadonlyArray<string>) =>
      readRows(feed, rows, { daysWithValues: new Map([["dry_whey_us_west_mostly_low_weekly", new Set(known)]]) })
        .emptied_columns
    const [empty] = emptiedIn(rows, days)
    assert.match(empty ?? "", /the column mostly_low_price of .* is empty in all 6 rows, although 6 of their days/)
    const [missing] = emptiedIn(
      rows.map(({ mostly_low_price: _, ...row }) => row),
      days
    )
    assert.match(missing ?? "", /the column mostly_low_price of .* is missing, although 6 of their days/)
    assert.deepStrictEqual(emptiedIn(rows, days.slice(1)), [])
  })

  it("fails when a column is empty on more than five days that had values, and not on fewer or other days", () => {
    const metric = "butter_exch_spot_close_daily"
    const days = ["14", "15", "16", "17", "18", "21", "22"].map((day) => `2026-09-${day}`)
    const rows = days.map((day) => aClose({ report_date: day, published_date: `${day} 10:57:04`, close_price: null }))
    const daysWithValues = (from: number) => new Map([[metric, new Set(["2026-01-02", ...days.slice(from)])]])
    assert.throws(
      () => readRows(closes, rows, { daysWithValues: daysWithValues(1) }),
      /the column close_price of butter_exch_spot_close_daily is empty in all 7 rows, although 6 of their days had a value before/
    )
    assert.strictEqual(readRows(closes, rows, { daysWithValues: daysWithValues(2) }).rows_skipped, 7)
    assert.strictEqual(readRows(closes, [...rows, aClose()], { daysWithValues: daysWithValues(0) }).readings.length, 1)
  })

  it("fails when no row with a price belongs to a metric, and names the texts", () => {
    const rows = [aClose({ commodity: "Butter (AA)" })]
    assert.throws(
      () => readRows(closes, rows),
      /none of its 1 rows with a price matches a metric: they say commodity, package "Butter \(AA\), \(empty\)"/
    )
    const runDays = { from: "2026-09-01", to: "2026-09-30" }
    assert.strictEqual(readRows(closes, rows, { runDays }).rows_skipped, 1, "a backfill may find none")
  })

  it("fails when no row without a price belongs to a metric that has had values, and not before it had any", () => {
    const rows = [aClose({ commodity: "Butter (AA)", close_price: null })]
    assert.strictEqual(readRows(closes, rows).rows_skipped, 1)
    const daysWithValues = new Map([["butter_exch_spot_close_daily", new Set(["2026-09-28"])]])
    assert.throws(
      () => readRows(closes, rows, { daysWithValues }),
      /none of its 1 rows matches butter_exch_spot_close_daily, which had values before/
    )
  })

  it("fails even if rows of other markets can be read", () => {
    const other = aMonthlyAverage({ region: "Oceania", commodity: "Butter" })
    assert.throws(
      () => readRows(months, [other, aMonthlyAverage({ report_end_date: "August 2026" })]),
      /1 of 2 rows cannot be read/
    )
  })

  it("does not fail because of strings in rows of other markets", () => {
    const other = aMonthlyAverage({ region: "Oceania", "monthly Av": "see note" })
    assert.strictEqual(readRows(months, [other, aMonthlyAverage()]).readings.length, 1)
  })
})
