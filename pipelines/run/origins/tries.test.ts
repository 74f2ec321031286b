import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { NotRequested, UpstreamUnavailable } from "./origin.ts"
import { makeHostTries, makeRetrying, makeRunTime } from "./tries.ts"

const url = "https://x.test/"
const policy = {
  maxAttempts: 5,
  initialBackoff: "2 seconds",
  maxBackoff: "10 seconds",
  totalTimeout: "2 minutes"
} as const
const retrying = makeRetrying(policy, makeRunTime())

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

describe("the time of a run", () => {
  it.effect("begins with its first request, and ends tries that would begin later", () =>
    Effect.gen(function* () {
      const runTime = makeRunTime("4 seconds")
      yield* TestClock.adjust("1 hour")
      const { attempt, triedAt } = makeFailing({})
      const requested = Effect.andThen(runTime.limitWait(url, Effect.void), attempt)
      const running = yield* Effect.forkChild(Effect.flip(makeRetrying(policy, runTime)(requested)))
      yield* TestClock.adjust("1 hour")
      const error = yield* Fiber.join(running)
      assert.strictEqual(error.message, `GET ${url} failed after 2 tries: HTTP 502. Run the same command again later.`)
      assert.lengthOf(triedAt, 2, "the third one would begin after 4.5 to 7.5 seconds")
      const late = yield* Effect.flip(runTime.limitWait(url, Effect.void))
      assert.strictEqual(late.message, "It was not requested: the run had used its time (--max-time 4s).")
    })
  )

  it.effect("ends waiting for a host", () =>
    Effect.gen(function* () {
      const runTime = makeRunTime("1 minute")
      const waiting = yield* Effect.forkChild(Effect.flip(runTime.limitWait(url, Effect.never)))
      yield* TestClock.adjust("1 minute")
      assert.instanceOf(yield* Fiber.join(waiting), NotRequested)
    })
  )
})

describe("a host that does not respond", () => {
  it.effect("gets four second tries in all, and again as many after a response", () =>
    Effect.gen(function* () {
      const hostTries = makeHostTries(policy)
      let isUp = false
      const sent: Array<string> = []
      const request = (address: string) =>
        Effect.gen(function* () {
          yield* hostTries.requireLeft(address, "x.test")
          sent.push(address)
          if (isUp) return yield* hostTries.countResponse("x.test")
          yield* hostTries.countFailure("x.test")
          return yield* new UpstreamUnavailable({ url: address, problem: "the host refused the connection" })
        })
      const addresses = ["a", "b", "c", "d", "e", "f"]
      const failing = Effect.forEach(addresses, (address) => Effect.flip(retrying(request(address))), {
        concurrency: "unbounded"
      })
      const running = yield* Effect.forkChild(failing)
      yield* TestClock.adjust("5 minutes")
      const errors = yield* Fiber.join(running)
      assert.deepStrictEqual(sent.slice(0, 6), addresses, "each of them gets a first try")
      assert.lengthOf(sent, 6 + 4)
      for (const error of errors) assert.include(error.message, ": the host refused the connection.")
      isUp = true
      yield* retrying(request("g"))
      isUp = false
      const next = yield* Effect.forkChild(Effect.flip(retrying(request("h"))))
      yield* TestClock.adjust("5 minutes")
      yield* Fiber.join(next)
      assert.lengthOf(
        sent.filter((address) => address === "h"),
        5
      )
    })
  )
})
