import { assert, describe, it } from "@effect/vitest"
import { daysOf, daysWithin, lengthOf, offered, periodAsked } from "./period.ts"

const now = Date.parse("2026-03-01T00:00:00.000Z")
const asked = (query: string) => periodAsked(new URLSearchParams(query), now)

describe("the period of a page", () => {
  it("is the last 31 days where nothing else is asked", () => {
    const { period } = asked("")
    assert.deepStrictEqual(period, { from: "2026-01-30", to: "2026-03-01" })
    assert.strictEqual(period && lengthOf(period), 31)
  })

  it("is what is asked, both days included", () => {
    const { period } = asked("from=2024-02-28&to=2024-03-01")
    assert.deepStrictEqual(period && daysOf(period), ["2024-02-28", "2024-02-29", "2024-03-01"])
  })

  it.each([
    ["from=2026-02-30", { from: "Type a day such as 2026-10-15." }],
    ["from=x&to=y", { from: "Type a day such as 2026-10-15.", to: "Type a day such as 2026-10-15." }],
    ["from=2026-03-02&to=2026-03-01", { from: "The first day is after the last one." }],
    ["from=2025-01-01&to=2026-03-01", { from: "Choose at most 366 days." }]
  ])("is none where it is asked for by %s, and says so at the field", (query, problems) => {
    const { period, problems: found } = asked(query)
    assert.isUndefined(period)
    assert.deepStrictEqual(found, problems)
  })

  it.each([
    ["whole where the account is older", "2025-12-31", 10],
    ["without the days before the account", "2026-02-05", 6],
    ["a day where the account began behind it", "2026-02-20", 1]
  ])("is %s, for an average", (_what, first, days) => {
    assert.strictEqual(daysWithin({ from: "2026-02-01", to: "2026-02-10" }, first, "2026-03-01"), days)
  })

  it("is without the days to come, for an average", () => {
    const period = { from: "2026-02-28", to: "2026-03-31" }
    assert.strictEqual(daysWithin(period, "2025-12-31", "2026-03-01"), 2)
    assert.strictEqual(daysWithin({ ...period, from: "2026-03-15" }, "2025-12-31", "2026-03-01"), 1)
  })

  it("keeps what was typed", () => {
    assert.deepStrictEqual(asked("from=soon&to=2026-02-01").typed, { from: "soon", to: "2026-02-01" })
  })

  it("is offered as days that end today and as calendar months", () => {
    assert.deepStrictEqual(
      offered("2026-03-01").map(({ from, label, to }) => `${label}: ${from} ${to}`),
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
