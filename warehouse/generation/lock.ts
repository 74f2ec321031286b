/**
 * Exclusive locks, between processes and inside one process. A lock is a small DuckDB file that is open read-write, so
 * the operating system releases it when its process dies, even by `kill -9`.
 */
import { Effect, Schedule, Schema, Semaphore } from "effect"
import { causeText } from "../disk.ts"
import { DuckDb, FileInUse } from "../duckdb.ts"

const retryInterval = "100 millis"
const triesBeforeLog = 10

export const waitLimits = {
  run: { maxAttempts: 6000, label: "ten minutes" },
  /** A server can continue with the current generation. */
  server: { maxAttempts: 20, label: "two seconds" }
}

/** Another program had the lock for the whole wait. */
export class WarehouseBusy extends Schema.TaggedError<WarehouseBusy>()("WarehouseBusy", {
  file: Schema.String,
  waited: Schema.String
}) {
  override get message() {
    return `Another run has held ${this.file} for ${this.waited}. Wait until it finishes, or stop it; then run again.`
  }
}

export class LockUnusable extends Schema.TaggedError<LockUnusable>()("LockUnusable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    return `The lock ${this.file} cannot be used: ${causeText(this.cause)}. It contains no data: delete it while no run is active, then run again.`
  }
}

/** File locks have no effect between two instances in one process. */
const semaphores = new Map<string, Semaphore.Semaphore>()
const semaphoreOf = (file: string) => {
  const semaphore = semaphores.get(file) ?? Semaphore.makeUnsafe(1)
  semaphores.set(file, semaphore)
  return semaphore
}

const lockBetweenProcesses = Effect.fnUntraced(function* (file: string, waitLimit: keyof typeof waitLimits) {
  const { label, maxAttempts } = waitLimits[waitLimit]
  let tries = 0
  const logOnce = Effect.suspend(() =>
    ++tries === triesBeforeLog ? Effect.logInfo(`another run has locked ${file}; waiting for it`) : Effect.void
  )
  yield* DuckDb.lockFile(file).pipe(
    Effect.tapError((error) => (error instanceof FileInUse ? logOnce : Effect.void)),
    Effect.retry({
      schedule: Schedule.spaced(retryInterval),
      times: maxAttempts,
      while: (error) => error instanceof FileInUse
    }),
    Effect.mapError((cause) =>
      cause instanceof FileInUse ? new WarehouseBusy({ file, waited: label }) : new LockUnusable({ file, cause })
    )
  )
})

export const withLock = <A, E, R>(
  file: string,
  effect: Effect.Effect<A, E, R>,
  waitLimit: keyof typeof waitLimits = "run"
) => semaphoreOf(file).withPermit(Effect.scoped(Effect.andThen(lockBetweenProcesses(file, waitLimit), effect)))
