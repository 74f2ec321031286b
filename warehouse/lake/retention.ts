/**
 * Removes what the lake no longer keeps. It keeps at most `maxSnapshots` snapshots, of generations whose data is kept,
 * the files that these snapshots name, and the versions of the Delta logs that belong to these files.
 */
import { Effect } from "effect"
import { type Depot, oldestKeptTime } from "../depot/depot.ts"
import type { DuckDb } from "../duckdb.ts"
import { checkpointInterval } from "./delta.ts"
import { catalogue, listSnapshots } from "./ducklake.ts"
import { cataloguesFolder, dataFolder, parseLogFileName, statesFolder } from "./names.ts"

/** Snapshots of generations that changed no data are kept as long as their manifests. */
const maxSnapshots = 100

/** Catalogue tables with rows that are valid from one snapshot until another. */
const versionedTables = ["schema", "table", "tag", "view", "macro", "data_file"]
/** Catalogue tables with details of such rows: each with the table that has the row, and the id that links them. */
const detailTables = [
  ["file_column_stats", "data_file", "data_file_id"],
  ["column", "table", "table_id"], // kept as long as the table: their ids must not be reused
  ["column_tag", "table", "table_id"],
  ["macro_impl", "macro", "macro_id"],
  ["macro_parameters", "macro", "macro_id"]
] as const

/** How long a file is kept after the last snapshot that named it: a reader may still have an older catalogue open. */
const readerTimeout = "1 day"

/** Expires snapshots whose databases were removed from the depot or that exceed `maxSnapshots`, except the newest. */
export const expireSnapshots = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  objects: ReadonlyMap<string, number>
) {
  const kept = (yield* listSnapshots(db)).filter(
    ({ extra }, index) =>
      index === 0 || (index < maxSnapshots && Object.values(extra.databases).every((sha256) => objects.has(sha256)))
  )
  const newest = Math.max(...kept.map(({ number }) => number)) // rows that ended with it stay, for the Delta commits
  const numbers = kept.map(({ number }) => number).join(", ")
  const now = `(select max(snapshot_time) from ${catalogue}.ducklake_snapshot)`
  const isUnnamed = `end_snapshot < ${newest} and not exists (
    from ${catalogue}.ducklake_snapshot where snapshot_id >= old.begin_snapshot and snapshot_id < old.end_snapshot
  )`
  yield* db.run(
    [
      "begin",
      ...["snapshot", "snapshot_changes"].map(
        (table) => `delete from ${catalogue}.ducklake_${table} where snapshot_id not in (${numbers})`
      ),
      `delete from ${catalogue}.ducklake_files_scheduled_for_deletion
       where schedule_start < ${now} - interval ${readerTimeout}`,
      `insert into ${catalogue}.ducklake_files_scheduled_for_deletion
       select data_file_id, schema_name || '/' || table_name || '/' || old.path, true, ${now}
       from ${catalogue}.ducklake_data_file old
       join ${catalogue}.ducklake_table using (table_id)
       join ${catalogue}.ducklake_schema using (schema_id)
       where old.${isUnnamed}`,
      ...versionedTables.map((table) => `delete from ${catalogue}.ducklake_${table} old where ${isUnnamed}`),
      ...detailTables.map(
        ([table, owner, id]) =>
          `delete from ${catalogue}.ducklake_${table} where ${id} not in (select ${id} from ${catalogue}.ducklake_${owner})`
      ),
      "commit"
    ].join(";\n")
  )
})

const isNamedFile = (name: string) => /\/(?:[0-9a-f]{64}\.(?:parquet|ducklake)|\d{9}\.json)$/.test(name)

/** Whether a log file is older than the checkpoint from which the oldest kept version is read. */
const isBehindCheckpoint = (name: string, oldestVersions: ReadonlyMap<string, number>) => {
  const logFile = parseLogFileName(name)
  const oldest = logFile && oldestVersions.get(logFile.table)
  return logFile !== undefined && oldest !== undefined && logFile.version < oldest - (oldest % checkpointInterval)
}

/** Removes the files that are not in `named`, and the log files before the checkpoint of each table's oldest version. */
export const sweepLake = Effect.fnUntraced(function* (
  depot: Depot,
  named: ReadonlySet<string>,
  oldestVersions: ReadonlyMap<string, number>
) {
  const folders = yield* Effect.forEach([dataFolder, cataloguesFolder, statesFolder], depot.listTimes)
  const times = new Map(folders.flatMap((folder) => [...folder]))
  const earliest = yield* oldestKeptTime(times)
  const isOld = (name: string) => (isNamedFile(name) ? !named.has(name) : isBehindCheckpoint(name, oldestVersions))
  yield* depot.remove([...times].filter(([name, storedAt]) => storedAt < earliest && isOld(name)).map(([name]) => name))
})
