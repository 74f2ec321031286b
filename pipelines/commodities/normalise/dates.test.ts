import { assert, describe, it } from "@effect/vitest"
import { dayOf } from "@larder/schemas"
import fc from "fast-check"
import { parsePeriod } from "../catalog/cells.ts"
import { listFields, type PayloadRow } from "../decode/payload.ts"
import { makePeriodReader, makePublicationReader, parseDay, parseMonth, parseTimestamp } from "./dates.ts"

const makePublished = (period: string, row: PayloadRow) =>
  makePublicationReader(parsePeriod(period), listFields([row]), [])(row)
const read = (period: string, row: PayloadRow) => {
  const publication = makePublished(period, row)
  const stated = publication !== undefined && "timestamp" in publication ? publication : undefined
  return makePeriodReader(parsePeriod(period), listFields([row]))(row, stated)
}

describe("a printed day", () => {
  it.each([
    ["08/29/2026", "2026-08-29"],
    ["8/9/2026", "2026-08-09"],
    ["09/25/2026 09:48:37", "2026-09-25"],
    ["2026-09-25", "2026-09-25"],
    ["2026-09-25T00:00:00", "2026-09-25"],
    ["02/29/2024", "2024-02-29"]
  ])("reads %s as %s", (text, day) => assert.strictEqual(parseDay(text), day))

  it.each([
    "",
    "08/29/2026 - 09/04/2026",
    "08/29/2026 to 09/04/2026",
    "2026-08-29/2026-09-04",
    "29/08/2026",
    "02/29/2026",
    "08/29/26",
    "08-29-2026",
    "yesterday",
    "2026-13-01",
    "08/29/2026x"
  ])("reads no day from %j", (text) => assert.isUndefined(parseDay(text)))

  it("reads any day of the years 1 to 9999 without leading zeros, and rejects days that do not exist", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 31 }),
        (year, month, day) => {
          const padded = String(year).padStart(4, "0")
          assert.strictEqual(parseDay(`${month}/${day}/${padded}`), dayOf(year, month, day))
        }
      )
    )
  })
})

describe("a printed timestamp", () => {
  it.each([
    ["09/30/2026 13:04:36", "2026-09-30 13:04:36"],
    ["09/30/2026 9:04", "2026-09-30 09:04:00"],
    ["09/30/2026", "2026-09-30 23:59:59"],
    ["09/30/2026 1:04 PM", "2026-09-30 13:04:00"],
    ["09/30/2026 12:04:36 a.m.", "2026-09-30 00:04:36"],
    ["2026-09-30T13:04:36.123", "2026-09-30 13:04:36"]
  ])("reads %s as %s, without a zone", (text, timestamp) => assert.strictEqual(parseTimestamp(text), timestamp))

  it.each([
    "",
    "09/31/2026 13:04:36",
    "09/30/2026 25:00:00",
    "09/30/2026 13:04 PM",
    "09/30/2026 0:04 AM",
    "2026-09-30T13:04:36Z",
    "soon"
  ])("reads no timestamp from %j", (text) => assert.isUndefined(parseTimestamp(text)))

  it("sorts 01/02/2027 after 12/30/2026, unlike the printed texts", () => {
    const [january = "", december = ""] = ["01/02/2027 13:04:36", "12/30/2026 13:04:36"].map(parseTimestamp)
    assert.isAbove(Date.parse(january), Date.parse(december))
    assert.isTrue(january > december)
  })
})

describe("a month", () => {
  it.each([
    ["Jul", 7],
    ["July", 7],
    ["JULY", 7],
    ["Sept", 9],
    ["Sep.", 9],
    ["7", 7],
    ["07", 7],
    ["December", 12]
  ])("reads %s as %i", (text, month) => assert.strictEqual(parseMonth(text), month))

  it.each(["", "Ju", "J", "13", "0", "Q3", "Julie", "1.5"])("rejects %j", (text) =>
    assert.isUndefined(parseMonth(text))
  )
})

