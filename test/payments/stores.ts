/** The ledger and the console's tables, opened as a server opens them, and clocks for tests. */
import { Ledger } from "@larder/serve/ledger"
import type { ConsoleDatabase } from "@larder/serve/persistence"
import { storesInFile, storesInPostgres } from "@larder/serve/stores"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"

export interface Location {
  readonly folder: string
  /** URL of the PostgreSQL database; undefined if everything is in the folder. */
  readonly url: string | undefined
}

/** Opens the ledger and the console's tables. */
export const storesIn = ({ folder, url }: Location) => {
  const stores: Layer.Layer<Ledger | ConsoleDatabase, unknown> =
    url === undefined ? storesInFile(folder) : storesInPostgres(Redacted.make(url), folder)
  return Ledger.layerAdministration.pipe(Layer.provideMerge(stores))
}

/** Returns a function that charges calls for a key; their ids begin with `prefix`. */
export const makeSpender = (key: string, prefix: string) =>
  Effect.map(Ledger, ({ authenticate, hold }) => {
    let calls = 0
    return (credits: number) =>
      Effect.promise(async () => {
        const caller = await authenticate(key, Date.now())
        if (caller === undefined) throw new Error("the key is not valid")
        const admission = await hold(caller, { endpoint: "/v1/stores", scope: "get-store", credits }, Date.now())
        if ("refused" in admission) return admission.refused
        return admission.held.capture(`${prefix}${++calls}`)
      })
  })

/** Polls until the condition is true; the test's time-out is the limit. */
export const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (isTrue) =>
    isTrue ? Effect.void : Effect.andThen(Effect.sleep("150 millis"), until(condition))
  )

/** A real clock that can be advanced. Sleeping still takes real time. */
export const adjustableClock = Effect.map(Clock.Clock, (real) => {
  let aheadMs = 0
  const milliseconds = () => real.currentTimeMillisUnsafe() + aheadMs
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: milliseconds,
    currentTimeMillis: Effect.sync(milliseconds),
    currentTimeNanosUnsafe: () => BigInt(milliseconds()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(milliseconds()) * 1_000_000n),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration)
  }
  const advanceClock = (by: number) =>
    Effect.sync(() => {
      aheadMs += by
    })
  return { clock, advanceClock }
})

export const replaceSleeps = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  sleep: (clock: Clock.Clock, milliseconds: number) => Effect.Effect<void>
) =>
  Effect.flatMap(Clock.Clock, (clock) =>
    Effect.provideService(work, Clock.Clock, {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
      currentTimeMillis: clock.currentTimeMillis,
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => sleep(clock, Duration.toMillis(duration))
    })
  )

const replaceLongSleeps = <A, E, R>(
  work: Effect.Effect<A, E, R>,
  sleepLong: (clock: Clock.Clock, milliseconds: number) => Effect.Effect<void>
) =>
  replaceSleeps(work, (clock, milliseconds) =>
    milliseconds < 60_000 ? clock.sleep(Duration.millis(milliseconds)) : sleepLong(clock, milliseconds)
  )

/** Sleeps take a fifth of their time. */
export const withQuickSleeps = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  replaceSleeps(work, (clock, milliseconds) => clock.sleep(Duration.millis(milliseconds / 5)))

/** Replaces sleeps of a minute and longer by a short one. */
export const withoutLongSleeps = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  replaceLongSleeps(work, (clock) => clock.sleep(Duration.millis(50)))

/** Sleeps of a minute and longer follow the clock: advancing it can end them. */
export const withSleepsByClock = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  replaceLongSleeps(work, (clock, milliseconds) => {
    const end = clock.currentTimeMillisUnsafe() + milliseconds
    return until(Effect.sync(() => clock.currentTimeMillisUnsafe() >= end))
  })
