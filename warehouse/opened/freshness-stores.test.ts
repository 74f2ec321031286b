/** When a store is due, when it is late, and when it has ended. */
import { assert, describe, it } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { aRun, freshnessOf, leftOut, type RowOf, type Rows } from "@larder/test/support/warehouse/freshness.ts"
import { Effect } from "effect"

const { queryFreshness, statesAt } = freshnessOf()

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
  describe("that its list no longer has", () => {
    /** A third run: the stores that it read, and left out. */
    const thirdRun = (begun: string, stores: ReadonlyArray<string>, set: RowOf = {}): Rows => ({
      ...rows,
      "ingest.run": [...(rows["ingest.run"] ?? []), aRun(3, "storefronts", begun, set)],
      "ingest.store_read": [...(rows["ingest.store_read"] ?? []), ...stores.map((store) => read(3, store, begun))]
    })
    const statesAfter = (added: Rows) => statesAt("2026-10-20", added)
    const allLate = Object.fromEntries(Object.keys(early).map((store) => [store, "late"]))
    const before = { ...allLate, "always locked": "not_read" }

    itLive("has ended when a run requests others of the list, although it is late", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* statesAfter(thirdRun("2026-09-03 12:00", ["rejected"])), before)
        // stores that failed, and those that did not change for long, are not due yet
        const fourDays = { ...before, changed: "ended" }
        assert.deepStrictEqual(yield* statesAfter(thirdRun("2026-09-05 12:00", ["rejected"])), fourDays)
        assert.deepStrictEqual(yield* statesAfter(thirdRun("2026-09-16 12:00", ["rejected"])), {
          ...Object.fromEntries(Object.keys(early).map((store) => [store, "ended"])),
          rejected: "late"
        })
        const why = yield* queryFreshness(
          "subject, why, late_at",
          "2026-10-20",
          thirdRun("2026-09-05 12:00", ["rejected"])
        )
        assert.deepStrictEqual(
          why.find(({ subject }) => subject === "changed"),
          {
            subject: "changed",
            why: "It is no longer on the list of stores: the run of 2026-09-05 12:00 UTC requested others of that list, but not this one.",
            late_at: null
          }
        )
      })
    )
    itLive("lacks nothing any more when it has ended: no run will read what its last one left out", () =>
      Effect.gen(function* () {
        const added = thirdRun("2026-09-16 12:00", ["rejected"])
        const found = yield* queryFreshness("subject, left_out, why", "2026-10-20", added)
        for (const subject of ["broken off since", "locked since"]) {
          const row = found.find((store) => store.subject === subject)
          assert.isNull(row?.left_out)
          assert.match(String(row?.why), /requested others of that list, but not this one\.$/)
        }
      })
    )
    itLive("has not ended by a run over another list, by a recording, or by a run that had no time for it", () =>
      Effect.gen(function* () {
        const other = yield* statesAfter(thirdRun("2026-09-16 12:00", ["of another list"]))
        assert.deepStrictEqual(other, { ...before, "of another list": "late" })
        const replayed = thirdRun("2026-09-16 12:00", ["rejected"], { origin: "replay" })
        assert.deepStrictEqual(yield* statesAfter(replayed), before)
        const noTime = {
          ...thirdRun("2026-09-05 12:00", ["rejected"]),
          "ingest.left_out": [leftOut(3, "storefronts", "store/changed", "unreachable")]
        }
        assert.deepStrictEqual(yield* statesAfter(noTime), before)
      })
    )
  })
  itLive("waits as long as the settings of its last run allow, and at least a day", () =>
    Effect.gen(function* () {
      const unchanged = { read_at: "2026-09-01 12:00", due_from: "2026-09-01", due_by: "2026-10-01" }
      const reads: Readonly<Record<string, RowOf>> = {
        "for a month": unchanged,
        "not before four days": { ...unchanged, first: "2026-09-01", due_from: "2026-09-05 12:00" },
        "in every run": { ...unchanged, due_by: "2026-09-01" }
      }
      const found = yield* queryFreshness(
        "subject, expected_at::varchar as expected, late_at::varchar as late",
        "2026-09-01",
        {
          ...rows,
          "storefront.variant_change": [],
          "ingest.store_read": Object.entries(reads).flatMap(([store, { first = "2026-01-01", ...last }]) => [
            read(1, store, String(first)),
            { ...read(2, store, ""), ...last }
          ])
        }
      )
      assert.deepStrictEqual(found, [
        { subject: "for a month", expected: "2026-10-01 00:00:00", late: "2026-10-30 12:00:00" },
        { subject: "in every run", expected: "2026-09-02 12:00:00", late: "2026-09-03 12:00:00" },
        { subject: "not before four days", expected: "2026-09-05 12:00:00", late: "2026-09-09 12:00:00" }
      ])
    })
  )
})
