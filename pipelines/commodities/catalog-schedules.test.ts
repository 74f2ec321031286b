import { assert, describe } from "@effect/vitest"
import { parseSchedule } from "@larder/schemas/commodity/schedule.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { freshnessOf, metricRows } from "@larder/test/support/warehouse/freshness.ts"
import { Effect } from "effect"
import { catalog } from "./catalog.ts"

const { queryFreshness } = freshnessOf()

/** Weeks or months from the newest period to the next one. */
const steps: Readonly<Record<string, number>> = { weekly: 1, biweekly: 2, monthly: 1 }

describe("ingest.freshness", () => {
  itLive("expects every feed of the catalog on the day and at the time of its schedule", () =>
    Effect.gen(function* () {
      const { feeds } = catalog()
      const metrics = feeds.map(({ feed, frequency, publishes_on }) => {
        // Friday, so that the next day of a daily report is in the next week; all of it is in summer, four hours behind UTC
        const last_observed_on = frequency === "monthly" ? "2026-05-01" : "2026-05-15"
        return [feed, { feed, frequency, publishes_on, last_observed_on }] as const
      })
      const columns = `
        subject,
        isodow(expected_at)::integer as weekday,
        day(expected_at)::integer as month_day,
        ((date_trunc('week', expected_at)::date - date_trunc('week', newest_on)::date) // 7)::integer as weeks,
        datediff('month', newest_on, expected_at)::integer as months,
        strftime(expected_at - interval 4 hours, '%H:%M') as time`
      const rows = metricRows(Object.fromEntries(metrics), { "ingest.raw_file": [] })
      const found = new Map(
        (yield* queryFreshness(columns, "2026-05-16", rows)).map(({ subject, ...expected }) => [subject, expected])
      )
      assert.strictEqual(found.size, feeds.length)
      for (const { feed, frequency, publishes_on } of feeds) {
        const schedule = parseSchedule(publishes_on, frequency)
        const expected = found.get(feed)
        assert.isDefined(schedule, feed)
        const { day, shift, time } = schedule ?? {}
        assert.strictEqual(expected?.time, time, feed)
        const [foundDay, distance] =
          frequency === "monthly" ? [expected?.month_day, expected?.months] : [expected?.weekday, expected?.weeks]
        assert.strictEqual(foundDay, day ?? 1, feed)
        assert.strictEqual(distance, (steps[frequency] ?? 1) + Number(shift), feed)
      }
    })
  )
})
