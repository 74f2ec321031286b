import { assert, describe, it } from "@effect/vitest"
import { type DateRange, monthOf, splitPeriod } from "./utc-calendar.ts"

const monthOfDay = (day: string) => monthOf(Date.parse(day))
const dayAfter = (day: string) => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
const daysOf = ({ from, to }: DateRange) => {
  const days: Array<string> = []
  for (let day = from; day <= to; day = dayAfter(day)) days.push(day)
  return days
}

/** How often each day of two years is counted. */
const countDays = (period: DateRange) => {
  const { added, first, next, subtracted } = splitPeriod(period)
  const countIn = (ranges: ReadonlyArray<DateRange>, day: string) =>
    ranges.filter(({ from, to }) => from <= day && day <= to).length
  return daysOf({ from: "2027-01-01", to: "2028-12-31" }).map((day) => {
    const isInMonth = first <= monthOfDay(day) && monthOfDay(day) < next
    return [day, Number(isInMonth) + countIn(added, day) - countIn(subtracted, day)]
  })
}

describe("a period in months and days", () => {
  it("counts each of its days once and no other day, and lists at most 16 days of a month", () => {
    const dates = ["2027-02-01", "2027-02-28", "2027-03-01", "2028-01-15", "2028-01-16", "2028-02-16", "2028-02-29"]
    for (const from of dates) {
      for (const to of dates) {
        const period = { from, to }
        const expected = countDays(period).map(([day]) => [day, Number(from <= String(day) && String(day) <= to)])
        assert.deepStrictEqual(countDays(period), expected)
        const { added, subtracted } = splitPeriod(period)
        for (const days of [...added, ...subtracted]) assert.isAtMost(daysOf(days).length, 16)
      }
    }
  })

  it("counts a month as a whole when it has most of its days", () => {
    const month = monthOfDay("2026-11-01")
    assert.deepStrictEqual(splitPeriod({ from: "2026-10-23", to: "2026-11-22" }), {
      first: month,
      next: month + 1,
      added: [{ from: "2026-10-23", to: "2026-10-31" }],
      subtracted: [{ from: "2026-11-23", to: "2026-11-30" }]
    })
  })

  it("counts the whole calendar in months, and keeps an empty period unchanged", () => {
    const { added, first, next, subtracted } = splitPeriod({ from: "0001-01-01", to: "9999-12-31" })
    assert.deepStrictEqual([added, subtracted, next - first], [[], [], 9999 * 12])
    const empty = { from: "2028-03-01", to: "2028-02-01" }
    assert.deepStrictEqual(splitPeriod(empty).added, [empty])
  })
})
