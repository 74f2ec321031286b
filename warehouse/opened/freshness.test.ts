/** When the next value or read is expected, when it is late, and what `ingest.freshness` says about it. */
import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { freshnessOf, type RowOf, type Rows } from "@larder/test/support/warehouse/freshness.ts"
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import { freshnessView } from "./freshness.ts"

const queryFreshness = freshnessOf()

const generation = (number: number) => `larder-${String(number).padStart(6, "0")}`

/** A live run of a pipeline; its number orders it. */
const aRun = (number: number, pipeline: string, finished_at: string, set: RowOf = {}) => ({
  run_id: `run-${number}`,
  pipeline,
  origin: "live",
  outcome: "published",
  started_at: finished_at,
  finished_at,
  recorded_in: generation(number),
  ...set
})
const payload = (number: number, pipeline: string, feed: string, url = "") => ({
  run_id: `run-${number}`,
  pipeline,
  feed,
  url,
  raw_sha256: `${feed} ${number}`
})
const leftOut = (number: number, pipeline: string, feed: string, kind: string) => ({
  run_id: `run-${number}`,
  pipeline,
  feed,
  kind,
  reason: `${kind}\n  reason`
})

const survey = { feed: "report", frequency: "weekly", publishes_on: "Wednesday of the next week, 13:15" }
/** Metrics by their names, of one report unless they name another feed. */
const prices = (metrics: Readonly<Record<string, RowOf>>, rows: Rows = {}): Rows => ({
  "ingest.data_set": [{ pipeline: "commodities", is_sample: false }],
  "commodity.metric": Object.entries(metrics).map(([metric_name, metric]) => ({ metric_name, ...survey, ...metric })),
  "ingest.run": [aRun(1, "commodities", "2026-09-01")],
  "ingest.raw_file": [payload(1, "commodities", "report")],
  ...rows
})

/** The state of each subject. */
const statesAt = (moment: string, rows: Rows) =>
  Effect.map(queryFreshness("subject, state", moment, rows), (found) =>
    Object.fromEntries(found.map(({ state, subject }) => [subject, state]))
  )

