import { assert, describe, it } from "@effect/vitest"
import type { KnownPayload } from "./earlier-runs.ts"
import { isReadAlready } from "./read-feed.ts"

const butter = { feed: "butter", mapping_sha256: "current" }
const raw = { sha256: "a" }
const september = { from: "2026-09-01", to: "2026-09-30" }

const aPayload = (difference: Partial<KnownPayload> = {}): KnownPayload => ({
  raw_sha256: "a",
  ...butter,
  window_from: null,
  window_to: null,
  rows_read: 9,
  rows_rejected: 1,
  rows_stated: 9,
  ...difference
})
const ofSeptember = aPayload({ window_from: september.from, window_to: september.to })

describe("a payload with the bytes of an earlier one", () => {
  it.each([
    ["all its rows were read", aPayload(), undefined, true],
    ["all its rows were read, and the run is of some days", aPayload(), september, true],
    ["it does not state how many rows it has", aPayload({ rows_stated: null }), undefined, true],
    ["rows of the same days were read", ofSeptember, september, true],
    ["rows of some days were read, and the run is of all", ofSeptember, undefined, false],
    ["rows of other days were read", ofSeptember, { ...september, to: "2026-10-01" }, false],
    ["it has fewer rows than it states", aPayload({ rows_stated: 10 }), undefined, false],
    ["it was read with another mapping", aPayload({ mapping_sha256: "older" }), undefined, false],
    ["it was read for another feed", aPayload({ feed: "milk" }), undefined, false],
    ["it had no row", aPayload({ rows_read: 0, rows_stated: 0 }), undefined, false]
  ] as const)("is read only if needed: %s", (_, payload, days, expected) => {
    assert.strictEqual(isReadAlready(payload, butter, raw, days), expected)
  })
})
