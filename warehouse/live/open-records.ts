/** Keeps `ingestion.duckdb` open for a server. */
import { Effect } from "effect"
import { readInode } from "../disk.ts"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, newestManifest } from "../generation/manifest.ts"
import { hasRecordsUpTo } from "../ingestion/file.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { requireKnownIngest } from "../tables/versions.ts"
import { openRefCounted, type RefCounted } from "./ref-counted.ts"
import type { Unserved } from "./unserved.ts"

export interface OpenRecords extends RefCounted {
  readonly db: DuckDb["Service"]
  readonly inode: bigint | undefined
}

/** The records with which a generation is served. */
export interface ServedRecords {
  readonly open: OpenRecords
  /** Whether they have those of this generation. */
  readonly isComplete: boolean
}

/** Tracked separately: records that cannot be written may still be opened once another process has written them. */
const writeSubject = "write ingestion.duckdb"
const openSubject = "open ingestion.duckdb"

/** The file stays open until another one replaces it. */
const open = Effect.fnUntraced(function* ({ ingestion }: Layout, before: OpenRecords | undefined) {
  const inode = yield* Effect.promise(() => readInode(ingestion)) // first: if the file is replaced now, the next poll finds out
  if (before !== undefined && before.inode === inode) return before
  const opening = Effect.map(DuckDb.readOnly(ingestion), (db) => ({ db, inode }))
  return (yield* openRefCounted(opening)) satisfies OpenRecords
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
  const manifest = yield* newestManifest(layout.local)
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
  const isComplete = yield* hasRecordsUpTo(layout, number)
  return yield* open(layout, before).pipe(
    Effect.map((opened): ServedRecords => ({ open: opened, isComplete })),
    Effect.catchCause((cause) => {
      if (before === undefined) return Effect.failCause(cause)
      const warning = `the records of ${generationId(number)} cannot be opened; those of an earlier generation are still served`
      const instead: ServedRecords = { open: before, isComplete: false }
      return Effect.as(unserved.report(openSubject, number, Effect.logWarning(warning, cause)), instead)
    })
  )
})

/** Whether the file of incomplete records may be complete now, or may be updated. */
export const mayHaveMoreRecords = Effect.fnUntraced(function* (
  layout: Layout,
  number: number,
  unserved: Unserved,
  { isComplete }: ServedRecords
) {
  if (isComplete || (yield* unserved.isRecent(openSubject, number))) return false
  return (yield* hasRecordsUpTo(layout, number)) || !(yield* unserved.isRecent(writeSubject, number))
})
