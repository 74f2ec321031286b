import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Logger } from "effect"
import { logChange } from "./change-log.ts"

it.effect("logs a change whose caller is interrupted while it is being committed", () =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    const committing = yield* Deferred.make<void>()
    const committed = yield* Deferred.make<void>()
    const commit = Effect.andThen(Deferred.succeed(committing, undefined), Deferred.await(committed))
    const change = logChange(commit, "key revoked", () => ({ account: "acct_a", before: null, after: null }))
    const running = yield* Effect.forkChild(
      Effect.provide(change, Logger.layer([Logger.make(({ message }) => void logged.push(message))]))
    )
    yield* Deferred.await(committing)
    const interruption = yield* Effect.forkChild(Fiber.interrupt(running))
    yield* Effect.yieldNow
    yield* Deferred.succeed(committed, undefined)
    yield* Fiber.join(interruption)
    assert.deepStrictEqual(logged, [["key revoked"]])
  })
)
