import { assert, describe, it } from "@effect/vitest"
import { computeWait, maxWait, parseRetryDelay, pause } from "./retry.ts"

const lowest = () => 0
const highest = () => 1

describe("the wait before a retry", () => {
  it("doubles each time, and half of it is random", () => {
    const attempts = [1, 2, 3, 4]
    assert.deepStrictEqual(
      attempts.map((n) => computeWait(n, undefined, highest)),
      [500, 1000, 2000, 4000]
    )
    assert.deepStrictEqual(
      attempts.map((n) => computeWait(n, undefined, lowest)),
      [250, 500, 1000, 2000]
    )
  })
  it("never exceeds the maximum wait", () => {
    assert.strictEqual(computeWait(60, undefined, highest), maxWait)
  })
  it("is the back-off added to what the server requests", () => {
    assert.deepStrictEqual([computeWait(1, 1000, lowest), computeWait(1, 1000, highest)], [1250, 1500])
    assert.deepStrictEqual([computeWait(4, 1000, lowest), computeWait(4, 1000, highest)], [3000, 5000])
  })
  it("is given up if the server requests more than the maximum wait", () => {
    assert.strictEqual(computeWait(1, maxWait, lowest), maxWait + 250)
    assert.strictEqual(computeWait(1, maxWait + 1, highest), undefined)
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
    assert.strictEqual(parseRetryDelay(header, now), expected)
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
