import { assert, describe, it } from "@effect/vitest"
import { dayOf } from "@larder/schemas"
import fc from "fast-check"
import { parsePeriod } from "../catalog.ts"
import { listFields, type PayloadRow } from "../decode/payload.ts"
import { makePeriodReader, makePublicationReader, parseDay, parseMonth, parseTimestamp } from "./dates.ts"

const read = (period: string, row: PayloadRow) => makePeriodReader(parsePeriod(period), listFields([row]))(row)

describe("a printed day", () => {
  it.each([
    ["08/29/2026", "2026-08-29"],
    ["8/9/2026", "2026-08-09"],
    ["09/25/2026 09:48:37", "2026-09-25"],
    ["2026-09-25", "2026-09-25"],
    ["2026-09-25T00:00:00", "2026-09-25"],
    ["02/29/2024", "2024-02-29"]
  ])("reads %s as %s", (text, day) => assert.strictEqual(parseDay(text), day))

  it.each(["", "29/08/2026", "02/29/2026", "08/29/26", "08-29-2026", "yesterday", "2026-13-01", "08/29/2026x"])(
    "reads no day from %j",
    (text) => assert.isUndefined(parseDay(text))
  )

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
    ["2026-09-30T13:04:36.123", "2026-09-30 13:04:36"]
  ])("reads %s as %s, without a zone", (text, timestamp) => assert.strictEqual(parseTimestamp(text), timestamp))

  it.each(["", "09/31/2026 13:04:36", "09/30/2026 25:00:00", "09/30/2026 1:04 PM", "2026-09-30T13:04:36Z", "soon"])(
    "reads no timestamp from %j",
    (text) => assert.isUndefined(parseTimestamp(text))
  )

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

const published = (row: PayloadRow) => makePublicationReader(listFields([row]), [])(row, "2026-08-29")

describe("the publication of a row", () => {
  it("is the row's own timestamp, in either spelling of the key", () => {
    assert.deepStrictEqual(published({ published_date: "09/30/2026 13:04:36" }), { timestamp: "2026-09-30 13:04:36" })
    assert.deepStrictEqual(published({ published_Date: "09/30/2026 13:04:36" }), { timestamp: "2026-09-30 13:04:36" })
  })

  it("is the end of the day when the timestamp has no time", () => {
    assert.deepStrictEqual(published({ published_date: "09/30/2026" }), { timestamp: "2026-09-30 23:59:59" })
  })

  it("is the end of the newest day that the row states about its report, with microseconds, when it has no timestamp", () => {
    const row = { published_date: null, week_ending_date: "09/26/2026", created_date: "09/30/2026" }
    assert.deepStrictEqual(published(row), { timestamp: "2026-09-30 23:59:59.999999" })
    assert.deepStrictEqual(published({ week_ending_date: "09/26/2026" }), { timestamp: "2026-09-26 23:59:59.999999" })
  })

  it("is the end of the day of the reading when the row states no other day", () => {
    assert.deepStrictEqual(published({ close_price: "1" }), { timestamp: "2026-08-29 23:59:59.999999" })
  })

  it("is a fault, not a guess, when the timestamp cannot be read", () => {
    const fault = 'published_date is "this morning", which is not a date and time'
    assert.deepStrictEqual(published({ published_date: "this morning" }), { fault })
  })

  it("fails when two fields could be the timestamp", () => {
    assert.throws(
      () => published({ "Published Date": "09/30/2026", published_Date: "09/29/2026" }),
      /published_date could be Published Date or published_Date/
    )
  })
})
