import { assert, describe, it } from "@effect/vitest"
import { aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import type { FreshnessRow } from "@larder/warehouse"
import type { WarehouseState } from "../../monitoring/index.ts"
import { listAlerts } from "./alerts.ts"
import type { DataSetState } from "./data-sets.ts"
import { lateAlerts } from "./freshness.ts"

const commodities = (changes: Partial<DataSetState>): DataSetState => {
  const last_run = { ...aRun({ origin: "live" }), recorded_in: "larder-000001", rebuilt_in: null, rolled_back_by: null }
  return {
    title: "Commodities",
    pipeline: "commodities",
    isLoaded: true,
    contents: [],
    newest: [],
    freshness: [],
    last_started_at: last_run.started_at,
    last_run,
    last_success: last_run,
    ...changes
  }
}
const toText = async (alert: Promise<unknown> | unknown) => String(await alert).replaceAll(/<[^>]+>/g, "")
const listTexts = (state: DataSetState, unserved: ReadonlySet<string> = new Set()) =>
  Promise.all(listAlerts([state], unserved, []).map(toText))

const row = (kind: FreshnessRow["kind"], state: FreshnessRow["state"], pipeline = "commodities"): FreshnessRow => ({
  pipeline,
  kind,
  subject: kind,
  feed: null,
  newest_on: null,
  last_complete_read_at: null,
  expected_at: null,
  late_at: null,
  left_out: null,
  state,
  why: ""
})
const warehouse = (freshness: ReadonlyArray<FreshnessRow>, fault?: string): WarehouseState => ({
  read_at: "2026-11-22T02:00:00.000Z",
  freshness,
  pipelines: [],
  left_out: [],
  fault,
  failures: 0
})

describe("alerts about freshness", () => {
  it("count what is late of each kind, and nothing else", async () => {
    const states = ["fresh", "ended", "sample", "not_read", "not_loaded"] as const
    const rows = [
      row("metric", "late"),
      row("metric", "late"),
      row("release_form", "late", "branded-foods"),
      ...states.map((state) => row("metric", state))
    ]
    assert.deepStrictEqual(await Promise.all(lateAlerts(warehouse(rows)).map(toText)), [
      "2 metrics of Commodities are late. See what is late",
      "1 release form of Branded foods is late. See what is late"
    ])
  })
  it("say that freshness could not be read, and since when", async () => {
    assert.deepStrictEqual(await Promise.all(lateAlerts(warehouse([], "the disk is away")).map(toText)), [
      "What is late is unknown since 22 Nov 2026, 02:00:00\u00A0UTC: ingest.freshness could not be read. See the server's log for the reason."
    ])
  })
})

describe("alerts about what is served", () => {
  it("reports newer data that cannot be served, and whether older data is served", async () => {
    const unserved = new Set(["commodities"])
    assert.deepStrictEqual(await listTexts(commodities({}), unserved), [
      "The newest data of Commodities cannot be served; older data is served instead. See the server's log for the reason."
    ])
    assert.deepStrictEqual(await listTexts(commodities({ isLoaded: false }), unserved), [
      "The newest data of Commodities cannot be served. See the server's log for the reason."
    ])
  })
})
