import { Effect } from "effect"

/**
 * Runs a promise that works on files for a long time. An interruption aborts the signal and waits for the promise, which
 * closes its files before it ends: the caller may then remove them.
 */
export const stoppable = <A, E>(run: (signal: AbortSignal) => Promise<A>, toError: (cause: unknown) => E) =>
  Effect.callback<A, E>((resume) => {
    const controller = new AbortController()
    const running = run(controller.signal)
    running.then(
      (value) => resume(Effect.succeed(value)),
      (cause) => resume(Effect.fail(toError(cause)))
    )
    return Effect.promise(() => {
      controller.abort()
      return running.then(
        () => undefined,
        () => undefined
      )
    })
  })
