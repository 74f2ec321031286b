import { assert, describe, it } from "@effect/vitest"
import { addUsage, callsPerDayText, duringText, makeBars, usdPerDayText } from "./usage-sums.ts"

const sum = (name: string, calls: number) => ({ name, calls, credits: calls * 100 })
const days = [sum("2026-10-01", 5), sum("2026-10-03", 2)]

describe("sums of usage", () => {
  it("adds up calls and credits, and returns zero without any usage", () => {
    assert.deepStrictEqual(addUsage(days), { calls: 7, credits: 700 })
    assert.deepStrictEqual(addUsage([]), { calls: 0, credits: 0 })
  })

  it("rounds averages per day, but writes zero only if there was nothing", () => {
    const texts = [0, 1, 3, 30, 45, 299, 300, 40_000].map((calls) => callsPerDayText(calls, 30))
    const calls = [
      "0 calls",
      "under 0.1 calls",
      "0.1 calls",
      "1 call",
      "1.5 calls",
      "10 calls",
      "10 calls",
      "1,333 calls"
    ]
    assert.deepStrictEqual(texts, calls)
    assert.deepStrictEqual(
      [0, 10, 30, 100_000].map((credits) => usdPerDayText(credits, 30)),
      ["$0.00", "under $0.001", "$0.001", "$3.333"]
    )
  })

  it("names one day, or the first and the last of several", () => {
    assert.strictEqual(duringText({ from: "2026-11-22", to: "2026-11-22" }), "on 22 Nov 2026")
    assert.strictEqual(duringText({ from: "2026-11-01", to: "2026-11-22" }), "from 1 Nov 2026 to 22 Nov 2026")
  })

  it("has a bar for every day of the period, including days without calls", () => {
    assert.deepStrictEqual(makeBars(days, { from: "2026-09-30", to: "2026-10-03" }), {
      unit: "day",
      bars: [
        { label: "30 Sept", value: 0 },
        { label: "1 Oct", value: 5 },
        { label: "2 Oct", value: 0 },
        { label: "3 Oct", value: 2 }
      ]
    })
  })

  it("has a bar per month if the period is four months long", () => {
    const { bars, unit } = makeBars(days, { from: "2026-06-15", to: "2026-10-15" })
    assert.strictEqual(unit, "month")
    assert.deepStrictEqual(
      bars.map(({ label, value }) => `${label} ${value}`),
      ["Jun 2026 0", "Jul 2026 0", "Aug 2026 0", "Sept 2026 0", "Oct 2026 7"]
    )
  })
})
