/**
 * What the lake keeps: the snapshots of generations whose data is kept, the files that one of these snapshots names,
 * and the versions of the Delta logs that belong to these files.
 */
import { Clock, Effect } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { DuckDb } from "../duckdb.ts"
import { checkpointEvery } from "./delta.ts"
import { catalogue, snapshots } from "./ducklake.ts"
import { cataloguesFolder, dataFolder, loggedVersion, statesFolder } from "./names.ts"

type Db = DuckDb["Service"]

/** Snapshots of generations that changed no data are kept as long as their manifests. */
const maxSnapshots = 100

/** Catalogue tables whose rows are valid from one snapshot until another. */
const ended = ["schema", "table", "tag", "view", "macro", "data_file"]
/** Catalogue tables with details of such rows: each with the table that has the row, and the id that links them. */
const following = [
  ["file_column_stats", "data_file", "data_file_id"],
  ["column", "table", "table_id"], // kept as long as the table: their ids must not be reused
  ["column_tag", "table", "table_id"],
  ["macro_impl", "macro", "macro_id"],
  ["macro_parameters", "macro", "macro_id"]
] as const

/** How long a file is kept after the last snapshot that named it: a reader may still have an older catalogue open. */
const spared = "1 day"

/**
 * Expires snapshots whose databases were removed from the depot, and those beyond `maxSnapshots`. The newest always
 * stays.
 */
export const expireSnapshots = Effect.fnUntraced(function* (db: Db, objects: ReadonlyMap<string, number>) {
  const all = yield* snapshots(db)
  const kept = all.filter(
    ({ extra }, at) =>
      at === 0 || (at < maxSnapshots && Object.values(extra.databases).every((sha256) => objects.has(sha256)))
  )
  const newest = Math.max(...kept.map(({ number }) => number)) // rows that ended with it stay, for the Delta commits
  const numbers = kept.map(({ number }) => number).join(", ")
  const now = `(select max(snapshot_time) from ${catalogue}.ducklake_snapshot)`
  const isUnnamed = `
    end_snapshot < ${newest} and not exists (
      from ${catalogue}.ducklake_snapshot where snapshot_id >= old.begin_snapshot and snapshot_id < old.end_snapshot
    )`
  yield* db.run(
    [
      "begin",
      ...["snapshot", "snapshot_changes"].map(
        (table) => `delete from ${catalogue}.ducklake_${table} where snapshot_id not in (${numbers})`
      ),
      `delete from ${catalogue}.ducklake_files_scheduled_for_deletion where schedule_start < ${now} - interval ${spared}`,
      `insert into ${catalogue}.ducklake_files_scheduled_for_deletion
       select data_file_id, schema_name || '/' || table_name || '/' || old.path, true, ${now}
       from ${catalogue}.ducklake_data_file old
       join ${catalogue}.ducklake_table using (table_id)
       join ${catalogue}.ducklake_schema using (schema_id)
       where old.${isUnnamed.trim()}`,
      ...ended.map((table) => `delete from ${catalogue}.ducklake_${table} old where ${isUnnamed}`),
      ...following.map(
        ([table, of, id]) =>
          `delete from ${catalogue}.ducklake_${table} where ${id} not in (select ${id} from ${catalogue}.ducklake_${of})`
      ),
      "commit"
    ].join(";\n")
  )
})

/** In milliseconds. Younger files are kept, because a process names its files only after it has put them. */
const unnamed = 86_400_000

const isFile = (name: string) => /\/(?:[0-9a-f]{64}\.(?:parquet|ducklake)|\d{9}\.json)$/.test(name)

/** Whether a log file is no longer needed: a later checkpoint is not newer than the oldest version that is kept. */
const isBehindCheckpoint = (name: string, oldest: ReadonlyMap<string, number>) => {
  const logged = loggedVersion(name)
  const kept = logged && oldest.get(logged.table)
  return logged !== undefined && kept !== undefined && logged.version < kept - (kept % checkpointEvery)
}

/**
 * Deletes unreferenced files of the lake: all except those in `named`, and log files before the checkpoint of each
 * table's `oldest` version.
 */
export const sweepLake = Effect.fnUntraced(function* (
  depot: Depot,
  named: ReadonlySet<string>,
  oldest: ReadonlyMap<string, number>
) {
  const folders = yield* Effect.forEach([dataFolder, cataloguesFolder, statesFolder], depot.dated)
  const dated = new Map(folders.flatMap((folder) => [...folder]))
  // A file was put a moment ago, and dated by the clock of the depot. The clock of this machine may be far ahead.
  const now = Math.min(yield* Clock.currentTimeMillis, Math.max(...dated.values()))
  const isOld = (name: string) => (isFile(name) ? !named.has(name) : isBehindCheckpoint(name, oldest))
  yield* depot.remove([...dated].filter(([name, put]) => put < now - unnamed && isOld(name)).map(([name]) => name))
})
