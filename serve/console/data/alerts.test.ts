import { assert, describe, it } from "@effect/vitest"
import { aRun } from "@larder/test/support/warehouse/example-data-set.ts"
import { listAlerts } from "./alerts.ts"
import type { DataSetState } from "./data-sets.ts"

const now = Date.parse("2026-11-22T12:00:00.000Z")
const aRead = (finished_at: string, origin: "live" | "sample" = "live") => ({
  ...aRun({ finished_at, origin }),
  recorded_in: "larder-000001",
  rebuilt_in: null,
  rolled_back_by: null,
  has_read: true
})

const commodities = (changes: Partial<DataSetState>): DataSetState => {
  const last_read = changes.last_read ?? aRead("2026-11-22T02:00:00.000Z")
  return {
    title: "Commodities",
    pipeline: "commodities",
    isLoaded: true,
    contents: [],
    newest: [],
    late_after_days: 2,
    last_read,
    last_run: last_read,
    ...changes
  }
}
const daily = (date: string | null) => [{ what: "daily reading", date, late_after: 5 }]
const listTexts = async (state: DataSetState, unserved: ReadonlySet<string> = new Set()) => {
  const sentences = await Promise.all(listAlerts([state], unserved, [], now).map(async (alert) => String(await alert)))
  return sentences.map((sentence) => sentence.replaceAll(/<[^>]+>/g, ""))
}

describe("alerts about freshness", () => {
  it("reports nothing while the newest reading is not yet late", async () => {
    assert.deepStrictEqual(await listTexts(commodities({ newest: daily("2026-11-18") })), [])
  })
  it("names the newest reading once it is late", async () => {
    assert.deepStrictEqual(await listTexts(commodities({ newest: daily("2026-11-17") })), [
      "The newest daily reading of Commodities is from 17 Nov 2026. That is late: it should be less than 5 days old."
    ])
  })
  it("names the month of a late monthly reading", async () => {
    const monthly = { what: "monthly reading", isMonth: true, date: "2026-10-01", late_after: 45 }
    assert.deepStrictEqual(await listTexts(commodities({ newest: [monthly] })), [
      "The newest monthly reading of Commodities is from October 2026. That is late: it should be less than 45 days old."
    ])
  })
  it("reports a complete read that is two days old, for example after a stopped nightly job", async () => {
    const stopped = commodities({ newest: daily("2026-11-20"), last_read: aRead("2026-11-20T02:00:00.000Z") })
    assert.deepStrictEqual(await listTexts(stopped), [
      "The last read of Commodities ended on 20 Nov 2026. That is late: larder-ingest should read it every day."
    ])
  })
  it("reports a read with a date far in the future", async () => {
    assert.deepStrictEqual(await listTexts(commodities({ last_read: aRead("2027-11-20T02:00:00.000Z") })), [
      "The last read of Commodities ended on 20 Nov 2027. That is late: larder-ingest should read it every day."
    ])
  })
  it("reports nothing before the first reading, or if the next date is unknown", async () => {
    const release = { what: "release", date: "2026-04-30", late_after: null }
    assert.deepStrictEqual(await listTexts(commodities({ newest: [...daily(null), release] })), [])
  })
  it("reports nothing for the bundled samples, which are never updated", async () => {
    const samples = commodities({ newest: daily("2026-09-29"), last_read: aRead("2026-10-01T02:00:00.000Z", "sample") })
    assert.deepStrictEqual(await listTexts(samples), [])
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
