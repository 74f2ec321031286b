import { assert, describe, it } from "@effect/vitest"
import { parseTypedTimestamp } from "./typed-timestamp.ts"

describe("a typed timestamp", () => {
  it.each([
    "2027-01-31T00:00:00Z",
    "2027-01-31T00:00Z",
    "2027-01-31 00:00",
    "2027-01-31 00:00:00",
    "2027-01-31 00:00 UTC"
  ])("is read in UTC: %s", (text) => {
    assert.strictEqual(parseTypedTimestamp(text), "2027-01-31T00:00:00.000Z")
  })
  it.each(["", "2027-01-31", "2027-02-30T00:00:00Z", "2027-01-31T24:00:00Z", "2027-01-31T00:00:00+01:00", "tomorrow"])(
    "is refused if it is invalid or has a different time zone: %s",
    (text) => {
      assert.isUndefined(parseTypedTimestamp(text))
    }
  )
})
