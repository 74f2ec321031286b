/** Keeps `ingestion.duckdb` open for a server. */
import { Effect, Exit, Option, Scope } from "effect"
import { readInode } from "../disk.ts"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, newestManifest } from "../generation/manifest.ts"
import { hasRecordsUpTo } from "../ingestion/file.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { requireKnownIngest } from "../tables/versions.ts"
import type { Unserved } from "./unserved.ts"

export interface RefCounted {
  readonly scope: Scope.Closeable
  users: number
}

export const releaseReference = (resource: RefCounted) =>
  Effect.suspend(() => (--resource.users === 0 ? Scope.close(resource.scope, Exit.void) : Effect.void))

export interface OpenRecords extends RefCounted {
  readonly db: DuckDb["Service"]
  readonly inode: bigint | undefined
  /** Whether it has the records of the generation with which it is served. */
  isComplete: boolean
}

/** Tracked separately: records that cannot be written may still be opened once another process has written them. */
const writeSubject = "write ingestion.duckdb"
const openSubject = "open ingestion.duckdb"

/** The file stays open until another one replaces it. */
const open = Effect.fnUntraced(function* ({ ingestion }: Layout, isComplete: boolean, before: OpenRecords | undefined) {
  const inode = yield* Effect.promise(() => readInode(ingestion)) // first: if the file is replaced now, the next poll finds out
  if (before !== undefined && before.inode === inode) {
    before.isComplete = isComplete
    return before
  }
  const scope = yield* Scope.make()
  const db = yield* DuckDb.readOnly(ingestion).pipe(
    Scope.provide(scope),
    Effect.onError(() => Scope.close(scope, Exit.void))
  )
  return { db, inode, isComplete, scope, users: 0 } satisfies OpenRecords
})

/**
 * Opens the records for a generation, and updates them if the run that made it could not. If the file cannot be opened,
 * the one that is open stays open.
 */
export const openRecords = Effect.fnUntraced(function* (
  layout: Layout,
  number: number,
  unserved: Unserved,
  before: OpenRecords | undefined
) {
  const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
  yield* refreshOpened(layout, "server").pipe(
    Effect.andThen(requireKnownIngest(manifest)), // otherwise each poll would try again to open a newer version's records
    Effect.catch(({ message }) =>
      unserved.report(
        writeSubject,
        number,
        Effect.logWarning(`the files that people open may show an earlier generation: ${message}`)
      )
    )
  )
  return yield* open(layout, yield* hasRecordsUpTo(layout, number), before).pipe(
    Effect.catchCause((cause) => {
      if (before === undefined) return Effect.failCause(cause)
      before.isComplete = false
      const warning = `the records of ${generationId(number)} cannot be opened; those of an earlier generation are still served`
      return Effect.as(unserved.report(openSubject, number, Effect.logWarning(warning, cause)), before)
    })
  )
})

/** Whether the file of incomplete records may be complete now, or may be updated. */
export const mayHaveMoreRecords = Effect.fnUntraced(function* (
  layout: Layout,
  number: number,
  unserved: Unserved,
  { isComplete }: OpenRecords
) {
  if (isComplete || (yield* unserved.isRecent(openSubject, number))) return false
  return (yield* hasRecordsUpTo(layout, number)) || !(yield* unserved.isRecent(writeSubject, number))
})
