/** Ledgers with a clock that tests advance. */
import { Clock, Effect } from "effect"
import { adjustableClock } from "../payments/stores.ts"

export const start = Date.parse("2100-01-01T00:00:00.000Z")

/** Runs `work` with a clock that begins at `start`; keys and credits expire by this clock. */
export const runAtTestTime = <A, E, R>(
  work: (time: {
    readonly now: Effect.Effect<number>
    readonly pass: (ms: number) => Effect.Effect<void>
  }) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const { clock, advanceClock } = yield* adjustableClock
    yield* advanceClock(start - clock.currentTimeMillisUnsafe())
    const now = Effect.sync(() => clock.currentTimeMillisUnsafe())
    return yield* Effect.provideService(work({ now, pass: advanceClock }), Clock.Clock, clock)
  })
