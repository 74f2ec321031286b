/** When the value of a metric is expected, when it is late, and what `ingest.freshness` says about it. */
import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { freshnessOf, leftOut, metricRows, type Rows } from "@larder/test/support/warehouse/freshness.ts"
import { Effect } from "effect"

const { queryFreshness, statesAt } = freshnessOf()

const ofWednesday = "Wednesday of the next week, 13:15"
const friday = "2026-09-25"
const saturday = "2026-09-26"
const ofThursday = "Thursday of the same week, 12:30"
const ofWorkingDays = "every working day, 11:00"
const ofTwoMonths = "day 20 of the same month, 15:00, for January and July"
/** Frequency, schedule, day of the newest value, when the next one is expected and when it is late, in UTC. */
const schedules: Readonly<Record<string, readonly [string, string, string, string, string]>> = {
  "in summer, four hours behind UTC": ["weekly", ofWednesday, saturday, "2026-10-07 17:15", "2026-10-09 17:15"],
  "in winter, five hours behind UTC": ["weekly", ofWednesday, "2026-11-21", "2026-12-02 18:15", "2026-12-04 18:15"],
  "over the end of a year": ["weekly", ofWednesday, "2026-12-19", "2026-12-30 18:15", "2027-01-01 18:15"],
  "weeks later": [
    "weekly",
    "Wednesday of the week 5 weeks later, 13:15",
    "2026-04-25",
    "2026-06-03 17:15",
    "2026-06-05 17:15"
  ],
  "before its week ends, with a weekend in the grace": [
    "weekly",
    ofThursday,
    friday,
    "2026-10-01 16:30",
    "2026-10-05 16:30"
  ],
  "every other week": ["biweekly", ofThursday, friday, "2026-10-08 16:30", "2026-10-12 16:30"],
  "on the next working day": ["daily", ofWorkingDays, "2026-09-22", "2026-09-23 15:00", "2026-09-24 15:00"],
  "on Monday after a Friday": ["daily", ofWorkingDays, friday, "2026-09-28 15:00", "2026-09-29 15:00"],
  "before daylight saving begins, and late after": [
    "daily",
    ofWorkingDays,
    "2026-03-05",
    "2026-03-06 16:00",
    "2026-03-09 15:00"
  ],
  "after daylight saving has begun": ["daily", ofWorkingDays, "2026-03-06", "2026-03-09 15:00", "2026-03-10 15:00"],
  "before daylight saving ends, and late after": [
    "daily",
    ofWorkingDays,
    "2026-10-29",
    "2026-10-30 15:00",
    "2026-11-02 16:00"
  ],
  "after daylight saving has ended": ["daily", ofWorkingDays, "2026-10-30", "2026-11-02 16:00", "2026-11-03 16:00"],
  "before a beginning on 14 March": ["daily", ofWorkingDays, "2027-03-11", "2027-03-12 16:00", "2027-03-15 15:00"],
  "before an end on 7 November": ["daily", ofWorkingDays, "2027-11-04", "2027-11-05 15:00", "2027-11-08 16:00"],
  "in the next month": [
    "monthly",
    "day 5 of the next month, 13:15",
    "2026-08-01",
    "2026-10-05 17:15",
    "2026-10-07 17:15"
  ],
  "on a Saturday": ["monthly", "day 5 of the next month, 13:15", "2026-10-01", "2026-12-05 18:15", "2026-12-08 18:15"],
  "before its month": [
    "monthly",
    "day 23 of the month before, 13:15",
    "2026-10-01",
    "2026-10-23 17:15",
    "2026-10-27 17:15"
  ],
  "in its month": ["monthly", "day 20 of the same month, 15:00", "2026-01-01", "2026-02-20 20:00", "2026-02-24 20:00"],
  "months later": [
    "monthly",
    "day 20 of the month 2 months later, 15:00",
    "2026-01-01",
    "2026-04-20 19:00",
    "2026-04-22 19:00"
  ],
  "in the next month that is printed": ["monthly", ofTwoMonths, "2026-01-01", "2026-07-20 19:00", "2026-07-22 19:00"],
  "in the first one of the next year": ["monthly", ofTwoMonths, "2026-07-01", "2027-01-20 20:00", "2027-01-22 20:00"],
  "once a year": ["annual", "day 15 of the next month, 15:00", "2025-01-01", "2027-01-15 20:00", "2027-01-19 20:00"]
}

