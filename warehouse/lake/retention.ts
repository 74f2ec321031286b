/**
 * What the lake keeps: the snapshots of generations whose data is kept, and the files that one of them names. The versions of the
 * Delta logs are kept with these files.
 */
import { Clock, Effect } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { DuckDb } from "../duckdb.ts"
import { checkpointEvery } from "./delta.ts"
import { catalogue, snapshots } from "./ducklake.ts"
import { cataloguesFolder, dataFolder, generationsFolder, loggedVersion } from "./names.ts"

type Db = DuckDb["Service"]

/** Generations that changed no data are kept as long as their manifests. */
const mostSnapshots = 100

/** Tables of the catalogue whose rows hold from one snapshot up to another. */
const ended = ["schema", "table", "column", "column_tag", "tag", "view", "macro", "data_file"]
/** Tables with more of these rows, by the id that names them. */
const following = [
  ["file_column_stats", "data_file", "data_file_id"],
  ["macro_impl", "macro", "macro_id"],
  ["macro_parameters", "macro", "macro_id"]
] as const

/** Ends the snapshots whose databases the depot no longer has. The newest always stays. */
export const expireSnapshots = Effect.fnUntraced(function* (db: Db, objects: ReadonlyMap<string, number>) {
  const all = yield* snapshots(db)
  const kept = all.filter(
    ({ extra }, at) =>
      at === 0 || (at < mostSnapshots && Object.values(extra.databases).every((sha256) => objects.has(sha256)))
  )
  if (kept.length === all.length) return
  const newest = Math.max(...kept.map(({ number }) => number)) // what ended with it, the commits of the Delta logs say
  const numbers = kept.map(({ number }) => number).join(", ")
  yield* db.run(
    [
      "begin",
      ...["snapshot", "snapshot_changes"].map(
        (table) => `delete from ${catalogue}.ducklake_${table} where snapshot_id not in (${numbers})`
      ),
      ...ended.map(
        (table) => `
          delete from ${catalogue}.ducklake_${table} old
          where end_snapshot < ${newest} and not exists (
            from ${catalogue}.ducklake_snapshot
            where snapshot_id >= old.begin_snapshot and snapshot_id < old.end_snapshot
          )`
      ),
      ...following.map(
        ([table, of, id]) =>
          `delete from ${catalogue}.ducklake_${table} where ${id} not in (select ${id} from ${catalogue}.ducklake_${of})`
      ),
      "commit"
    ].join(";\n")
  )
})

/** A reader may still have an older catalogue open, and a program that writes files has not named them yet. */
const spared = 86_400_000

const isFile = (name: string) => /\/(?:[0-9a-f]{64}\.(?:parquet|ducklake)|\d{9}\.json)$/.test(name)

/** Whether nobody needs what a log says there: a checkpoint after it stands before the oldest version that is kept. */
const isBehindCheckpoint = (name: string, oldest: ReadonlyMap<string, number>) => {
  const logged = loggedVersion(name)
  const kept = logged && oldest.get(logged.table)
  return logged !== undefined && kept !== undefined && logged.version < kept - (kept % checkpointEvery)
}

/** Removes from the lake what nothing needs any more: files but those that are `named`, and logs before the `oldest` version of each table. */
export const sweepLake = Effect.fnUntraced(function* (
  depot: Depot,
  named: ReadonlySet<string>,
  oldest: ReadonlyMap<string, number>
) {
  const folders = yield* Effect.forEach([dataFolder, cataloguesFolder, generationsFolder], depot.dated)
  const dated = new Map(folders.flatMap((folder) => [...folder]))
  // Something was put a moment ago, and dated by the clock of the depot: the clock of this machine may be far ahead.
  const now = Math.min(yield* Clock.currentTimeMillis, Math.max(...dated.values()))
  const isOld = (name: string) => (isFile(name) ? !named.has(name) : isBehindCheckpoint(name, oldest))
  yield* depot.remove([...dated].filter(([name, put]) => put < now - spared && isOld(name)).map(([name]) => name))
})
