/** How `ingest.freshness` judges the final values of a report that prints provisional ones before them. */
import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import {
  freshnessOf,
  leftOut,
  metricRows,
  payload,
  type RowOf,
  type Rows
} from "@larder/test/support/warehouse/freshness.ts"
import { Effect } from "effect"

const { queryFreshness } = freshnessOf()

describe("final values", () => {
  const survey = {
    last_observed_on: "2026-09-26",
    final_feed: "report/final",
    final_publishes_on: "Wednesday of the week 5 weeks later, 13:15"
  }
  const finalValue = (observed_on: string, revision_status = "final"): RowOf => ({
    metric_name: "survey",
    observed_on,
    value: 1,
    revision_status
  })
  const rows = (metric: RowOf, values: ReadonlyArray<RowOf>, set: Rows = {}) =>
    metricRows(
      { survey: metric },
      {
        "commodity.observation_version": values,
        "ingest.raw_file": ["report", "report/final"].map((feed) => payload(1, "commodities", feed)),
        ...set
      }
    )
  const judge = (moment: string, all: Rows) =>
    Effect.map(
      queryFreshness("kind, subject, feed, newest_on::varchar as newest_on, state, left_out, why", moment, all),
      (found) => found.filter(({ kind }) => kind === "final_values")
    )
  const newest = [finalValue("2026-08-22"), finalValue("2026-09-26", "provisional")]
  const expectation =
    "The final value of 2026-08-29 is expected by 2026-09-30 17:15 UTC, and late from 2026-10-02 17:15 UTC on."
  const judged = { kind: "final_values", subject: "survey", feed: "report/final", left_out: null }

  it.effect.each([
    ["2026-10-02 17:14:59.999999", "fresh"],
    ["2026-10-02 17:15", "late"]
  ] as const)("are late by their own schedule and newest day, beside provisional values: %s", ([moment, state]) =>
    Effect.gen(function* () {
      const expected = [{ ...judged, newest_on: "2026-08-22", state, why: expectation }]
      assert.deepStrictEqual(yield* judge(moment, rows(survey, newest)), expected)
    })
  )
  itLive("can be left out alone", () =>
    Effect.gen(function* () {
      const untrusted = leftOut(1, "commodities", "report/final", "untrusted")
      const all = rows(survey, newest, { "ingest.left_out": [untrusted] })
      const why = `${expectation} The last response was not trusted: untrusted reason`
      assert.deepStrictEqual(yield* judge("2026-10-01", all), [
        { ...judged, newest_on: "2026-08-22", state: "not_read", left_out: "untrusted", why }
      ])
      assert.deepStrictEqual(yield* queryFreshness("state", "2026-10-01", all), [
        { state: "not_read" },
        { state: "fresh" }
      ])
    })
  )
  itLive("are not read until there is one", () =>
    Effect.gen(function* () {
      const why = "No final value was read from report/final."
      assert.deepStrictEqual(yield* judge("2026-10-01", rows(survey, [])), [
        { ...judged, newest_on: null, state: "not_read", why }
      ])
    })
  )
  itLive("end with their metric, whose last values never become final", () =>
    Effect.gen(function* () {
      const ended = rows({ ...survey, ended_on: "2026-09-26" }, newest)
      assert.deepStrictEqual(yield* judge("2027-10-01", ended), [
        { ...judged, newest_on: "2026-08-22", state: "ended", why: "The series ended on 2026-09-26." }
      ])
      const resumed = rows({ ...survey, ended_on: "2026-09-19" }, newest)
      assert.deepStrictEqual(yield* judge("2027-10-01", resumed), [
        { ...judged, newest_on: "2026-08-22", state: "late", why: expectation }
      ])
    })
  )
})