describe("the period of a row", () => {
  const both = { week_ending_date: "09/26/2026", "Week Ending Date": "08/29/2026" }

  it("is the week of the data in a rolling section, never the week of the report", () => {
    assert.deepStrictEqual(read("exactly Week Ending Date", both), { day: "2026-08-29" })
  })

  it("is the lower-case week in a final section, even when both columns are there", () => {
    assert.deepStrictEqual(read("exactly week_ending_date", both), { day: "2026-09-26" })
    assert.deepStrictEqual(read("exactly week_ending_date", { week_ending_date: "08/29/2026" }), { day: "2026-08-29" })
  })

  it("fails when its own week column is missing, and never uses the other", () => {
    const message = /the date field Week Ending Date is missing\. The payload has: week_ending_date\./
    assert.throws(() => read("exactly Week Ending Date", { week_ending_date: "09/26/2026" }), message)
    assert.throws(
      () => read("exactly week_ending_date", { "Week Ending Date": "08/29/2026" }),
      /the date field week_ending_date is missing/
    )
  })

  it("is the month of a year-to-date row, in the year of the report's end", () => {
    const row = { report_date: "01/01/2026", report_end_date: "08/31/2026", report_month: "April" }
    assert.deepStrictEqual(read("report_month, year of report_end_date", row), { day: "2026-04-01" })
  })

  it("is the priced month of a class price, not the month of its last survey week", () => {
    const row = { week_ending_date: "08/01/2026", report_year: "2026", report_month: "Jul" }
    assert.deepStrictEqual(read("report_month, report_year", row), { day: "2026-07-01" })
  })

  it.each([
    ["report_date", { report_date: null }, "report_date is null, which is not a date", false],
    ["report_date", { report_date: "N/A" }, 'report_date is "N/A", which is not a date', false],
    ["report_date", { report_date: "tbd" }, 'report_date is "tbd", which is not a date', true],
    ["month, year", { month: "Smarch", year: "2026" }, 'month is "Smarch", which is not a month', true],
    ["month, year", { month: "Jul", year: "26" }, 'year is "26", which is not a year', true],
    ["month, year of end", { month: "Jul", end: null }, "end is null, which is not a date", false]
  ])("is a fault when %s cannot be read: %j", (period, row, fault, stated) => {
    assert.deepStrictEqual(read(period, row), { fault, stated })
  })

  it("fails when two keys normalise to its field", () => {
    assert.throws(
      () => read("report_date", { "Report Date": "1", "report date": "2" }),
      /could be Report Date or report date/
    )
  })
})

describe("the Friday of a week", () => {
  const period = "friday of report_begin_date, else report_end_date"
  it.each([
    ["a week from Monday to Friday", { report_begin_date: "09/21/2026", report_end_date: "09/25/2026" }],
    ["a week that ends on its Monday", { report_begin_date: "09/21/2026", report_end_date: "09/21/2026" }],
    ["a week that begins on Tuesday", { report_begin_date: "09/22/2026", report_end_date: "09/25/2026" }],
    ["a week that begins on Sunday", { report_begin_date: "09/20/2026", report_end_date: "09/25/2026" }],
    ["a week that begins on Saturday", { report_begin_date: "09/19/2026", report_end_date: "09/25/2026" }],
    ["a week that ends on Saturday, without a first day", { report_end_date: "09/26/2026" }],
    ["a week without a first day", { report_begin_date: null, report_end_date: "09/24/2026" }],
    ["a row without that field", { report_end_date: "09/25/2026 00:00:00" }]
  ])("is the day of %s", (_, row) => assert.deepStrictEqual(read(period, row), { day: "2026-09-25" }))

  it("is a fault when neither day is a date", () => {
    const fault = 'report_begin_date is "this week", which is not a date'
    assert.deepStrictEqual(read(period, { report_begin_date: "this week", report_end_date: "09/25/2026" }), {
      fault,
      stated: true
    })
  })

  it("is when a report counts as published whose timestamp is midnight on the first day of its week", () => {
    const publishedAt = (published_date: string) =>
      makePublished(period, { report_begin_date: "01/04/2000", report_end_date: "01/07/2000", published_date })
    const friday = { timestamp: "2000-01-07 23:59:59", isStated: true }
    assert.deepStrictEqual(publishedAt("01/04/2000 00:00:00"), friday)
    assert.deepStrictEqual(publishedAt("01/03/2000 00:00:00"), friday, "the Monday of that week")
    assert.deepStrictEqual(publishedAt("01/06/2000 00:00:00"), { ...friday, timestamp: "2000-01-06 00:00:00" })
    assert.deepStrictEqual(publishedAt("01/04/2000 10:00:00"), { ...friday, timestamp: "2000-01-04 10:00:00" })
    const withoutBegin = { report_end_date: "01/07/2000", published_date: "01/03/2000 00:00:00" }
    assert.deepStrictEqual(makePublished(period, withoutBegin), friday)
  })
})

