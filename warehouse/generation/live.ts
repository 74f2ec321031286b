/**
 * The live generation, as a server reads it. A new one is opened and warmed beside the old one, then the reference
 * changes; the old one closes when its last reader is done. No request fails or mixes generations.
 */
import { Effect, Exit, FileSystem, Path, Schedule, Scope } from "effect"
import { DuckDb } from "../duckdb.ts"
import { type Layout, requireCurrentFile } from "./layout.ts"

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
}

const lookEvery = "250 millis"

/** Watches the link. `warm` loads the model; a generation that cannot be opened or warmed is left aside, with a log. */
export const watchLive = Effect.fnUntraced(function* <Model, E, R>(
  layout: Layout,
  warm: (db: DuckDb["Service"]) => Effect.Effect<Model, E, R>
) {
  const fs = yield* FileSystem.FileSystem
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
      const db = yield* DuckDb.readOnly(file)
      const model = yield* warm(db)
      const held: Held = { id: path.basename(file, ".duckdb"), file, db, model, scope, readers: 0, retired: false }
      return held
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  })
  const closeIfDone = (held: Held) =>
    held.retired && held.readers === 0 ? Scope.close(held.scope, Exit.void) : Effect.void

  let current = yield* open(yield* requireCurrentFile(layout))
  let leftAside = ""
  let swaps = 0
  const swap = Effect.gen(function* () {
    const file = yield* fs.realPath(layout.link)
    if (file === current.file || file === leftAside) return
    const old = current
    const next = yield* Effect.exit(open(file))
    if (Exit.isFailure(next)) {
      leftAside = file
      yield* Effect.logError(`${file} cannot be served; ${old.id} stays`, next.cause)
      return
    }
    current = next.value // nobody waited: the old one answered until here
    swaps++
    old.retired = true
    yield* closeIfDone(old)
    yield* Effect.logInfo("generation swapped", { from: old.id, to: current.id })
  }).pipe(Effect.catchCause((cause) => Effect.logWarning("the warehouse link cannot be read", cause)))

  yield* Effect.forkScoped(Effect.repeat(Effect.uninterruptible(swap), Schedule.spaced(lookEvery)))
  yield* Effect.addFinalizer(() => Scope.close(current.scope, Exit.void))
  const live: Live<Model> = {
    current: () => current,
    swaps: () => swaps,
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
