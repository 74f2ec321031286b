import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makePacing, nameSharedPool, type PacingPolicy, parseRetryAfter } from "./pacing.ts"

const policy: PacingPolicy = {
  interval: "1 second",
  initialPause: "15 seconds",
  maxPause: "90 seconds",
  maxWait: "5 minutes",
  maxTotalPause: "8 minutes",
  minThrottled: 1,
  throttledInterval: "3 seconds",
  pools: { shops: 4 }
}
type Pacing = ReturnType<typeof makePacing>

/** Occupies a host, records when it began, and releases the host after some time. */
const visit = (pacing: Pacing, log: Array<string>, name: string, host: string, duration = 0) =>
  Effect.gen(function* () {
    yield* pacing.take(host)
    log.push(`${name} at ${yield* Clock.currentTimeMillis}`)
    yield* Effect.sleep(duration)
  }).pipe(Effect.scoped)

describe("pacing", () => {
  it.effect("starts requests to one host a second apart, in the order of the calls", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const visits = ["a", "b", "c"].map((name) => visit(pacing, log, name, "x.test"))
      const running = yield* Effect.forkChild(Effect.all(visits, { concurrency: 3 }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 1000", "c at 2000"])
    })
  )

  it.effect("starts the next request immediately after a long one, and never two at a time", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const visits = ["a", "b"].map((name) => visit(pacing, log, name, "x.test", 4000))
      const running = yield* Effect.forkChild(Effect.all(visits, { concurrency: 2 }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 4000"])
    })
  )

  it.effect("does not delay requests to different hosts", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const visits = ["x.test", "y.test"].map((host) => visit(pacing, log, host, host, 4000))
      const running = yield* Effect.forkChild(Effect.all(visits, { concurrency: 2 }))
      yield* TestClock.adjust("4 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["x.test at 0", "y.test at 0"])
    })
  )

  it.effect("accepts a longer interval than the usual one, but not a shorter one", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const running = yield* Effect.forkChild(
        Effect.gen(function* () {
          for (const interval of ["3 seconds", 0] as const) {
            yield* Effect.scoped(pacing.take("x.test", interval))
            log.push(`${yield* Clock.currentTimeMillis}`)
          }
          yield* visit(pacing, log, "last", "x.test")
        })
      )
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["0", "3000", "last at 4000"])
    })
  )
})

describe("a host that throttles", () => {
  it.effect("receives no request of another task before its Retry-After has passed", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      yield* pacing.pause("x.test", 20_000)
      const running = yield* Effect.forkChild(visit(pacing, log, "other", "x.test"))
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["other at 20000"])
    })
  )

  it.effect("is paused for 15, 30, 60 and at most 90 seconds if it states no time, until it responds", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      const pauses = []
      for (let n = 0; n < 5; n++) pauses.push((yield* pacing.pause("x.test", undefined)).wait)
      pacing.resetBackoff("x.test")
      pauses.push((yield* pacing.pause("x.test", undefined)).wait)
      for (const [n, expected] of [15, 30, 60, 90, 90, 15].entries()) {
        assert.isAtLeast(pauses[n] ?? 0, expected * 750)
        assert.isAtMost(pauses[n] ?? 0, expected * 1250)
      }
    })
  )

  it.effect("receives no request if it requires a longer pause than a run waits", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      yield* pacing.pause("x.test", 3_600_000)
      const error = yield* Effect.flip(Effect.scoped(pacing.take("x.test")))
      assert.strictEqual(error.message, "x.test requires a pause until 1970-01-01T01:00:00.000Z")
      const second = yield* Effect.flip(Effect.scoped(pacing.take("x.test"))) // the host was released
      assert.strictEqual(second._tag, "PoolPaused")
    })
  )

  it.effect("receives a request every three seconds from then on", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      yield* pacing.pause("x.test", 0)
      pacing.resetBackoff("x.test")
      const visits = ["a", "b"].map((name) => visit(pacing, log, name, "x.test"))
      const running = yield* Effect.forkChild(Effect.all(visits, { concurrency: 2 }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 3000"])
    })
  )

  it.effect("is not waited for after pauses of eight minutes in total", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      const limits = []
      for (const requested of [240_000, 180_000, 90_000])
        limits.push((yield* pacing.pause("x.test", requested)).maxWait)
      assert.deepStrictEqual(limits, [300_000, 240_000, 60_000])
    })
  )
})

describe("a host of which one address may be at fault", () => {
  const patient = { ...policy, minThrottled: 2 }
  it.effect("is paused for at most 90 seconds, until another address is throttled as well", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(patient), [] as string[]]
      assert.strictEqual((yield* pacing.pause("x.test", 3_600_000, "x.test", "/a")).wait, 3_600_000)
      const running = yield* Effect.forkChild(visit(pacing, log, "other", "x.test"))
      yield* TestClock.adjust("90 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["other at 90000"])
      yield* pacing.pause("x.test", 3_600_000, "x.test", "/a")
      yield* TestClock.adjust("90 seconds")
      yield* Effect.scoped(pacing.take("x.test"))
      yield* pacing.pause("x.test", 3_600_000, "x.test", "/b")
      assert.strictEqual((yield* Effect.flip(Effect.scoped(pacing.take("x.test"))))._tag, "PoolPaused")
    })
  )
})

describe("a pool that several hosts share", () => {
  const shops = nameSharedPool("shops")

  it.effect("serves four requests at once, and starts one every 250 ms", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const visits = ["a", "b", "c", "d", "e"].map((name) => visit(pacing, log, name, shops, 4000))
      const running = yield* Effect.forkChild(Effect.all(visits, { concurrency: 5 }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 250", "c at 500", "d at 750", "e at 4000"])
    })
  )

  it.effect("is not slowed down by one host with a long interval", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      const started: Array<number> = []
      const take = Effect.scoped(
        Effect.andThen(
          pacing.take(shops, "30 seconds"),
          Effect.map(Clock.currentTimeMillis, (now) => started.push(now))
        )
      )
      const running = yield* Effect.forkChild(Effect.all([take, take]))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(running)
      assert.deepStrictEqual(started, [0, 250])
    })
  )

  it.effect("pauses all requests, including those that wait for their start", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const visits = ["a", "b"].map((name) => visit(pacing, log, name, shops, 4000))
      const running = yield* Effect.forkChild(Effect.all(visits, { concurrency: 2 }))
      yield* TestClock.adjust("100 millis")
      yield* pacing.pause(shops, 60_000, "x.test")
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 60100"])
    })
  )

  it.effect("waits at most 90 seconds, even if one host requires a longer pause", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      assert.strictEqual((yield* pacing.pause(shops, 86_400_000, "x.test")).wait, 90_000)
    })
  )

  it.effect("counts throttling responses to simultaneous requests as one", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      for (const host of ["x.test", "y.test", "z.test"]) {
        assert.isAtMost((yield* pacing.pause(shops, undefined, host)).wait, 15_000 * 1.25)
      }
    })
  )

  it.effect("names the host that caused the pause", () =>
    Effect.gen(function* () {
      const pacing = makePacing({ ...policy, maxWait: "1 minute" })
      yield* pacing.pause(shops, undefined, "x.test")
      yield* TestClock.adjust("30 seconds")
      yield* pacing.pause(shops, 90_000, "y.test")
      const error = yield* Effect.flip(Effect.scoped(pacing.take(shops)))
      const why = "because y.test requires it"
      assert.strictEqual(error.message, `all hosts of the pool shops are paused until 1970-01-01T00:02:00.000Z, ${why}`)
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
