/**
 * Locks with one holder at a time, between processes and within one. A lock is a small DuckDB file held read-write, so
 * the operating system releases it when its holder dies, even by `kill -9`.
 */
import { Effect, Schedule, Schema, Semaphore } from "effect"
import { DuckDb, FileInUse } from "../duckdb.ts"

const retryInterval = "100 millis"
const silentTries = 10

/** How long to wait for a lock that another process holds. */
export const patience = {
  run: { tries: 6000, inWords: "ten minutes" },
  /** A server has readers, and can answer them from the data that it has. */
  server: { tries: 20, inWords: "two seconds" }
} as const
type Patience = (typeof patience)[keyof typeof patience]

/** Another program held the lock for the whole wait. */
export class WarehouseBusy extends Schema.TaggedError<WarehouseBusy>()("WarehouseBusy", {
  file: Schema.String,
  waited: Schema.String
}) {
  override get message() {
    return `Another run has held ${this.file} for ${this.waited}. Wait until it has ended, or end it; then run again.`
  }
}

export class LockUnusable extends Schema.TaggedError<LockUnusable>()("LockUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `The lock ${this.file} cannot be used: ${reason}. It holds no data: remove it when no run is alive, and run again.`
  }
}

/** File locks have no effect between two instances in one process. */
const inProcess = new Map<string, Semaphore.Semaphore>()
const semaphoreOf = (file: string) => {
  const known = inProcess.get(file) ?? Semaphore.makeUnsafe(1)
  inProcess.set(file, known)
  return known
}

const betweenProcesses = Effect.fnUntraced(function* (file: string, { inWords, tries: times }: Patience) {
  let tries = 0
  const tellOnce = Effect.suspend(() =>
    ++tries === silentTries ? Effect.logInfo(`another run holds ${file}; waiting for it`) : Effect.void
  )
  yield* DuckDb.hold(file).pipe(
    Effect.tapError((error) => (error instanceof FileInUse ? tellOnce : Effect.void)),
    Effect.retry({
      schedule: Schedule.spaced(retryInterval),
      times,
      while: (error) => error instanceof FileInUse
    }),
    Effect.mapError((cause) =>
      cause instanceof FileInUse ? new WarehouseBusy({ file, waited: inWords }) : new LockUnusable({ file, cause })
    )
  )
})

/** Runs an effect while holding the lock. */
export const withLock = <A, E, R>(file: string, effect: Effect.Effect<A, E, R>, waiting: Patience = patience.run) =>
  semaphoreOf(file).withPermit(Effect.scoped(Effect.andThen(betweenProcesses(file, waiting), effect)))