const friday = "2026-09-25"
const saturday = "2026-09-26"
const ofThursday = "Thursday of the same week, 12:30"
const ofWorkingDays = "every working day, 11:00"
const ofTwoMonths = "day 20 of the same month, 15:00, for January and July"
/** Frequency, schedule, day of the newest value, when the next one is expected and when it is late, in UTC. */
const schedules: Readonly<Record<string, readonly [string, string, string, string, string]>> = {
  "in summer, four hours behind UTC": ["weekly", survey.publishes_on, saturday, "2026-10-07 17:15", "2026-10-09 17:15"],
  "in winter, five hours behind UTC": [
    "weekly",
    survey.publishes_on,
    "2026-11-21",
    "2026-12-02 18:15",
    "2026-12-04 18:15"
  ],
  "over the end of a year": ["weekly", survey.publishes_on, "2026-12-19", "2026-12-30 18:15", "2027-01-01 18:15"],
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
      const rows = prices(Object.fromEntries(metrics), { "ingest.raw_file": [] })
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
      assert.deepStrictEqual(yield* statesAt(moment, prices({ holidayWeek, overWeekend })), {
        holidayWeek: survey,
        overWeekend: close
      })
    })
  )
  itLive("is as new as its report, even if that comes without a number for it, and says since when", () =>
    Effect.gen(function* () {
      const always = { last_observed_on: "2026-08-29" }
      const rare = { last_observed_on: "2026-07-04" }
      const never = { last_observed_on: null, no_values_reason: "No row has a usable number." }
      const columns = "subject, newest_on::varchar as newest_on, state, why"
      const found = yield* queryFreshness(columns, "2026-09-08", prices({ always, never, rare }))
      const expectation =
        "The value of 2026-09-05 is expected by 2026-09-09 17:15 UTC, and late from 2026-09-11 17:15 UTC on."
      assert.deepStrictEqual(found, [
        { subject: "always", newest_on: "2026-08-29", state: "fresh", why: expectation },
        { subject: "never", newest_on: null, state: "fresh", why: `${expectation} No row has a usable number.` },
        {
          subject: "rare",
          newest_on: "2026-07-04",
          state: "fresh",
          why: `${expectation} The report came without a number for it since 2026-07-04.`
        }
      ])
      const late = { always: "late", never: "late", rare: "late" }
      assert.deepStrictEqual(yield* statesAt("2026-09-12", prices({ always, never, rare })), late)
    })
  )
  itLive("is ended after the last value of its series, alive with a later one, and late without that value", () =>
    Effect.gen(function* () {
      const ended = { last_observed_on: "2025-05-31", ended_on: "2025-05-31" }
      const resumed = { last_observed_on: "2025-06-07", ended_on: "2025-05-31" }
      const incomplete = { last_observed_on: "2025-03-01", ended_on: "2025-05-31" }
      const empty = { last_observed_on: null, ended_on: "2025-05-31" }
      const rows = prices({ empty, ended, incomplete, resumed })
      assert.deepStrictEqual(yield* statesAt("2025-06-08", rows), {
        empty: "late",
        ended: "ended",
        incomplete: "late",
        resumed: "fresh"
      })
      const columns = "why, expected_at, late_at"
      const found = yield* queryFreshness(columns, "2025-06-08", prices({ empty, ended, incomplete }))
      const nothing = { expected_at: null, late_at: null }
      assert.deepStrictEqual(found, [
        { why: "The series ended on 2025-05-31, but its values until then are missing.", ...nothing },
        { why: "The series ended on 2025-05-31.", ...nothing },
        { why: "The series ended on 2025-05-31, but its values until then are missing from 2025-03-02 on.", ...nothing }
      ])
    })
  )
  itLive("has its section of final values beside it, which can be left out alone", () =>
    Effect.gen(function* () {
      const rows = prices(
        { holidayWeek },
        {
          "ingest.raw_file": ["report", "report/final"].map((feed) => payload(1, "commodities", feed)),
          "ingest.left_out": ["report/final", "report/never read"].map((feed) =>
            leftOut(1, "commodities", feed, "untrusted")
          )
        }
      )
      const columns = "kind, subject, left_out, state"
      assert.deepStrictEqual(yield* queryFreshness(columns, "2026-09-08", rows), [
        { kind: "feed", subject: "report/final", left_out: "untrusted", state: "not_read" },
        { kind: "feed", subject: "report/never read", left_out: "untrusted", state: "not_read" },
        { kind: "metric", subject: "holidayWeek", left_out: null, state: "fresh" }
      ])
      const read = { ...rows, "ingest.left_out": [] }
      assert.deepStrictEqual(yield* statesAt("2026-09-08", read), { holidayWeek: "fresh", "report/final": "fresh" })
      assert.deepStrictEqual(yield* statesAt("2026-09-15", read), { holidayWeek: "late", "report/final": "late" })
    })
  )
  itLive("of the bundled samples is never late", () =>
    Effect.gen(function* () {
      const rows = prices({ holidayWeek }, { "ingest.data_set": [{ pipeline: "commodities", is_sample: true }] })
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
        const rows = prices(
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
      assert.deepStrictEqual(yield* why(prices({ holidayWeek })), [{ left_out: null, why: expectation }])
      const missing = {
        "ingest.left_out": ["partial", "untrusted"].map((kind) => leftOut(1, "commodities", "report", kind))
      }
      assert.deepStrictEqual(yield* why(prices({ holidayWeek }, missing)), [
        {
          left_out: "untrusted",
          why: `${expectation} The last response was not trusted: untrusted reason`
        }
      ])
      const unknown = prices({ unknown: { last_observed_on: null, no_values_reason: "No row has a usable number." } })
      assert.deepStrictEqual(yield* why(unknown), [{ left_out: null, why: "No row has a usable number." }])
    })
  )
})

