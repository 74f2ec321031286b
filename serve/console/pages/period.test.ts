import { assert, describe, it } from "@effect/vitest"
import { daysOf, lengthOf, offered, periodAsked } from "./period.ts"

const now = Date.parse("2026-03-01T00:00:00.000Z")
const asked = (query: string) => periodAsked(new URLSearchParams(query), now)

describe("the period of a page", () => {
  it("is the last 30 days where nothing else is asked", () => {
    const { period } = asked("")
    assert.deepStrictEqual(period, { from: "2026-01-31", to: "2026-03-01" })
    assert.strictEqual(period && lengthOf(period), 30)
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

  it("keeps what was typed", () => {
    assert.deepStrictEqual(asked("from=soon&to=2026-02-01").typed, { from: "soon", to: "2026-02-01" })
  })

  it("is offered as days that end today and as calendar months", () => {
    assert.deepStrictEqual(
      offered("2026-03-01").map(({ from, label, to }) => `${label}: ${from} ${to}`),
      [
        "7 days: 2026-02-23 2026-03-01",
        "30 days: 2026-01-31 2026-03-01",
        "90 days: 2025-12-02 2026-03-01",
        "This month: 2026-03-01 2026-03-01",
        "Last month: 2026-02-01 2026-02-28"
      ]
    )
  })
})
