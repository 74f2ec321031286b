import { assert, describe, it } from "@effect/vitest"
import { ageText, bytesText, durationText, monthWithAge } from "./pieces.ts"

const now = Date.parse("2026-11-22T00:05:00.000Z")

describe("ages", () => {
  it.each([
    ["2026-11-22", "today"],
    ["2026-11-21", "yesterday"],
    ["2026-11-20", "2 days ago"],
    ["2026-12-01", "in 9 days"],
    ["2026-11-22T00:04:30.000Z", "this minute"],
    ["2026-11-21T23:06:00.000Z", "59 minutes ago"],
    ["2026-11-21T12:00:00.000Z", "12 hours ago"],
    ["2026-11-21T00:05:00.000Z", "yesterday"],
    ["2026-11-20T00:30:00.000Z", "2 days ago"],
    ["2026-11-22T00:06:00.000Z", "this minute"]
  ])("writes the age of %s as: %s", (iso, expected) => {
    assert.strictEqual(ageText(iso, now), expected)
  })
})

describe("ages of months", () => {
  it.each([
    ["2026-11-01", "this month"],
    ["2026-10-31", "last month"],
    ["2025-12-01", "11 months ago"],
    ["2026-12-01", "next month"]
  ])("writes the month of %s as: %s", async (iso, expected) => {
    assert.include(String(await monthWithAge(iso, now)), `>${expected}<`)
  })
})

const at = (seconds: number) => new Date(now + seconds * 1000).toISOString()

describe("sizes and durations, rounded", () => {
  it.each([
    [0, "0 bytes"],
    [999, "999 bytes"],
    [1_234, "1.2 kB"],
    [9_949, "9.9 kB"],
    [9_999, "10 kB"],
    [999_499, "999 kB"],
    [999_999, "1.0 MB"],
    [2_500_000_000_000_000, "2500 TB"]
  ])("writes %i bytes as %s", (bytes, expected) => {
    assert.strictEqual(bytesText(bytes), expected)
  })
  it.each([
    [0.4, "0 s"],
    [59.4, "59 s"],
    [59.7, "1 min 0 s"],
    [119.6, "2 min 0 s"],
    [185, "3 min 5 s"]
  ])("writes %d seconds as %s", (seconds, expected) => {
    assert.strictEqual(durationText({ started_at: at(0), finished_at: at(seconds) }), expected)
  })
})
