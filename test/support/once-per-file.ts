/**
 * Makes an expensive resource once per test file, when a test first needs it, and releases it after the last test. Call it
 * in the test file or in a function that it calls: test files of one worker share the modules that they import.
 */
import { Effect, Exit, Scope } from "effect"
import { afterAll } from "vitest"

export const oncePerFile = <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> => {
  const scope = Scope.makeUnsafe()
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.runSync(Effect.cached(Scope.provide(make, scope)))
}
