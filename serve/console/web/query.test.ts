import { assert, describe, it } from "@effect/vitest"
import { readNextPath } from "./query.ts"

describe("the redirect after signing in", () => {
  it.each([
    ["/usage?from=2026-01-01", "/usage?from=2026-01-01"],
    ["/keys#x", "/keys"],
    [null, "/"],
    ["", "/"],
    ["keys", "/"],
    ["//evil.example/a", "/"],
    ["/\\evil.example", "/"],
    ["/\t/evil.example", "/"],
    ["/a/..//evil.example", "/"],
    ["https://evil.example", "/"]
  ])("leads to a path of the console only: %j becomes %j", (next, path) => {
    assert.strictEqual(readNextPath(next), path)
  })
})