describe("the last complete read of a feed", () => {
  const runs = (...sets: ReadonlyArray<RowOf>) => ({
    "ingest.run": [
      aRun(1, "commodities", "2026-09-01"),
      ...sets.map((set, index) => aRun(index + 2, "commodities", `2026-09-0${index + 2}`, set))
    ]
  })
  const value = { value: { last_observed_on: "2026-08-29" } }
  it.effect.each<readonly [string, Rows, string | null]>([
    ["is that of a live run that found the same payload", prices(value, runs({ outcome: "unchanged" })), "2026-09-02"],
    [
      "is not that of a run that left it out",
      prices(value, {
        ...runs({ outcome: "partial" }, { outcome: "partial" }),
        "ingest.left_out": [leftOut(3, "commodities", "report", "untrusted")]
      }),
      "2026-09-02"
    ],
    [
      "is that of a run that rejected some of its rows",
      prices(value, {
        ...runs({ outcome: "partial" }),
        "ingest.left_out": [leftOut(2, "commodities", "report", "partial")]
      }),
      "2026-09-02"
    ],
    ["is not that of a run of some days", prices(value, runs({ window_from: "2026-01-01" })), "2026-09-01"],
    ["is not that of a failed run", prices(value, runs({ outcome: "failed" })), "2026-09-01"],
    [
      "is not that of a run that was rolled back",
      prices(value, runs({ rolled_back_by: "larder-000009" })),
      "2026-09-01"
    ],
    ["is not that of a recording without it", prices(value, runs({ origin: "replay" })), "2026-09-01"],
    [
      "is that of a recording with it",
      prices(value, {
        ...runs({ origin: "replay" }),
        "ingest.raw_file": [payload(1, "commodities", "report"), payload(2, "commodities", "report")]
      }),
      "2026-09-02"
    ],
    [
      "is not that of a run before the feed was known",
      prices(value, {
        ...runs({ outcome: "partial" }),
        "ingest.raw_file": [payload(2, "commodities", "report")],
        "ingest.left_out": [leftOut(2, "commodities", "report", "unreachable")]
      }),
      null
    ]
  ])("%s", ([_, rows, expected]) =>
    Effect.gen(function* () {
      const columns = "last_complete_read_at::date::varchar as day"
      assert.deepStrictEqual(yield* queryFreshness(columns, "2026-09-08", rows), [{ day: expected }])
    })
  )
})

describe("a release form", () => {
  const json = "gov-fdc/json"
  const release = "https://fdc.example/FoodData_Central_branded_food_json_2026-04-30.zip"
  const labels = (rows: Rows = {}): Rows => ({
    "ingest.data_set": [{ pipeline: "branded-foods", is_sample: false }],
    "ingest.run": [aRun(1, "branded-foods", "2026-09-01 12:00")],
    "ingest.raw_file": [payload(1, "branded-foods", json, release)],
    ...rows
  })
  itLive("is late from fourteen days after its last complete read on, or if the clock of that read was ahead", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* statesAt("2026-09-15 11:59:59.999999", labels()), { [json]: "fresh" })
      assert.deepStrictEqual(yield* statesAt("2026-09-15 12:00", labels()), { [json]: "late" })
      assert.deepStrictEqual(yield* statesAt("2026-08-01", labels()), { [json]: "late" })
    })
  )
  itLive("is judged alone, and not read if it never was", () =>
    Effect.gen(function* () {
      const rows = labels({ "ingest.left_out": [leftOut(1, "branded-foods", "gov-fdc/csv", "unreachable")] })
      assert.deepStrictEqual(yield* statesAt("2026-09-02", rows), { "gov-fdc/csv": "not_read", [json]: "fresh" })
    })
  )
  itLive("has the day of its release, and is expected again after a week", () =>
    Effect.gen(function* () {
      const columns = "kind, newest_on::varchar as newest_on, expected_at::varchar as expected_at"
      assert.deepStrictEqual(yield* queryFreshness(columns, "2026-09-02", labels()), [
        { kind: "release_form", newest_on: "2026-04-30", expected_at: "2026-09-08 12:00:00" }
      ])
    })
  )
})

