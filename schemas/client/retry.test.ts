import { assert, describe, it } from "@effect/vitest"
import { longestWait, pause, retryAfterOf, waitAfter } from "./retry.ts"

const never = () => 0
const always = () => 1

describe("the wait before a retry", () => {
  it("doubles each time, and half of it is random", () => {
    const attempts = [1, 2, 3, 4]
    assert.deepStrictEqual(
      attempts.map((n) => waitAfter(n, undefined, always)),
      [500, 1000, 2000, 4000]
    )
    assert.deepStrictEqual(
      attempts.map((n) => waitAfter(n, undefined, never)),
      [250, 500, 1000, 2000]
    )
  })
  it("never grows beyond the longest wait", () => {
    assert.strictEqual(waitAfter(60, undefined, always), longestWait)
  })
  it("is the back-off added to what the server requests", () => {
    assert.deepStrictEqual([waitAfter(1, 1000, never), waitAfter(1, 1000, always)], [1250, 1500])
    assert.deepStrictEqual([waitAfter(4, 1000, never), waitAfter(4, 1000, always)], [3000, 5000])
  })
  it("is given up when the server requests more than the longest wait", () => {
    assert.strictEqual(waitAfter(1, longestWait, never), longestWait + 250)
    assert.strictEqual(waitAfter(1, longestWait + 1, always), undefined)
  })
})

describe("Retry-After", () => {
  const now = Date.parse("2026-10-01T12:00:00Z")
  it.each([
    ["2", 2000],
    ["0", 0],
    ["Thu, 01 Oct 2026 12:00:05 GMT", 5000],
    ["Thu, 01 Oct 2026 11:00:00 GMT", 0],
    ["soon", undefined],
    [null, undefined]
  ])("reads %s as %s ms", (header, expected) => {
    assert.strictEqual(retryAfterOf(header, now), expected)
  })
})

describe("a pause", () => {
  it("ends at once with the reason of the abort signal", async () => {
    const controller = new AbortController()
    const paused = pause(60_000, controller.signal)
    controller.abort("enough")
    assert.strictEqual(await paused.catch((reason) => reason), "enough")
    assert.strictEqual(await pause(60_000, controller.signal).catch((reason) => reason), "enough")
  })
})
