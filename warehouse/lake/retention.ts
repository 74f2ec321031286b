/**
 * Keeps and removes files as Delta defines it. Every ten versions a log gets a checkpoint. A file of rows is deleted a week
 * after the version that removed it, and a version that is 30 days old once a later checkpoint replaces it. A file that no
 * version names belongs to a writer that was killed or was slower than another one, and is deleted once its version is taken.
 * A removed file is never added again, so no writer needs what another one deletes.
 */
import { Effect } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { DuckDb } from "../duckdb.ts"
import { putCheckpoint } from "./checkpoint.ts"
import { checkpointInterval, deletedFileDays, logDays, type Version } from "./log.ts"
import { lastOf, type StoredFile } from "./names.ts"
import type { StoredTable } from "./stored.ts"

const daysBefore = (time: number, days: number) => time - days * 86_400_000

/** Names of files that no reader needs. `now` is in milliseconds. */
export const listUnneeded = (stored: ReadonlyArray<StoredFile>, { files, number, removed }: Version, now: number) => {
  const isKept = (path: string) =>
    files.has(path) || (removed.get(path)?.deletionTimestamp ?? 0) >= daysBefore(now, deletedFileDays)
  const firstYoung = stored
    .filter(({ kind, storedAt }) => kind === "commit" && storedAt >= daysBefore(now, logDays))
    .reduce((first, { version }) => Math.min(first, version), number)
  const startingPoint = lastOf(
    "checkpoint",
    stored.filter(({ version }) => version <= firstYoung)
  )
  const isUnneeded = ({ kind, path, version }: StoredFile) => {
    if (kind === "rows") return version <= number && !isKept(path)
    return kind !== "hint" && version < startingPoint
  }
  return stored.filter(isUnneeded).map(({ name }) => name)
}

/** The files were listed before the newest version was read or written. */
export const tidyTable = Effect.fnUntraced(function* (
  depot: Depot,
  db: DuckDb["Service"],
  { files, newest, table }: StoredTable,
  now: number,
  folder: string
) {
  if (newest === undefined) return
  const lastCheckpoint = Math.max(lastOf("checkpoint", files), 0)
  // a program that was killed before it wrote the hint leaves one that may name a checkpoint which is to be deleted
  const hintStoredAt = files.find(({ kind }) => kind === "hint")?.storedAt ?? 0
  const isHintOutdated = files.some(({ kind, storedAt }) => kind === "checkpoint" && storedAt > hintStoredAt)
  if (newest.number - lastCheckpoint >= checkpointInterval || isHintOutdated)
    yield* putCheckpoint(depot, db, table, newest, daysBefore(now, deletedFileDays), folder)
  yield* depot.remove(listUnneeded(files, newest, now))
})
