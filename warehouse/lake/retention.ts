/**
 * What the lake keeps: the snapshots of generations whose data is kept, and the files that one of them names. The versions of the
 * Delta logs are kept with these files.
 */
import { Clock, Effect } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { DuckDb } from "../duckdb.ts"
import { checkpointEvery } from "./delta.ts"
import { catalogue, snapshots } from "./ducklake.ts"
import { cataloguesFolder, dataFolder, loggedVersion, statesFolder } from "./names.ts"

type Db = DuckDb["Service"]

/** Generations that changed no data are kept as long as their manifests. */
const mostSnapshots = 100

/** Tables of the catalogue whose rows hold from one snapshot up to another. */
const ended = ["schema", "table", "tag", "view", "macro", "data_file"]
/** Tables with more of these rows, by the id that names them. */
const following = [
  ["file_column_stats", "data_file", "data_file_id"],
  ["column", "table", "table_id"], // those of a table stay as long as it does: their ids must not be given again
  ["column_tag", "table", "table_id"],
  ["macro_impl", "macro", "macro_id"],
  ["macro_parameters", "macro", "macro_id"]
] as const

/** How long a file stays after the last snapshot that named it: a reader may still have an older catalogue open. */
const spared = "1 day"

/** Expires snapshots whose databases were removed from the depot. The newest always stays. */
export const expireSnapshots = Effect.fnUntraced(function* (db: Db, objects: ReadonlyMap<string, number>) {
  const all = yield* snapshots(db)
  const kept = all.filter(
    ({ extra }, at) =>
      at === 0 || (at < mostSnapshots && Object.values(extra.databases).every((sha256) => objects.has(sha256)))
  )
  const newest = Math.max(...kept.map(({ number }) => number)) // what ended with it, the commits of the Delta logs say
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

/** In milliseconds: a program that puts files has not named them yet. */
const unnamed = 86_400_000

const isFile = (name: string) => /\/(?:[0-9a-f]{64}\.(?:parquet|ducklake)|\d{9}\.json)$/.test(name)

/** Whether nobody needs what a log says there: a checkpoint after it stands before the oldest version that is kept. */
const isBehindCheckpoint = (name: string, oldest: ReadonlyMap<string, number>) => {
  const logged = loggedVersion(name)
  const kept = logged && oldest.get(logged.table)
  return logged !== undefined && kept !== undefined && logged.version < kept - (kept % checkpointEvery)
}

/** Deletes unreferenced files of the lake, all but those in `named`, and commits before the checkpoint of each table's `oldest` version. */
export const sweepLake = Effect.fnUntraced(function* (
  depot: Depot,
  named: ReadonlySet<string>,
  oldest: ReadonlyMap<string, number>
) {
  const folders = yield* Effect.forEach([dataFolder, cataloguesFolder, statesFolder], depot.dated)
  const dated = new Map(folders.flatMap((folder) => [...folder]))
  // Something was put a moment ago, and dated by the clock of the depot: the clock of this machine may be far ahead.
  const now = Math.min(yield* Clock.currentTimeMillis, Math.max(...dated.values()))
  const isOld = (name: string) => (isFile(name) ? !named.has(name) : isBehindCheckpoint(name, oldest))
  yield* depot.remove([...dated].filter(([name, put]) => put < now - unnamed && isOld(name)).map(([name]) => name))
})
