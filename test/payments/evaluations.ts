/** Notices when auto-recharge has nothing left to evaluate, so that tests wait for that instead of a fixed time. */
import { millisecondsToNextDay } from "@larder/serve/billing/recharges/limits.ts"
import { Duration, Effect, Tracer } from "effect"
import { replaceSleeps, until } from "./stores.ts"

/** Sleep after each round of evaluations. */
const roundMs = 250
/** The clock can move between the calculation of a sleep and its beginning. */
const toleranceMs = 1_000

export const watchEvaluations = () => {
  let rounds = 0
  /** How often all accounts were marked, at the start and at the beginning of each day. */
  let days = 0
  let begun = 0
  let running = 0

  class EvaluationSpan extends Tracer.NativeSpan {
    override end(...args: Parameters<Tracer.NativeSpan["end"]>) {
      if (this.status._tag === "Started") running--
      super.end(...args)
    }
  }
  const tracer = Tracer.make({
    span: (options) => {
      if (options.name !== "Billing.evaluate") return new Tracer.NativeSpan(options)
      begun++
      running++
      return new EvaluationSpan(options)
    }
  })

  /** Watches the server that `work` starts. */
  const watch = <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      days = 0
      return replaceSleeps(work, (clock, milliseconds) => {
        if (milliseconds === roundMs) rounds++
        else if (Math.abs(milliseconds - millisecondsToNextDay(clock.currentTimeMillisUnsafe())) < toleranceMs) days++
        return clock.sleep(Duration.millis(milliseconds))
      })
    }).pipe(Effect.provideService(Tracer.Tracer, tracer))

  const haveMarkedAll = (times: number) => until(Effect.sync(() => days >= times))

  /** The first round may have begun before, the second one finds all marked accounts, and its evaluations begin before the third one. */
  const evaluated: Effect.Effect<void> = Effect.suspend(() => {
    const before = { rounds, begun }
    return Effect.flatMap(until(Effect.sync(() => rounds >= before.rounds + 3 && running === 0)), () =>
      begun === before.begun ? Effect.void : evaluated
    )
  })

  return {
    watch,
    /** Waits until accounts that are marked by now are evaluated, and again if that marked them. */
    evaluated: Effect.andThen(haveMarkedAll(1), evaluated),
    /** Advances the clock by a day. Waits until that has marked and evaluated all accounts. */
    passDay: Effect.fnUntraced(function* (advanceClock: (by: number) => Effect.Effect<void>) {
      yield* haveMarkedAll(1)
      const marked = days
      yield* advanceClock(86_400_000)
      yield* haveMarkedAll(marked + 1)
      yield* evaluated
    })
  }
}
