import { afterAll, assert, beforeAll, describe, vi } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, Fiber } from "effect"
import { runInSlices } from "./time-slices.ts"

/** Only the steps advance this clock: on a busy machine, a step may take any time. */
let now = 0
beforeAll(() => {
  vi.spyOn(performance, "now").mockImplementation(() => now)
})
afterAll(() => {
  vi.restoreAllMocks()
})

/** Steps of a millisecond each: a slice holds four of them. */
function* steps(count: number, each: () => void): Generator<void, number> {
  for (let i = 0; i < count; i++) {
    now++
    each()
    yield
  }
  return count
}

const oneIteration = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Counts the iterations of the event loop while an effect runs. */
const countIterations = <A>(effect: Effect.Effect<A>) =>
  Effect.gen(function* () {
    let iterations = 0
    let next = setImmediate(function count() {
      iterations++
      next = setImmediate(count)
    })
    const result = yield* Effect.ensuring(
      effect,
      Effect.sync(() => clearImmediate(next))
    )
    return { result, iterations }
  })

describe("reading in slices", () => {
  itLive("shares one slice per iteration among all readers, however many there are", () =>
    Effect.gen(function* () {
      const done = Array<number>(16).fill(0)
      const leads: Array<number> = []
      const each = (reader: number) => () => {
        done[reader] = (done[reader] ?? 0) + 1
        leads.push(Math.max(...done) - Math.min(...done))
      }
      const readers = done.map((_, reader) => runInSlices(() => steps(15, each(reader))))
      const { result, iterations } = yield* countIterations(Effect.all(readers, { concurrency: "unbounded" }))
      assert.deepStrictEqual(result, Array(16).fill(15))
      assert.isAtLeast(iterations, (16 * 15) / 4 - 1) // with a slice for each reader, it would be four
      assert.isAtMost(Math.max(...leads), 10) // two slices: no reader is served first
    })
  )
  itLive("does not wait if the first slice is enough", () =>
    Effect.sync(() => {
      assert.strictEqual(Effect.runSync(runInSlices(() => steps(1, () => undefined))), 1)
    })
  )
  itLive("lets a short read that begins later end before longer ones", () =>
    Effect.gen(function* () {
      const ended: Array<string> = []
      const recordEnd = (name: string, count: number) =>
        Effect.tap(
          runInSlices(() => steps(count, () => undefined)),
          () => Effect.sync(() => ended.push(name))
        )
      const long = yield* Effect.forkChild(
        Effect.all([recordEnd("long", 40), recordEnd("longer", 60)], { concurrency: "unbounded" })
      )
      yield* oneIteration
      yield* recordEnd("short", 2)
      yield* Fiber.join(long)
      assert.deepStrictEqual(ended, ["short", "long", "longer"])
    })
  )
  itLive("lets reads that have not begun begin in the order in which they arrived", () =>
    Effect.gen(function* () {
      const begun: Array<number> = []
      const arrive = (reader: number) => runInSlices(() => steps(4, () => begun.includes(reader) || begun.push(reader)))
      const arriveAgain = Effect.andThen(arrive(0), arrive(3)) // begins when the first read has used up the slice
      yield* Effect.all([arriveAgain, arrive(1), arrive(2)], { concurrency: "unbounded" })
      assert.deepStrictEqual(begun, [0, 1, 2, 3])
    })
  )
  itLive("stops if its caller is interrupted", () =>
    Effect.gen(function* () {
      let stepCount = 0
      const fiber = yield* Effect.forkChild(runInSlices(() => steps(10_000, () => stepCount++)))
      yield* oneIteration
      yield* Fiber.interrupt(fiber)
      const before = stepCount
      yield* runInSlices(() => steps(20, () => undefined))
      assert.isAbove(before, 0)
      assert.strictEqual(stepCount, before)
    })
  )
  itLive("fails with the error of a step, and continues the other reads", () =>
    Effect.gen(function* () {
      const failing = runInSlices(() =>
        steps(10, () => {
          throw new Error("the file ends")
        })
      )
      const [failed, other] = yield* Effect.all([Effect.exit(failing), runInSlices(() => steps(10, () => undefined))], {
        concurrency: "unbounded"
      })
      assert.include(String(failed), "the file ends")
      assert.strictEqual(other, 10)
    })
  )
})