describe("a store", () => {
  const statuses: Readonly<Record<string, string>> = { complete: "complete", locked: "failed" }
  const read = (number: number, store: string, read_at: string, outcome = "complete") => ({
    run_id: `run-${number}`,
    store_id: store,
    feed: `store/${store}`,
    read_at,
    outcome,
    fetch_status: statuses[outcome] ?? "partial"
  })
  const rows: Rows = {
    "ingest.data_set": [{ pipeline: "storefronts", is_sample: false }],
    "ingest.run": [1, 2].map((number) => aRun(number, "storefronts", "2026-09-01")),
    "ingest.store_read": [
      read(1, "changed", "2026-09-01 12:00"),
      read(1, "unchanged", "2026-08-29 12:00"),
      read(2, "unchanged", "2026-09-01 12:00"),
      read(1, "unchanged for a month", "2026-08-01 12:00"),
      read(2, "unchanged for a month", "2026-09-01 12:00"),
      read(1, "rejected", "2026-08-01 12:00"),
      read(2, "rejected", "2026-09-01 12:00", "rejected"),
      read(1, "broken off since", "2026-09-01 12:00"),
      read(2, "broken off since", "2026-09-02 12:00", "broken_off"),
      read(1, "locked since", "2026-09-01 12:00"),
      read(2, "locked since", "2026-09-02 12:00", "locked"),
      read(1, "always locked", "2026-09-01 12:00", "locked")
    ],
    "ingest.left_out": ["locked since", "broken off since"].map((store) =>
      leftOut(2, "storefronts", `store/${store}`, store.startsWith("locked") ? "unreachable" : "partial")
    ),
    "storefront.variant_change": [
      ...["changed", "rejected", "broken off since", "locked since"].map((store) => [store, "2026-09-01 12:00"]),
      ["unchanged", "2026-08-29 12:00"],
      ["unchanged for a month", "2026-08-01 12:00"]
    ].map(([store_id = "", seen_at = ""]) => ({ store_id, seen_at }))
  }
  const early = {
    "always locked": "not_read",
    "broken off since": "fresh",
    changed: "fresh",
    "locked since": "not_read",
    rejected: "fresh",
    unchanged: "fresh",
    "unchanged for a month": "fresh"
  }
  const late = { ...early, "broken off since": "late", changed: "late", "locked since": "late", rejected: "late" }
  it.effect.each([
    ["2026-09-03 11:59:59.999999", early],
    // twice a day after the last complete read
    ["2026-09-03 12:00", late],
    // twice the three days without a change
    ["2026-09-07 11:59:59.999999", late],
    ["2026-09-07 12:00", { ...late, unchanged: "late" }],
    // twice the longest interval
    ["2026-09-15 11:59:59.999999", { ...late, unchanged: "late" }],
    ["2026-09-15 12:00", { ...late, unchanged: "late", "unchanged for a month": "late" }]
  ] as const)("is late from twice its interval after its last complete read on: %s", ([moment, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* statesAt(moment, rows), expected)
    })
  )
  itLive("has ended if the newest live run did not request it although it was due: it was taken off the list", () =>
    Effect.gen(function* () {
      const later = (begun: string, set: RowOf = {}): Rows => ({
        ...rows,
        "ingest.run": [...(rows["ingest.run"] ?? []), aRun(3, "storefronts", begun, set)]
      })
      const statesAfter = (added: Rows) => statesAt("2026-09-20", added)
      const allLate = Object.fromEntries(Object.keys(early).map((store) => [store, "late"]))
      const before = { ...allLate, "always locked": "not_read" }
      assert.deepStrictEqual(yield* statesAfter(later("2026-09-02 12:00")), before)
      assert.deepStrictEqual(yield* statesAfter(later("2026-09-11", { origin: "replay" })), before)
      // stores that failed, and those that did not change for long, are not due yet
      const threeDays = { ...before, changed: "ended", rejected: "ended" }
      assert.deepStrictEqual(yield* statesAfter(later("2026-09-04 12:00")), threeDays)
      assert.deepStrictEqual(
        yield* statesAfter(later("2026-09-10 12:00")),
        Object.fromEntries(Object.keys(early).map((store) => [store, "ended"]))
      )
      const requested = {
        ...later("2026-09-04 12:00"),
        "ingest.left_out": [leftOut(3, "storefronts", "store/changed", "unreachable")]
      }
      assert.deepStrictEqual(yield* statesAfter(requested), { ...threeDays, changed: "late" })
      const why = yield* queryFreshness("subject, why, late_at", "2026-09-20", later("2026-09-04 12:00"))
      assert.deepStrictEqual(
        why.find(({ subject }) => subject === "changed"),
        {
          subject: "changed",
          why: "The run of 2026-09-04 12:00 UTC did not request it, although it was due: it is no longer on the list of stores, or LARDER_STORE_MAX_INTERVAL is longer than seven days.",
          late_at: null
        }
      )
    })
  )
})

describe("a data set", () => {
  itLive("that was never published is not loaded", () =>
    Effect.gen(function* () {
      const rows = yield* queryFreshness("kind, subject, state", "2026-09-01", {}, [])
      assert.deepStrictEqual(
        rows,
        dataSets
          .map(({ about: { pipeline } }) => ({ kind: "data_set", subject: pipeline, state: "not_loaded" }))
          .sort((a, b) => (a.subject < b.subject ? -1 : 1))
      )
    })
  )
  itLive("can be missing beside any other", () =>
    Effect.gen(function* () {
      for (const missing of dataSets) {
        const loaded = dataSets.filter((dataSet) => dataSet !== missing)
        assert.lengthOf(yield* queryFreshness("state", "2026-09-01", {}, loaded), dataSets.length)
      }
    })
  )
  itLive("is judged by the time of the query, in UTC", () =>
    Effect.sync(() => {
      assert.lengthOf(freshnessView(dataSets).ddl.match(/\bnow\(\)/g) ?? [], 1)
      assert.include(freshnessView(dataSets).ddl, "make_timestamp(epoch_us(now()))")
    })
  )
})
