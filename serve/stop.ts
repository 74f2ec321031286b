/**
 * How the server stops. After the first signal, `/readyz` responds with 503 and requests are served as before, until
 * `LARDER_STOP_DELAY` has passed: meanwhile a balancer learns to send its requests elsewhere. Then the listeners close, and
 * wait for the calls in flight. A second signal ends the delay, and cuts off these calls; charges are completed in any case.
 */
import { Context, Deferred, Duration, Effect, Fiber, Layer, Scope } from "effect"

/** The longest wait for calls in flight, and then for everything else to close. */
export const maxWait = "10 seconds"

/**
 * Milliseconds. One Ctrl-C can arrive several times: the terminal sends it to every process, and npm, `npm run dev`
 * and the launcher for older versions of Node pass it on at once. A person who loses patience takes longer.
 */
const repetitionMs = 300

interface StopSignals {
  /** Whether the first signal has arrived. */
  readonly isRequested: () => boolean
  /** Completes at the second signal. */
  readonly second: Effect.Effect<void>
}

/** The signals also interrupt the program, so that its scopes close. */
export const Stop = Context.Reference<StopSignals>("larder/serve/Stop", {
  defaultValue: () => ({ isRequested: () => false, second: Effect.never })
})

export const layerStop: Layer.Layer<never> = Layer.effect(
  Stop,
  Effect.gen(function* () {
    const second = yield* Deferred.make<void>()
    let firstAt: number | undefined
    const onSignal = () => {
      const now = performance.now()
      firstAt ??= now
      if (now - firstAt > repetitionMs) Deferred.doneUnsafe(second, Effect.void)
    }
    // first, because the interruption closes scopes at once; never removed, so that a late signal does not kill the process
    yield* Effect.sync(() => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.prependListener(signal, onSignal)
    })
    return { isRequested: () => firstAt !== undefined, second: Deferred.await(second) }
  })
)

/** Keeps what the scope has opened so far open, for this time after the first signal or until the second. */
export const delayStop = Effect.fnUntraced(function* (delay: Duration.Duration) {
  const { isRequested, second } = yield* Stop
  const message = `The server stops in ${Duration.format(delay)}, or at once at a second signal`
  const wait = Effect.andThen(Effect.logInfo(message), Effect.timeoutOption(second, delay))
  yield* Effect.addFinalizer(() => (isRequested() && !Duration.isZero(delay) ? wait : Effect.void))
})

/** A scope that closes with the current one, if need be without waiting for it: a database may not respond. */
export const openBoundedScope = (duration: Duration.Input, whenLate: Effect.Effect<void>) =>
  Effect.acquireRelease(Scope.make(), (scope, exit) =>
    Effect.forkDetach(Scope.close(scope, exit)).pipe(
      Effect.flatMap(Fiber.join),
      Effect.timeoutOrElse({ duration, orElse: () => whenLate })
    )
  )
