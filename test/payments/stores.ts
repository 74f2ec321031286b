/** Where money is kept: the ledger and the console's tables, opened as a server opens them. */
import type { ConsoleDatabase } from "@larder/serve/console-database/console-database.ts"
import { embeddedConsole } from "@larder/serve/console-database/embedded.ts"
import { postgresConsole } from "@larder/serve/console-database/postgres.ts"
import { embeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { Ledger } from "@larder/serve/ledger/ledger.ts"
import { postgresLedger } from "@larder/serve/ledger/postgres/postgres-ledger.ts"
import { Clock, Duration, Effect, Layer, Redacted } from "effect"

export interface Place {
  readonly folder: string
  /** Of the PostgreSQL database; undefined where all is in the folder. */
  readonly url: string | undefined
}

type Unusable = Layer.Error<ReturnType<typeof embeddedConsole> | ReturnType<typeof postgresConsole>>

/** The ledger and the console's tables of a place, in this order: the ledger of a restored backup holds the tables. */
export const storesIn = ({ folder, url }: Place) => {
  const ledger = url === undefined ? embeddedLedger(folder) : postgresLedger(Redacted.make(url), folder)
  const tables: Layer.Layer<ConsoleDatabase, Unusable> =
    url === undefined ? embeddedConsole(folder) : postgresConsole(Redacted.make(url))
  return tables.pipe(Layer.provideMerge(Ledger.layerAdministration), Layer.provideMerge(Layer.effect(Ledger, ledger)))
}

/** Charges calls of a key; their ids begin with `prefix`. */
export const spender = (key: string, prefix: string) =>
  Effect.map(Ledger, ({ authenticate, hold }) => {
    let calls = 0
    return (credits: number) =>
      Effect.promise(async () => {
        const known = await authenticate(key)
        if (known === undefined) throw new Error("the key is valid")
        const admission = await hold(known, "/v1/stores", credits, Date.now())
        if ("refused" in admission) return admission.refused
        await admission.held.commit(`${prefix}${++calls}`)
        return "charged" as const
      })
  })

/** Waits for what happens beside the test; its time-out is the limit. */
export const until = <E, R>(isSo: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(isSo, (so) => (so ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), until(isSo))))

/** Rounds of a minute and of an hour follow each other at once. */
export const inHaste = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (clock) =>
    Effect.provideService(work, Clock.Clock, {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
      currentTimeMillis: clock.currentTimeMillis,
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(Duration.toMillis(duration) < 60_000 ? duration : Duration.millis(50))
    })
  )
