import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { Effect, Fiber, FileSystem, Path } from "effect"
import { LockUnusable, withLock } from "./lock.ts"

const aLock = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.join(yield* fs.makeTempDirectoryScoped({ prefix: "larder-test-" }), ".lock")
})

describe("a lock", () => {
  itLive(
    "makes others wait while a process has it; the wait can be interrupted, and ends when that process is killed",
    () =>
      Effect.gen(function* () {
        const file = yield* aLock
        const holder = yield* otherProcess({ do: "hold", file })
        assert.strictEqual(yield* holder.nextLine, "held")
        let hasEntered = false
        const waiting = yield* Effect.forkChild(
          withLock(
            file,
            Effect.sync(() => {
              hasEntered = true
            })
          )
        )
        const interrupted = yield* Effect.forkChild(withLock(file, Effect.void))
        yield* Effect.sleep("500 millis")
        yield* Fiber.interrupt(interrupted)
        assert.isFalse(hasEntered)
        yield* holder.kill("SIGKILL")
        yield* Fiber.join(waiting)
        assert.isTrue(hasEntered)
      })
  )
  itLive("makes other processes wait until it is released", () =>
    Effect.gen(function* () {
      const file = yield* aLock
      const { send } = yield* otherProcess({ do: "run commands" })
      assert.strictEqual(yield* withLock(file, send({ do: "try", file })), "in use")
      assert.strictEqual(yield* send({ do: "try", file }), "free")
    })
  )
  itLive("is released after a failure, a defect and an interruption", () =>
    Effect.gen(function* () {
      const file = yield* aLock
      yield* Effect.flip(withLock(file, Effect.fail("no")))
      yield* Effect.exit(withLock(file, Effect.die("a bug")))
      const holder = yield* Effect.forkChild(withLock(file, Effect.never), { startImmediately: true })
      yield* Effect.sleep("100 millis")
      yield* Fiber.interrupt(holder)
      assert.strictEqual(yield* withLock(file, Effect.succeed("mine")), "mine")
    })
  )
  itLive("fails with advice if its file is not a lock", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = yield* aLock
      yield* fs.writeFileString(file, "not a lock")
      const error = yield* Effect.flip(withLock(file, Effect.void))
      assert.instanceOf(error, LockUnusable)
      assert.match(
        error.message,
        /^The lock \S+ cannot be used: .*It contains no data: delete it while no run is active/
      )
    })
  )
})
