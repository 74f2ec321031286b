import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Progress, progressOn, type Screen } from "./progress.ts"

/** Records the output to a terminal of this width. */
const capture = (mode: Screen["mode"], columns = 80) => {
  const written: Array<string> = []
  const screen: Screen = { mode, columns: () => columns, write: (text) => void written.push(text) }
  return { written, screen }
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
  it.effect("prints a line every five seconds without a terminal, with pipeline and feed, and one at the end", () =>
    Effect.gen(function* () {
      const { screen, written } = capture("lines")
      yield* Effect.scoped(quarter).pipe(Effect.provide(progressOn(screen)))
      assert.deepStrictEqual(written, [
        "commodities  1/4 feeds  1,234 rows  247 rows/s  2.8 MB  00:00:05  about 00:00:15 left  2993 Butter\n",
        "commodities  done  1/4 feeds  1,234 rows  2.8 MB  00:00:05\n"
      ])
    })
  )

  it.effect("draws a bar no wider than the terminal, and prints a line at the end", () =>
    Effect.gen(function* () {
      const { screen, written } = capture("bar", 70)
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

  it.effect.each([
    ["bar", "\rcommodities  publishing  1,300 rows  2.8 MB  00:00:06"],
    ["lines", "commodities  publishing  1,300 rows  2.8 MB  00:00:10\n"]
  ] as const)("names the phase after the feeds, without a bar and with the rows of the summary (%s)", ([mode, line]) =>
    Effect.gen(function* () {
      const { screen, written } = capture(mode, 200)
      const publishing = Effect.andThen(
        quarter,
        Progress.use((progress) => progress.phase("publishing", 1300))
      ).pipe(Effect.andThen(TestClock.adjust(mode === "bar" ? "1 second" : "5 seconds")))
      yield* Effect.scoped(publishing).pipe(Effect.provide(progressOn(screen)))
      assert.strictEqual(written.at(mode === "bar" ? -3 : -2)?.trimEnd(), line.trimEnd())
      assert.match(written.at(-1) ?? "", /^commodities {2}done {2}1\/4 feeds {2}1,300 rows {2}/)
    })
  )

  it.effect("makes control characters in the name of a feed visible, and sends none to the terminal", () =>
    Effect.gen(function* () {
      const { screen, written } = capture("bar", 200)
      const feed = "2993\u001b[2J\nButter"
      const named = Effect.andThen(
        quarter,
        Progress.use((progress) => progress.advance({ finished: feed }))
      ).pipe(Effect.andThen(TestClock.adjust("1 second")))
      yield* Effect.scoped(named).pipe(Effect.provide(progressOn(screen)))
      assert.include(written.at(-3), "2993\\u001b[2J\\u000aButter")
    })
  )

  it.effect.each(["lines", "bar"] as const)("ends with a complete line if the run is interrupted (%s)", (mode) =>
    Effect.gen(function* () {
      const { screen, written } = capture(mode)
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

  it.effect("removes the bar before a log line is written", () =>
    Effect.gen(function* () {
      const { screen, written } = capture("bar")
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
