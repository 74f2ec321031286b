/**
 * The publish lock: one publisher at a time, between processes and within one. It is a small DuckDB file held read-write,
 * so the operating system gives it free when its holder dies, `kill -9` included.
 */
import { Effect, Schedule, Semaphore } from "effect"
import { DuckDb, FileInUse } from "../duckdb.ts"
import type { Layout } from "./layout.ts"

const withinProcess = Semaphore.makeUnsafe(1) // file locks do not hold between two instances in one process
const longestWait = { every: "200 millis", times: 3000 } as const // ten minutes

const betweenProcesses = (layout: Layout) =>
  DuckDb.readWrite(layout.lock).pipe(
    Effect.tapError((error) =>
      error instanceof FileInUse ? Effect.logDebug("another run is publishing; waiting for it") : Effect.void
    ),
    Effect.retry({
      schedule: Schedule.spaced(longestWait.every),
      times: longestWait.times,
      while: (error) => error instanceof FileInUse
    })
  )

/** Runs one publication while nobody else publishes. */
export const withPublishLock = <A, E, R>(layout: Layout, publication: Effect.Effect<A, E, R>) =>
  withinProcess.withPermit(Effect.scoped(Effect.andThen(betweenProcesses(layout), publication)))
