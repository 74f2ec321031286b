/** Runs an effect with a clock that is ahead of the real one. Sleeps and the monotonic clock do not change. */
import { Clock, Duration, Effect } from "effect"

export const withClockAhead =
  (ahead: Duration.Input) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Clock.clockWith((clock) => {
      const millis = Duration.toMillis(ahead)
      const nanos = BigInt(Math.round(millis)) * 1_000_000n
      return Effect.provideService(effect, Clock.Clock, {
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
        currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + nanos,
        currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + nanos),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      })
    })
