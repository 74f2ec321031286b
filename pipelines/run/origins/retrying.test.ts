import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { UpstreamUnavailable } from "./origin.ts"
import { makeRetrying, parseRetryAfter } from "./pacing.ts"

const url = "https://x.test/"
const retrying = makeRetrying({ maxAttempts: 5, initialBackoff: "2 seconds", maxBackoff: "10 seconds" })

/** Fails with this error, and records the times of its tries. */
const makeFailing = (failure: Partial<UpstreamUnavailable>) => {
  const triedAt: Array<number> = []
  const attempt = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    triedAt.push(now)
    return new UpstreamUnavailable({ url, problem: "HTTP 502", ...failure })
  })
  return { triedAt, attempt }
}

describe("retrying", () => {
  it.effect("waits about twice as long each time, up to 10 seconds, and gives up after 5 tries", () =>
    Effect.gen(function* () {
      const { attempt, triedAt } = makeFailing({})
      const running = yield* Effect.forkChild(Effect.flip(retrying(attempt)))
      yield* TestClock.adjust("1 minute")
      const error = yield* Fiber.join(running)
      assert.strictEqual(error.tries, 5)
      const waits = triedAt.slice(1).map((at, n) => at - (triedAt[n] ?? 0))
      for (const [n, expected] of [2, 4, 8, 10].entries()) {
        assert.isAtLeast(waits[n] ?? 0, expected * 750)
        assert.isAtMost(waits[n] ?? 0, expected * 1250)
      }
    })
  )

  it.effect("does not wait itself when the host is paused", () =>
    Effect.gen(function* () {
      const { attempt, triedAt } = makeFailing({ status: 429, pause_ms: 15_000 })
      yield* Effect.flip(retrying(attempt)) // on a stopped clock
      assert.deepStrictEqual(triedAt, [0, 0, 0, 0, 0])
    })
  )

  it.effect("retries neither permanent failures nor other errors", () =>
    Effect.gen(function* () {
      const { attempt, triedAt } = makeFailing({ may_pass: false })
      yield* Effect.flip(retrying(attempt))
      assert.deepStrictEqual(triedAt, [0])
      assert.strictEqual(yield* Effect.flip(retrying(Effect.fail("other"))), "other")
    })
  )

  it.effect("keeps the cause of the last failure", () =>
    Effect.gen(function* () {
      const { attempt } = makeFailing({ cause: new Error("socket hang up"), pause_ms: 0 })
      const error = yield* Effect.flip(retrying(attempt))
      assert.instanceOf(error, UpstreamUnavailable)
      assert.deepStrictEqual(error.cause, new Error("socket hang up"))
    })
  )
})

describe("Retry-After", () => {
  const now = Date.parse("2026-10-02T12:00:00Z")
  it.each([
    ["120", 120_000],
    ["0", 0],
    ["Fri, 02 Oct 2026 12:00:30 GMT", 30_000],
    ["Fri, 02 Oct 2026 11:00:00 GMT", 0],
    ["99999999999999999999999999", 365 * 86_400_000],
    ["soon", undefined],
    ["-5", undefined],
    ["1.5", undefined],
    ["", undefined],
    [undefined, undefined]
  ])("reads %s as %s ms", (header, expected) => {
    assert.strictEqual(parseRetryAfter(header, now), expected)
  })
})
