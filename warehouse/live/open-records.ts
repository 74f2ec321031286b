/** Keeps `ingestion.duckdb` open for a server. */
import { Effect, Exit, Option, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, newestManifest } from "../generation/manifest.ts"
import { isPresent, isUpTo, openIngestion } from "../ingestion/file.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { requireKnownIngest } from "../tables/newer-versions.ts"
import type { Unserved } from "./unserved.ts"

/** A resource that closes with its last user. */
export interface RefCounted {
  readonly scope: Scope.Closeable
  users: number
}

export const release = (held: RefCounted) =>
  Effect.suspend(() => (--held.users === 0 ? Scope.close(held.scope, Exit.void) : Effect.void))

export interface OpenRecords extends RefCounted {
  readonly db: DuckDb["Service"]
  readonly inode: bigint
  /** Whether it has the records of the generation with which it is served. */
  isWhole: boolean
}

/**
 * Two kinds of failure are tracked apart: records that cannot be written may still be opened once another process has
 * written them.
 */
const writing = "write ingestion.duckdb"
const opening = "open ingestion.duckdb"

const open = Effect.fnUntraced(function* (layout: Layout, isWhole: boolean, before: OpenRecords | undefined) {
  if (before !== undefined && (yield* isPresent(layout, before.inode))) {
    before.isWhole = isWhole
    return before
  }
  const scope = yield* Scope.make()
  const opened = yield* openIngestion(layout).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  return { ...opened, isWhole, scope, users: 0 } satisfies OpenRecords as OpenRecords
})

/**
 * Opens it for a generation. The run that made the generation brings the file up to it; if that run was interrupted,
 * this does so, if possible. A file that is already open stays open: opening it again and closing that second handle
 * would release its lock, and a run would write to it. It also stays open if the file that replaced it cannot be
 * opened.
 */
export const openRecords = Effect.fnUntraced(function* (
  layout: Layout,
  number: number,
  unserved: Unserved,
  before: OpenRecords | undefined
) {
  const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
  yield* refreshOpened(layout, "server").pipe(
    Effect.andThen(requireKnownIngest(manifest)), // otherwise they would be checked again on every poll
    Effect.catch(({ message }) =>
      unserved.report(
        writing,
        number,
        Effect.logWarning(`the files that people open may be of an earlier generation: ${message}`)
      )
    )
  )
  return yield* open(layout, yield* isUpTo(layout, number), before).pipe(
    Effect.catchCause((why) => {
      if (before === undefined) return Effect.failCause(why)
      before.isWhole = false
      const told = `the records of ${generationId(number)} cannot be opened; those of an earlier generation stay`
      return Effect.as(unserved.report(opening, number, Effect.logWarning(told, why)), before)
    })
  )
})

/** Whether incomplete records may be complete by now, or may be completed. */
export const hasMoreRecords = Effect.fnUntraced(function* (
  layout: Layout,
  number: number,
  unserved: Unserved,
  { isWhole }: OpenRecords
) {
  if (isWhole || (yield* unserved.isRecent(opening, number))) return false
  return (yield* isUpTo(layout, number)) || !(yield* unserved.isRecent(writing, number))
})