describe("the month after a publication", () => {
  const period = "report_month, report_year, month after publication"
  const row = (report_month: string, report_year: string, published_date: string | null) => ({
    report_month,
    report_year,
    published_date
  })
  it.each([
    ["names the month that is priced", row("Jul", "2026", "06/17/2026 13:04:11"), "2026-07-01"],
    ["names the month of publication", row("Jun", "2026", "06/17/2026 13:04:11"), "2026-07-01"],
    ["is published in December", row("January", "2027", "12/23/2026 13:04:11"), "2027-01-01"]
  ])("is the day of a row that %s", (_, row, day) => assert.deepStrictEqual(read(period, row), { day }))

  it("is a fault when the row names another month, or no publication", () => {
    assert.deepStrictEqual(read(period, row("Aug", "2026", "06/17/2026 13:04:11")), {
      fault: "its month is 2026-08, which is neither 2026-06 nor 2026-07: it was published on 2026-06-17",
      stated: true
    })
    assert.deepStrictEqual(read(period, row("Jul", "2026", null)), {
      fault: "it states no time of publication, and prices the month after it",
      stated: true
    })
  })
})

const published = (row: PayloadRow) => makePublished("report_date", row)
const stated = (timestamp: string) => ({ timestamp, isStated: true })
const assumed = (timestamp: string) => ({ timestamp, isStated: false })

describe("the publication of a row", () => {
  it("is the row's own timestamp, in either spelling of the key", () => {
    assert.deepStrictEqual(published({ published_date: "09/30/2026 13:04:36" }), stated("2026-09-30 13:04:36"))
    assert.deepStrictEqual(published({ published_Date: "09/30/2026 13:04:36" }), stated("2026-09-30 13:04:36"))
  })

  it("is the end of the day when the timestamp has no time", () => {
    assert.deepStrictEqual(published({ published_date: "09/30/2026" }), stated("2026-09-30 23:59:59"))
  })

  it("is the end of the newest day that the row states about its report, with microseconds, when it has no timestamp", () => {
    const row = { published_date: null, week_ending_date: "09/26/2026", created_date: "09/30/2026" }
    assert.deepStrictEqual(published(row), assumed("2026-09-30 23:59:59.999999"))
    assert.deepStrictEqual(published({ week_ending_date: "09/26/2026" }), assumed("2026-09-26 23:59:59.999999"))
  })

  it("is unknown when the row states no day of its report", () => {
    assert.isUndefined(published({ close_price: "1" }))
  })

  it("is a fault, not a guess, when the timestamp cannot be read", () => {
    const fault = 'published_date is "this morning", which is not a date and time'
    assert.deepStrictEqual(published({ published_date: "this morning" }), { fault, stated: true })
  })

  it("fails when two fields could be the timestamp", () => {
    assert.throws(
      () => published({ "Published Date": "09/30/2026", published_Date: "09/29/2026" }),
      /published_date could be Published Date or published_Date/
    )
  })
})
