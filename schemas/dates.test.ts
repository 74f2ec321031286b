import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import fc from "fast-check"
import { addDays, Day, dayOf, isDay, Timestamp, yearsBefore } from "./dates.ts"

const pad = (n: number, width: number) => String(n).padStart(width, "0")
/** Whether JavaScript's calendar has the day: a day that does not exist becomes another one. */
const exists = (year: number, month: number, day: number) => {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return year >= 1 && date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
const realDay = fc
  .tuple(fc.integer({ min: 1, max: 9999 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 31 }))
  .filter((parts) => exists(...parts))
  .map(([year, month, day]) => `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`)

describe("a day", () => {
  it.each(["0001-01-01", "2024-02-29", "2000-02-29", "9999-12-31"])("accepts %s", (text) => {
    assert.isTrue(isDay(text))
  })
  it.each([
    ["2023-02-29", "not a leap year"],
    ["1900-02-29", "a century that is not a leap year"],
    ["2024-02-30", "February"],
    ["2024-04-31", "April"],
    ["2024-13-01", "thirteenth month"],
    ["2024-00-10", "month 0"],
    ["2024-01-00", "day 0"],
    ["0000-01-01", "year 0"],
    ["2024-2-3", "unpadded"],
    ["10000-01-01", "five-digit year"],
    ["-2024-01-01", "sign"],
    ["2024-01-01 ", "trailing space"],
    ["2024-01-01\n", "trailing line break"],
    ["2024-01-01T00:00:00Z", "time"],
    ["20240101", "basic format"],
    ["２０２４-01-01", "full-width digits"],
    ["", "empty"]
  ])("rejects %j: %s", (text) => {
    assert.isFalse(isDay(text))
  })
  it("is valid exactly if JavaScript's Date has it", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9999 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        (year, month, day) => {
          const text = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
          assert.strictEqual(isDay(text), exists(year, month, day))
          assert.strictEqual(dayOf(year, month, day), exists(year, month, day) ? text : undefined)
        }
      )
    )
  })
  it("is undefined for numbers that are not integers", () => {
    assert.isUndefined(dayOf(2024, 1, 1.5))
    assert.isUndefined(dayOf(2024.5, 1, 1))
    assert.isUndefined(dayOf(2024, Number.NaN, 1))
  })
})

describe("years before a day", () => {
  it.each([
    ["2024-02-29", 1, "2023-02-28"],
    ["2024-02-29", 4, "2020-02-29"],
    ["2024-03-01", 1, "2023-03-01"],
    ["2023-02-28", 3, "2020-02-28"],
    ["2024-12-31", 10, "2014-12-31"],
    ["0003-05-05", 10, "0001-05-05"]
  ])("%s less %i years is %s", (day, years, expected) => {
    assert.strictEqual(yearsBefore(day, years), expected)
  })
  it("give a real day in the same month, never after the day", () => {
    fc.assert(
      fc.property(realDay, fc.integer({ min: 0, max: 12_000 }), (day, years) => {
        const before = yearsBefore(day, years)
        assert.isTrue(isDay(before))
        assert.isTrue(before <= day)
        assert.strictEqual(before.slice(5, 7), day.slice(5, 7))
      })
    )
  })
})

describe("a number of days from a day", () => {
  it.each([
    ["2024-03-01", -1, "2024-02-29"],
    ["2024-01-01", -1, "2023-12-31"],
    ["2024-01-08", -7, "2024-01-01"],
    ["2024-02-28", 2, "2024-03-01"],
    ["2024-01-08", 0, "2024-01-08"]
  ])("%s and %i days is %s", (day, days, expected) => {
    assert.strictEqual(addDays(day, days), expected)
  })
})

describe("the schemas of days and timestamps", () => {
  it("accept only real days as Day, and give the reason when they reject one", () => {
    assert.isTrue(Schema.is(Day)("2024-02-29"))
    const rejected = Schema.decodeUnknownResult(Day)("2024-02-30")
    assert.strictEqual(
      rejected._tag === "Failure" && rejected.failure.message,
      "is not a real calendar day in YYYY-MM-DD format"
    )
  })
  it.each([
    ["2026-10-01T13:04:36.000Z", true],
    ["2026-10-01T13:04:36Z", false],
    ["2026-10-01T13:04:36.000+00:00", false],
    ["2026-02-30T13:04:36.000Z", false],
    ["2026-10-01T25:00:00.000Z", false],
    ["2026-10-01 13:04:36.000Z", false]
  ])("check %s as Timestamp: %s", (text, expected) => {
    assert.strictEqual(Schema.is(Timestamp)(text), expected)
  })
  it("keep format and description together in JSON Schema", () => {
    const described = Day.annotate({ description: "Reading date." })
    assert.deepStrictEqual(Schema.toJsonSchemaDocument(described).schema, {
      type: "string",
      pattern: "^\\d{4}-\\d{2}-\\d{2}$",
      format: "date",
      description: "Reading date."
    })
    assert.strictEqual(Schema.toJsonSchemaDocument(Timestamp).schema.format, "date-time")
  })
})
