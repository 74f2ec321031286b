import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Progress, progressInLog, progressOn, type Screen } from "./progress.ts"

/** Records the output to a terminal of this width. */
const capture = (columns = 80) => {
  const written: Array<string> = []
  const screen: Screen = { columns: () => columns, write: (text) => void written.push(text) }
  return { written, screen }
}

/** Records the entries of the log. */
const captureLog = () => {
  const entries: Array<unknown> = []
  const logger = Logger.layer([Logger.make(({ message }) => void entries.push(message))])
  return { entries, layer: Layer.merge(progressInLog, logger) }
}

/** A run of four feeds, after one of them. */
const quarter = Effect.gen(function* () {
  const progress = yield* Progress
  yield* progress.start("commodities")
  yield* progress.expect(4)
  yield* progress.advance({ started: "2993 Butter", bytes: 2_800_000 })
  yield* progress.advance({ finished: "2993 Butter", rows: 1234, bytes: 400 })
  yield* TestClock.adjust("5 seconds")
})

describe("progress", () => {
  it.effect("is in the log every five seconds without a terminal, with pipeline and feed, and once at the end", () =>
    Effect.gen(function* () {
      const { entries, layer } = captureLog()
      yield* Effect.scoped(quarter).pipe(Effect.provide(layer))
      const facts = { pipeline: "commodities", feeds_done: 1, feeds: 4, rows: 1234, bytes: 2_800_400, seconds: 5 }
      assert.deepStrictEqual(entries, [
        ["reading", { ...facts, feed: "2993 Butter", seconds_left: 15 }],
        ["done", facts]
      ])
    })
  )

  it.effect("draws a bar no wider than the terminal, and prints a line at the end", () =>
    Effect.gen(function* () {
      const { screen, written } = capture(70)
      yield* Effect.scoped(quarter).pipe(Effect.provide(progressOn(screen)))
      const bar = "[#####---------------]  commodities  1/4 feeds  1,234 rows  247 rows/s  2.8 MB".slice(0, 69)
      const clearing = `\r${" ".repeat(69)}\r`
      assert.deepStrictEqual(written.slice(-3), [
        `\r${bar}`,
        clearing,
        "commodities  done  1/4 feeds  1,234 rows  2.8 MB  00:00:05\n"
      ])
      assert.isAbove(written.length, 20)
    })
  )

  it.effect("names the phase after the feeds, without a bar and with the rows of the summary", () =>
    Effect.gen(function* () {
      const { screen, written } = capture(200)
      const { entries, layer } = captureLog()
      const publishing = Effect.andThen(
        quarter,
        Progress.use((progress) => progress.phase("publishing", 1300))
      ).pipe(Effect.andThen(TestClock.adjust("5 seconds")))
      yield* Effect.scoped(publishing).pipe(Effect.provide(progressOn(screen)))
      assert.strictEqual(written.at(-3)?.trimEnd(), "\rcommodities  publishing  1,300 rows  2.8 MB  00:00:10")
      assert.match(written.at(-1) ?? "", /^commodities {2}done {2}1\/4 feeds {2}1,300 rows {2}/)
      yield* Effect.scoped(publishing).pipe(Effect.provide(layer))
      const facts = { pipeline: "commodities", rows: 1300, bytes: 2_800_400, seconds: 10 }
      assert.deepStrictEqual(entries.slice(-2), [
        ["publishing", facts],
        ["done", { ...facts, feeds_done: 1, feeds: 4 }]
      ])
    })
  )

  it.effect("makes control characters in the name of a feed visible, and sends none to the terminal", () =>
    Effect.gen(function* () {
      const { screen, written } = capture(200)
      const feed = "2993\u001b[2J\nButter"
      const named = Effect.andThen(
        quarter,
        Progress.use((progress) => progress.advance({ finished: feed }))
      ).pipe(Effect.andThen(TestClock.adjust("1 second")))
      yield* Effect.scoped(named).pipe(Effect.provide(progressOn(screen)))
      assert.include(written.at(-3), "2993\\u001b[2J\\u000aButter")
    })
  )

  it.effect("ends with a complete line if the run is interrupted", () =>
    Effect.gen(function* () {
      const { screen, written } = capture()
      const run = yield* Effect.forkChild(
        Effect.scoped(Effect.andThen(quarter, Effect.never)).pipe(Effect.provide(progressOn(screen)))
      )
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(run)
      assert.match(
        written.at(-1) ?? "",
        /^commodities {2}stopped at {2}1\/4 feeds {2}1,234 rows {2}2\.8 MB {2}00:00:0\d\n$/
      )
      const count = written.length
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(written, count)
    })
  )

  it.effect("is in the log when a run is interrupted", () =>
    Effect.gen(function* () {
      const { entries, layer } = captureLog()
      const run = yield* Effect.forkChild(
        Effect.scoped(Effect.andThen(quarter, Effect.never)).pipe(Effect.provide(layer))
      )
      yield* TestClock.adjust("6 seconds")
      yield* Fiber.interrupt(run)
      assert.strictEqual((entries.at(-1) as ReadonlyArray<unknown>)[0], "stopped")
    })
  )

  it.effect("removes the bar before a log line is written", () =>
    Effect.gen(function* () {
      const { screen, written } = capture()
      const outer: Console.Console = { ...console, error: (...args) => void written.push(`${args.join(" ")}\n`) }
      yield* Effect.andThen(quarter, Console.error("requesting again")).pipe(
        Effect.scoped,
        Effect.provide(progressOn(screen)),
        Effect.provideService(Console.Console, outer)
      )
      const [clearing, log, last] = written.slice(-3)
      assert.match(clearing ?? "", /^\r +\r$/)
      assert.strictEqual(log, "requesting again\n")
      assert.match(last ?? "", /^commodities {2}done/)
    })
  )

  it.effect("does not fail when no screen is provided", () =>
    Effect.gen(function* () {
      const progress = yield* Progress
      yield* Effect.scoped(progress.start("commodities"))
      yield* progress.advance({ finished: "1603" })
    })
  )
})