describe("ingest.freshness", () => {
  itLive("expects a value at the time of its report for the next period, and gives it two working days, or one", () =>
    Effect.gen(function* () {
      const metrics = Object.entries(schedules).map(([name, [frequency, publishes_on, last_observed_on]]) => [
        name,
        { feed: name, frequency, publishes_on, last_observed_on }
      ])
      const time = (column: string) => `strftime(${column}, '%Y-%m-%d %H:%M') as ${column}`
      const columns = `subject, ${time("expected_at")}, ${time("late_at")}`
      const rows = metricRows(Object.fromEntries(metrics), { "ingest.raw_file": [] })
      const found = yield* queryFreshness(columns, "2026-09-01", rows)
      assert.deepStrictEqual(
        Object.fromEntries(found.map(({ expected_at, late_at, subject }) => [subject, [expected_at, late_at]])),
        Object.fromEntries(
          Object.entries(schedules).map(([name, [_f, _p, _l, expected, late]]) => [name, [expected, late]])
        )
      )
    })
  )
})

describe("a metric", () => {
  // after Labor Day, 7 September, the report of Wednesday came on Thursday at 12:52
  const holidayWeek = { last_observed_on: "2026-08-29" }
  const overWeekend = {
    feed: "closes",
    frequency: "daily",
    publishes_on: ofWorkingDays,
    last_observed_on: "2026-09-10"
  }
  it.effect.each([
    ["2026-09-08 00:00", "fresh", "fresh"],
    ["2026-09-10 16:52", "fresh", "fresh"],
    ["2026-09-11 17:14:59.999999", "fresh", "fresh"],
    ["2026-09-11 17:15", "late", "fresh"],
    ["2026-09-13 23:59", "late", "fresh"], // a Sunday, two days after the close of Friday was expected
    ["2026-09-14 14:59:59.999999", "late", "fresh"],
    ["2026-09-14 15:00", "late", "late"]
  ] as const)("is late when the grace ends, also over holidays and weekends: %s", ([moment, survey, close]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* statesAt(moment, metricRows({ holidayWeek, overWeekend })), {
        holidayWeek: survey,
        overWeekend: close
      })
    })
  )
  const mostly = { printed: "sometimes", last_observed_on: "2026-07-04" }
  itLive("is late alone without its number, while the others of its report come", () =>
    Effect.gen(function* () {
      const behind = { last_observed_on: "2026-07-04" }
      const columns = "subject, newest_on::varchar as newest_on, state, why"
      const rows = metricRows({ behind, holidayWeek, mostly })
      const expectation =
        "The value of 2026-09-05 is expected by 2026-09-09 17:15 UTC, and late from 2026-09-11 17:15 UTC on."
      const since = "The report came without a number for it since 2026-07-04."
      assert.deepStrictEqual(yield* queryFreshness(columns, "2026-09-08", rows), [
        {
          subject: "behind",
          newest_on: "2026-07-04",
          state: "late",
          why: `The value of 2026-07-11 is expected by 2026-07-15 17:15 UTC, and late from 2026-07-17 17:15 UTC on. ${since}`
        },
        { subject: "holidayWeek", newest_on: "2026-08-29", state: "fresh", why: expectation },
        // a number that is printed only sometimes is as new as its report
        { subject: "mostly", newest_on: "2026-07-04", state: "fresh", why: `${expectation} ${since}` }
      ])
      assert.deepStrictEqual(yield* statesAt("2026-09-12", rows), {
        behind: "late",
        holidayWeek: "late",
        mostly: "late"
      })
    })
  )
  itLive("without any value is late if others of its feed have one, and not read if it is printed only sometimes", () =>
    Effect.gen(function* () {
      const empty = { last_observed_on: null, no_values_reason: "No row has a usable number." }
      const rows = metricRows({
        always: empty,
        holidayWeek,
        "of an empty feed": { ...empty, feed: "empty" },
        sometimes: { ...empty, printed: "sometimes" }
      })
      const found = yield* queryFreshness("subject, state, expected_at, late_at, why", "2026-09-08", rows)
      const nothing = { expected_at: null, late_at: null, why: "No row has a usable number." }
      assert.deepStrictEqual(
        found.filter(({ subject }) => subject !== "holidayWeek"),
        [
          { subject: "always", state: "late", ...nothing },
          { subject: "of an empty feed", state: "not_read", ...nothing },
          { subject: "sometimes", state: "not_read", ...nothing }
        ]
      )
    })
  )
  it.effect.each([
    ["weekly", "Wednesday of the next month, 13:15"],
    ["weekly", "Wednesday of the next week"],
    ["weekly", "day 5 of the next month, 13:15"],
    ["monthly", "day 31 of the next month, 13:15"],
    ["hourly", "every working day, 11:00"]
  ] as const)("is late if its schedule is not understood: %s, %s", ([frequency, publishes_on]) =>
    Effect.gen(function* () {
      const rows = metricRows({ value: { ...holidayWeek, frequency, publishes_on } })
      assert.deepStrictEqual(yield* queryFreshness("state, expected_at, late_at, why", "2026-08-30", rows), [
        {
          state: "late",
          expected_at: null,
          late_at: null,
          why: `When its next value is expected is unknown: ${publishes_on} is no schedule of ${frequency} values. Correct \`publishes_on\` in the catalog, and run commodities again.`
        }
      ])
    })
  )
  itLive("is ended after the last value of its series, alive with a later one, and late without that value", () =>
    Effect.gen(function* () {
      const ended = { last_observed_on: "2025-05-31", ended_on: "2025-05-31" }
      const resumed = { last_observed_on: "2025-06-07", ended_on: "2025-05-31" }
      const incomplete = { last_observed_on: "2025-03-01", ended_on: "2025-05-31" }
      const empty = { last_observed_on: null, ended_on: "2025-05-31" }
      const rows = metricRows({ empty, ended, incomplete, resumed })
      assert.deepStrictEqual(yield* statesAt("2025-06-08", rows), {
        empty: "late",
        ended: "ended",
        incomplete: "late",
        resumed: "fresh"
      })
      const columns = "why, expected_at, late_at"
      const found = yield* queryFreshness(columns, "2025-06-08", metricRows({ empty, ended, incomplete }))
      const nothing = { expected_at: null, late_at: null }
      assert.deepStrictEqual(found, [
        { why: "The series ended on 2025-05-31, but its values until then are missing.", ...nothing },
        { why: "The series ended on 2025-05-31.", ...nothing },
        { why: "The series ended on 2025-05-31, but its values until then are missing from 2025-03-02 on.", ...nothing }
      ])
    })
  )
  itLive("of the bundled samples is never late", () =>
    Effect.gen(function* () {
      const rows = metricRows({ holidayWeek }, { "ingest.data_set": [{ pipeline: "commodities", is_sample: true }] })
      assert.deepStrictEqual(yield* statesAt("2030-01-01", rows), { holidayWeek: "sample" })
    })
  )
  itLive(
    "is not read without any value of its feed, or while its feed is left out as a whole and it is not late yet",
    () =>
      Effect.gen(function* () {
        const metrics = Object.fromEntries(
          ["partial", "untrusted", "unreachable"].map((feed) => [feed, { ...holidayWeek, feed }])
        )
        const rows = metricRows(
          { ...metrics, unknown: { last_observed_on: null } },
          { "ingest.left_out": Object.keys(metrics).map((kind) => leftOut(1, "commodities", kind, kind)) }
        )
        const expected = { partial: "fresh", unknown: "not_read", unreachable: "not_read", untrusted: "not_read" }
        assert.deepStrictEqual(yield* statesAt("2026-09-08", rows), expected)
        const later = { ...expected, partial: "late", unreachable: "late", untrusted: "late" }
        assert.deepStrictEqual(yield* statesAt("2026-09-12", rows), later)
      })
  )
  itLive("says in words when it is expected, and what is left out", () =>
    Effect.gen(function* () {
      const why = (rows: Rows) => queryFreshness("left_out, why", "2026-09-08", rows)
      const expectation =
        "The value of 2026-09-05 is expected by 2026-09-09 17:15 UTC, and late from 2026-09-11 17:15 UTC on."
      assert.deepStrictEqual(yield* why(metricRows({ holidayWeek })), [{ left_out: null, why: expectation }])
      const missing = {
        "ingest.left_out": ["partial", "untrusted"].map((kind) => leftOut(1, "commodities", "report", kind))
      }
      assert.deepStrictEqual(yield* why(metricRows({ holidayWeek }, missing)), [
        {
          left_out: "untrusted",
          why: `${expectation} The last response was not trusted: untrusted reason`
        }
      ])
      const unknown = metricRows({
        unknown: { last_observed_on: null, no_values_reason: "No row has a usable number." }
      })
      assert.deepStrictEqual(yield* why(unknown), [{ left_out: null, why: "No row has a usable number." }])
    })
  )
})
