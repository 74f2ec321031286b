/**
 * Keeps and removes files as Delta defines it. Every ten versions a log gets a checkpoint. A file of rows is deleted a week
 * after the version that removed it, and a version that is 30 days old once a later checkpoint replaces it. A file that no
 * version names belongs to a writer that was killed or was slower than another one, and is deleted once its version is taken.
 * A removed file is never added again, so no writer needs what another one deletes.
 */
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import type { Depot } from "../depot/depot.ts"
import { DuckDb, literal } from "../duckdb.ts"
import { identifyFile } from "../generation/parts.ts"
import { attemptWrite, toWriteError } from "./files.ts"
import { checkpointInterval, deletedFileDays, formatCheckpoint, logDays, type Version } from "./log.ts"
import { checkpointName, lastCheckpointName, type StoredTable } from "./stored.ts"

const day = 86_400_000
export const daysBefore = (time: number, days: number) => time - days * day

const checkpointColumns = {
  protocol:
    "struct(minReaderVersion integer, minWriterVersion integer, readerFeatures varchar[], writerFeatures varchar[])",
  metaData: `struct(id varchar, name varchar, description varchar, format struct(provider varchar, options map(varchar, varchar)),
    schemaString varchar, partitionColumns varchar[], configuration map(varchar, varchar), createdTime bigint)`,
  add: `struct(path varchar, partitionValues map(varchar, varchar), size bigint, modificationTime bigint, dataChange boolean,
    stats varchar)`,
  remove: "struct(path varchar, deletionTimestamp bigint, dataChange boolean)",
  txn: "struct(appId varchar, version bigint, lastUpdated bigint)"
}

/** Stores a checkpoint, and the hint by which readers find it. */
const putCheckpoint = Effect.fnUntraced(function* (depot: Depot, table: string, version: Version, folder: string) {
  const lines = path.join(folder, `${table}.json`)
  const file = path.join(folder, `${table}.checkpoint.parquet`)
  const text = formatCheckpoint(version)
  yield* attemptWrite(lines, () => writeFile(lines, text))
  const db = yield* DuckDb.memory
  const columns = Object.entries(checkpointColumns).map(([name, type]) => `${name}: ${literal(type)}`)
  yield* db
    .run(
      `copy (from read_json(${literal(lines)}, format = 'newline_delimited', columns = {${columns.join(", ")}})) to ${literal(file)} (format parquet)`
    )
    .pipe(Effect.mapError(toWriteError(file)))
  yield* depot.putFile(checkpointName(table, version.number), yield* identifyFile(file), file)
  const size = text.split("\n").length - 1
  yield* depot.putHint(lastCheckpointName(table), JSON.stringify({ version: version.number, size }))
}, Effect.scoped)

/** Names of files that no reader needs. `now` is in milliseconds. */
export const listUnneeded = ({ files }: StoredTable, { files: live, info, number }: Version, now: number) => {
  const kept = new Set([
    ...live.map(({ path }) => path),
    ...info.larder.removed
      .filter(({ deletionTimestamp }) => deletionTimestamp >= daysBefore(now, deletedFileDays))
      .map(({ path }) => path)
  ])
  const firstYoung = files
    .filter(({ kind, storedAt }) => kind === "commit" && storedAt >= daysBefore(now, logDays))
    .reduce((first, { version }) => Math.min(first, version), number)
  const startingPoint = files
    .filter(({ kind, version }) => kind === "checkpoint" && version <= firstYoung)
    .reduce((last, { version }) => Math.max(last, version), -1)
  const isUnneeded = ({ kind, path, version }: StoredTable["files"][number]) =>
    kind === "rows" ? version <= number && !kept.has(path) : version < startingPoint
  return files.filter(isUnneeded).map(({ name }) => name)
}

/** `newest` is the newest version of the table that this program knows, and `files` were listed before it was read. */
export const tidyTable = Effect.fnUntraced(function* (
  depot: Depot,
  stored: StoredTable,
  newest: Version,
  now: number,
  folder: string
) {
  const checkpoints = stored.files.filter(({ kind }) => kind === "checkpoint")
  const lastCheckpoint = checkpoints.reduce((last, { version }) => Math.max(last, version), 0)
  // a program that was killed before it wrote the hint leaves one that may name a checkpoint which is to be deleted
  const isHintOutdated = checkpoints.some(({ storedAt }) => storedAt > stored.hintStoredAt)
  if (newest.number - lastCheckpoint >= checkpointInterval || isHintOutdated)
    yield* putCheckpoint(depot, stored.table, newest, folder)
  yield* depot.remove(listUnneeded(stored, newest, now))
})
