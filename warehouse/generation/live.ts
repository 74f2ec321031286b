/**
 * The live generation, as a server reads it. A new one is opened and warmed beside the old one, then the reference
 * changes; the old one closes when its last reader is done. No request fails or mixes generations.
 */
import { type Cause, Clock, Effect, Exit, Path, Schedule, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { idOf, type Layout, openGeneration, requireCurrentFile } from "./layout.ts"

export interface Generation<Model> {
  readonly id: string
  readonly db: DuckDb["Service"]
  /** What is small and held in memory while the generation is live. */
  readonly model: Model
}

export interface Live<Model> {
  /** The generation of this moment, for reads that need nothing but its model. */
  readonly current: () => Generation<Model>
  /** Runs a read on the generation of this moment, which stays open until the read is done. */
  readonly use: <A, E, R>(read: (generation: Generation<Model>) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** How often the reference has changed since the start. */
  readonly swaps: () => number
  /** Why the generation of this moment is not the one that the link leads to; undefined where it is. */
  readonly fault: () => string | undefined
}

const lookEvery = "250 millis"
/** A generation that could not be served is tried again: what kept it from being opened may have passed. */
const tryAgainAfterMillis = 60_000

/** Watches the link. `warm` loads the model, and what it opens closes with the generation; a generation that cannot be opened or warmed is left aside, with a log. */
export const watchLive = Effect.fnUntraced(function* <Model, E, R>(
  layout: Layout,
  warm: (db: DuckDb["Service"], file: string) => Effect.Effect<Model, E, R | Scope.Scope>
) {
  const path = yield* Path.Path
  interface Held extends Generation<Model> {
    readonly file: string
    readonly scope: Scope.Closeable
    readers: number
    retired: boolean
  }
  const open = Effect.fnUntraced(function* (file: string) {
    const scope = yield* Scope.make()
    return yield* Effect.gen(function* () {
      const db = yield* openGeneration(file)
      const model = yield* warm(db, file)
      const held: Held = { id: idOf(path.basename(file)), file, db, model, scope, readers: 0, retired: false }
      return held
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  })
  const closeIfDone = (held: Held) =>
    held.retired && held.readers === 0 ? Scope.close(held.scope, Exit.void) : Effect.void
  const retire = (held: Held) =>
    Effect.suspend(() => {
      held.retired = true
      return closeIfDone(held)
    })

  let current = yield* open(yield* requireCurrentFile(layout))
  yield* Effect.addFinalizer(() => retire(current)) // before the watcher is forked, so that it runs after its end
  let swaps = 0
  const take = Effect.fnUntraced(function* (file: string) {
    const old = current
    current = yield* open(file) // nobody waits: the old one answers until here
    swaps++
    yield* retire(old)
    yield* Effect.annotateLogs(Effect.logInfo("generation swapped"), { from: old.id, to: current.id })
  })

  let leftAside = { file: "", until: 0 }
  let fault: string | undefined
  const leaveAside = Effect.fnUntraced(function* (file: string, what: string, why: Cause.Cause<unknown>) {
    fault = what
    const now = yield* Clock.currentTimeMillis
    if (file === leftAside.file && now < leftAside.until) return
    leftAside = { file, until: now + tryAgainAfterMillis }
    yield* Effect.logError(`${what}; ${current.id} stays`, why)
  })
  const look = Effect.gen(function* () {
    const found = yield* Effect.exit(requireCurrentFile(layout))
    if (Exit.isFailure(found)) return yield* leaveAside(layout.link, "the link leads to no generation", found.cause)
    const file = found.value
    if (file === leftAside.file && (yield* Clock.currentTimeMillis) < leftAside.until) return
    const taken = yield* Effect.exit(file === current.file ? Effect.void : take(file))
    if (Exit.isFailure(taken))
      return yield* leaveAside(file, `${idOf(path.basename(file))} cannot be served`, taken.cause)
    fault = undefined
  })
  yield* Effect.forkScoped(Effect.repeat(Effect.uninterruptible(look), Schedule.spaced(lookEvery)))
  const live: Live<Model> = {
    current: () => current,
    swaps: () => swaps,
    fault: () => fault,
    use: (read) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          current.readers++
          return current
        }),
        read,
        (held) => {
          held.readers--
          return closeIfDone(held)
        }
      )
  }
  return live
})
