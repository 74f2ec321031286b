import { assert, describe, it } from "@effect/vitest"
import { countActiveDays, countDays, listDays, listPeriods, readPeriod } from "./period.ts"

const now = Date.parse("2026-03-01T00:00:00.000Z")
const read = (query: string) => readPeriod(new URLSearchParams(query), now)

describe("the period of a page", () => {
  it("covers the last 31 days by default", () => {
    const { period } = read("")
    assert.deepStrictEqual(period, { from: "2026-01-30", to: "2026-03-01" })
    assert.strictEqual(period && countDays(period), 31)
  })

  it("covers the requested days, including the first and the last", () => {
    const { period } = read("from=2024-02-28&to=2024-03-01")
    assert.deepStrictEqual(period && listDays(period), ["2024-02-28", "2024-02-29", "2024-03-01"])
  })

  it.each([
    ["from=2026-02-30", { from: "Type a day such as 2026-10-15." }],
    ["from=x&to=y", { from: "Type a day such as 2026-10-15.", to: "Type a day such as 2026-10-15." }],
    ["from=2026-03-02&to=2026-03-01", { from: "The first day is after the last one." }],
    ["from=2025-01-01&to=2026-03-01", { from: "Choose at most 366 days." }]
  ])("rejects %s with an error at the field", (query, problems) => {
    const { period, problems: found } = read(query)
    assert.isUndefined(period)
    assert.deepStrictEqual(found, problems)
  })

  it.each([
    ["all days when the account is older", "2025-12-31", 10],
    ["no days before the account was opened", "2026-02-05", 6],
    ["one day when the account was opened after the period", "2026-02-20", 1]
  ])("counts for an average: %s", (_what, first, days) => {
    assert.strictEqual(countActiveDays({ from: "2026-02-01", to: "2026-02-10" }, first, "2026-03-01"), days)
  })

  it("counts no future days for an average, but at least one day", () => {
    const period = { from: "2026-02-28", to: "2026-03-31" }
    assert.strictEqual(countActiveDays(period, "2025-12-31", "2026-03-01"), 2)
    assert.strictEqual(countActiveDays({ ...period, from: "2026-03-15" }, "2025-12-31", "2026-03-01"), 1)
  })

  it("keeps the typed text, even if it is not a day", () => {
    assert.deepStrictEqual(read("from=soon&to=2026-02-01").typed, { from: "soon", to: "2026-02-01" })
  })

  it("offers 7, 31 and 90 days that end today, this month and the last", () => {
    assert.deepStrictEqual(
      listPeriods("2026-03-01").map(({ from, label, to }) => `${label}: ${from} ${to}`),
      [
        "7 days: 2026-02-23 2026-03-01",
        "31 days: 2026-01-30 2026-03-01",
        "90 days: 2025-12-02 2026-03-01",
        "This month: 2026-03-01 2026-03-01",
        "Last month: 2026-02-01 2026-02-28"
      ]
    )
  })
})
