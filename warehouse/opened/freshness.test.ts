/** What `ingest.freshness` says about reads, releases and whole data sets. Metrics and stores have files of their own. */
import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  aRun,
  freshnessOf,
  leftOut,
  metricRows,
  payload,
  type RowOf,
  type Rows
} from "@larder/test/support/warehouse/freshness.ts"
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import { freshnessView } from "./freshness.ts"

const { queryFreshness, statesAt } = freshnessOf()

describe("a feed of commodities without a metric", () => {
  itLive("is judged by its reads, and not read if it never was", () =>
    Effect.gen(function* () {
      const rows = metricRows(
        { value: { last_observed_on: "2026-08-29" } },
        {
          "ingest.raw_file": ["report", "report/other"].map((feed) => payload(1, "commodities", feed)),
          "ingest.left_out": [leftOut(1, "commodities", "report/never read", "untrusted")]
        }
      )
      const feeds = { "report/never read": "not_read", "report/other": "fresh" }
      assert.deepStrictEqual(yield* statesAt("2026-09-08", rows), { ...feeds, value: "fresh" })
      const later = { ...feeds, "report/other": "late", value: "late" }
      assert.deepStrictEqual(yield* statesAt("2026-09-15", rows), later)
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
    [
      "is that of a live run that found the same payload",
      metricRows(value, runs({ outcome: "unchanged" })),
      "2026-09-02"
    ],
    [
      "is not that of a run that left it out",
      metricRows(value, {
        ...runs({ outcome: "partial" }, { outcome: "partial" }),
        "ingest.left_out": [leftOut(3, "commodities", "report", "untrusted")]
      }),
      "2026-09-02"
    ],
    [
      "is that of a run that rejected some of its rows",
      metricRows(value, {
        ...runs({ outcome: "partial" }),
        "ingest.left_out": [leftOut(2, "commodities", "report", "partial")]
      }),
      "2026-09-02"
    ],
    ["is not that of a run of some days", metricRows(value, runs({ window_from: "2026-01-01" })), "2026-09-01"],
    ["is not that of a failed run", metricRows(value, runs({ outcome: "failed" })), "2026-09-01"],
    [
      "is not that of a run that was rolled back",
      metricRows(value, runs({ rolled_back_by: "larder-000009" })),
      "2026-09-01"
    ],
    ["is not that of a recording without it", metricRows(value, runs({ origin: "replay" })), "2026-09-01"],
    [
      "is that of a recording with it",
      metricRows(value, {
        ...runs({ origin: "replay" }),
        "ingest.raw_file": [payload(1, "commodities", "report"), payload(2, "commodities", "report")]
      }),
      "2026-09-02"
    ],
    [
      "is not that of a run before the feed was known",
      metricRows(value, {
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
