import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { freshnessOf } from "@larder/test/support/warehouse/freshness.ts"
import { Effect } from "effect"
import { catalog } from "./catalog.ts"
import { findScheduleFault } from "./publishes-on.ts"

const queryFreshness = freshnessOf()

describe("the schedule of a report", () => {
  it.each([
    ["weekly", "Friday of the same week, 09:00"],
    ["biweekly", "Monday of the week 12 weeks later, 23:59"],
    ["monthly", "day 28 of the month before, 00:00, for March, June, September and December"],
    ["monthly", "day 1 of the month 2 months later, 12:00, for May"],
    ["annual", "day 15 of the next month, 15:00"]
  ] as const)("of a %s one can be: %s", (frequency, publishes_on) => {
    assert.isUndefined(findScheduleFault(publishes_on, frequency))
  })
  it.each([
    ["daily", "every working day, 11:00, for May"],
    ["weekly", "Saturday of the next week, 13:15"],
    ["weekly", "Wednesday of the week before, 13:15"],
    ["weekly", "Wednesday of the next week, 24:00"],
    ["weekly", "Wednesday of the next week"],
    ["monthly", "day 29 of the next month, 13:15"],
    ["monthly", "day 5 of the month 1 months later, 13:15"],
    ["monthly", "day 5 of the next month, 13:15, for Jan"],
    ["annual", "day 15 of the next month, 15:00, for January"]
  ] as const)("of a %s one cannot be: %s", (frequency, publishes_on) => {
    assert.include(findScheduleFault(publishes_on, frequency), `${frequency} reports publish on a day such as`)
  })
  itLive("is understood by ingest.freshness for every feed of the catalog", () =>
    Effect.gen(function* () {
      const { feeds } = catalog()
      const metrics = feeds.map(({ feed, frequency, publishes_on }) => {
        const last_observed_on = frequency === "monthly" ? "2026-09-01" : "2026-09-25"
        return { metric_name: feed, feed, frequency, publishes_on, last_observed_on }
      })
      const expected = yield* queryFreshness("datediff('day', newest_on, expected_at)::integer as days", "2026-09-01", {
        "ingest.data_set": [{ pipeline: "commodities", is_sample: false }],
        "commodity.metric": metrics
      })
      assert.lengthOf(expected, feeds.length)
      assert.deepStrictEqual(
        expected.filter(({ days }) => typeof days !== "number" || days < 3 || days > 75),
        []
      )
    })
  )
})
