import { assert, describe, it } from "@effect/vitest"
import { addDays } from "@larder/schemas"
import { serializePoints } from "@larder/warehouse/read-models/points.ts"
import { type ChartReading, maxPoints, readRange, summarizeLine, thinLines } from "./readings.ts"

/** Readings `interval` days apart, with values that go up and down. */
const aLine = (readings: number, interval = 1): ReadonlyArray<ChartReading> =>
  Array.from({ length: readings }, (_, index) => {
    const value = (index * 37) % 101
    return { day: addDays("2020-01-01", index * interval), value, digits: value.toFixed(2) }
  })
const extremes = (readings: ReadonlyArray<ChartReading>) => {
  const values = readings.map(({ value }) => value)
  return [Math.min(...values), Math.max(...values)]
}

describe("a line with too many readings", () => {
  const whole = aLine(5000)
  const { lines, step } = thinLines([whole])
  const drawn = lines[0] ?? []

  it("keeps the lowest and the highest of each week, and the first and the last of all", () => {
    assert.strictEqual(step, "week")
    assert.isAtMost(drawn.length, maxPoints)
    assert.strictEqual(drawn[0], whole[0])
    assert.strictEqual(drawn.at(-1), whole.at(-1))
    // 6 January 2020 is a Monday
    const week = (readings: ReadonlyArray<ChartReading>) =>
      readings.filter(({ day }) => day >= "2020-01-06" && day <= "2020-01-12")
    assert.strictEqual(week(drawn).length, 2)
    assert.deepStrictEqual(extremes(week(drawn)), extremes(week(whole)))
  })
  it("keeps its readings in the order of their days", () => {
    const days = drawn.map(({ day }) => day)
    assert.deepStrictEqual(days, days.toSorted())
  })
  it("is thinned by month if two readings a week are still too many", () => {
    assert.strictEqual(thinLines([aLine(15_000)]).step, "month")
  })
})

describe("several lines", () => {
  it("thins all long lines by the same named step, but no short line", () => {
    const monthly = aLine(200, 30)
    const drawn = thinLines([aLine(5000), aLine(15_000), monthly])
    assert.strictEqual(drawn.step, "month")
    assert.strictEqual(drawn.lines[2], monthly)
    assert.deepStrictEqual(drawn.lines[0], thinLines([aLine(5000), aLine(15_000)]).lines[0])
    assert.isBelow(drawn.lines[0]?.length ?? 0, 340)
  })
  it("draws all readings if no line has too many", () => {
    const short = [aLine(maxPoints), aLine(10)]
    assert.deepStrictEqual(thinLines(short), { lines: short, step: undefined })
  })
})

describe("the summary of a line", () => {
  const points = serializePoints([
    { day: "2021-01-04", value: "1.4675" },
    { day: "2021-01-05", value: "1.2875" },
    { day: "2021-01-06", value: "3.3375" },
    { day: "2021-01-08", value: "1.4500" }
  ])
  const butter = { name: "butter", title: "Butter", unit: "USD per lb", points }

  it("names the first, last, lowest and highest reading, with the digits as published", () => {
    assert.strictEqual(
      summarizeLine(butter, readRange(points, undefined, undefined)),
      "Butter: 1.4675 on 4 Jan 2021, 1.4500 USD per lb on 8 Jan 2021; lowest 1.2875, highest 3.3375."
    )
  })
  it("states that the chosen days have no readings", () => {
    assert.strictEqual(
      summarizeLine(butter, readRange(points, "2022-01-01", undefined)),
      "Butter: no readings in these days."
    )
  })
})
