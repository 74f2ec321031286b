import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makePacing, type PacingPolicy, sharedLane } from "./pacing.ts"

const policy: PacingPolicy = {
  interval: "1 second",
  firstPause: "15 seconds",
  longestPause: "90 seconds",
  patience: "5 minutes",
  endurance: "8 minutes",
  slowed: "3 seconds",
  lanes: { shops: 4 }
}
type Pacing = ReturnType<typeof makePacing>

/** Takes a turn, notes when it began, and gives it back after some time. */
const visit = (pacing: Pacing, log: Array<string>, name: string, host: string, takes = 0) =>
  Effect.gen(function* () {
    yield* pacing.take(host)
    log.push(`${name} at ${yield* Clock.currentTimeMillis}`)
    yield* Effect.sleep(takes)
  }).pipe(Effect.scoped)

describe("turns", () => {
  it.effect("begin a second apart on one host, in the order of asking", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const all = ["a", "b", "c"].map((name) => visit(pacing, log, name, "x.test"))
      const running = yield* Effect.forkChild(Effect.all(all, { concurrency: 3 }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 1000", "c at 2000"])
    })
  )

  it.effect("follow at once after one that lasts longer than the interval, and never overlap", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const all = ["a", "b"].map((name) => visit(pacing, log, name, "x.test", 4000))
      const running = yield* Effect.forkChild(Effect.all(all, { concurrency: 2 }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 4000"])
    })
  )

  it.effect("do not wait for each other on different hosts", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const all = ["x.test", "y.test"].map((host) => visit(pacing, log, host, host, 4000))
      const running = yield* Effect.forkChild(Effect.all(all, { concurrency: 2 }))
      yield* TestClock.adjust("4 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["x.test at 0", "y.test at 0"])
    })
  )

  it.effect("can have a longer interval than the usual one, but no shorter one", () =>
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
  it.effect("gets no request of another task before its Retry-After has passed", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      yield* pacing.pause("x.test", 20_000)
      const running = yield* Effect.forkChild(visit(pacing, log, "other", "x.test"))
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["other at 20000"])
    })
  )

  it.effect("is paused for 15, 30, 60 and at most 90 seconds when it names no time, until it answers", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      const pauses = []
      for (let n = 0; n < 5; n++) pauses.push((yield* pacing.pause("x.test", undefined)).wait)
      pacing.answered("x.test")
      pauses.push((yield* pacing.pause("x.test", undefined)).wait)
      for (const [n, around] of [15, 30, 60, 90, 90, 15].entries()) {
        assert.isAtLeast(pauses[n] ?? 0, around * 750)
        assert.isAtMost(pauses[n] ?? 0, around * 1250)
      }
    })
  )

  it.effect("is not asked at all when it wants a longer pause than a run has", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      yield* pacing.pause("x.test", 3_600_000)
      const error = yield* Effect.flip(Effect.scoped(pacing.take("x.test")))
      assert.strictEqual(error.message, "x.test asked for a pause until 1970-01-01T01:00:00.000Z")
      const again = yield* Effect.flip(Effect.scoped(pacing.take("x.test"))) // the turn was given back
      assert.strictEqual(again._tag, "LanePaused")
    })
  )

  it.effect("is asked every three seconds from then on", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      yield* pacing.pause("x.test", 0)
      pacing.answered("x.test")
      const all = ["a", "b"].map((name) => visit(pacing, log, name, "x.test"))
      const running = yield* Effect.forkChild(Effect.all(all, { concurrency: 2 }))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 3000"])
    })
  )

  it.effect("has used up its time after pauses of eight minutes in all", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      const patience = []
      for (const asked of [240_000, 180_000, 90_000]) patience.push((yield* pacing.pause("x.test", asked)).patience)
      assert.deepStrictEqual(patience, [300_000, 240_000, 60_000])
    })
  )
})

describe("a lane that several hosts share", () => {
  const shops = sharedLane("shops")

  it.effect("serves four requests at once, and starts one every 250 ms", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const all = ["a", "b", "c", "d", "e"].map((name) => visit(pacing, log, name, shops, 4000))
      const running = yield* Effect.forkChild(Effect.all(all, { concurrency: 5 }))
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

  it.effect("pauses for all, including requests that wait for their start", () =>
    Effect.gen(function* () {
      const [pacing, log] = [makePacing(policy), [] as string[]]
      const all = ["a", "b"].map((name) => visit(pacing, log, name, shops, 4000))
      const running = yield* Effect.forkChild(Effect.all(all, { concurrency: 2 }))
      yield* TestClock.adjust("100 millis")
      yield* pacing.pause(shops, 60_000, "x.test")
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(running)
      assert.deepStrictEqual(log, ["a at 0", "b at 60100"])
    })
  )

  it.effect("waits at most 90 seconds, however long a pause one host asks for", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      assert.strictEqual((yield* pacing.pause(shops, 86_400_000, "x.test")).wait, 90_000)
    })
  )

  it.effect("counts throttled answers to simultaneous requests as one", () =>
    Effect.gen(function* () {
      const pacing = makePacing(policy)
      for (const host of ["x.test", "y.test", "z.test"]) {
        assert.isAtMost((yield* pacing.pause(shops, undefined, host)).wait, 15_000 * 1.25)
      }
    })
  )

  it.effect("names the host that caused the pause", () =>
    Effect.gen(function* () {
      const pacing = makePacing({ ...policy, patience: "1 minute" })
      yield* pacing.pause(shops, undefined, "x.test")
      yield* TestClock.adjust("30 seconds")
      yield* pacing.pause(shops, 90_000, "y.test")
      const error = yield* Effect.flip(Effect.scoped(pacing.take(shops)))
      const why = "because y.test asked for it"
      assert.strictEqual(error.message, `all hosts of the lane shops are paused until 1970-01-01T00:02:00.000Z, ${why}`)
    })
  )
})
