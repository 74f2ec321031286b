/**
 * Reads a lake in a folder without the code that wrote it: the logs as JSON, the Parquet files with hyparquet, and the
 * catalogue with DuckDB.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { DuckDb, literal } from "@larder/warehouse"
import { Effect } from "effect"
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet"
import { compressors } from "hyparquet-compressors"

/** `commodity.price_version` */
const folderOf = (lake: string, table: string) => path.join(lake, "data", ...table.split("."))

/** Names of the Parquet files of a table. */
export const listLakeFiles = (lake: string, table: string) =>
  readdirSync(folderOf(lake, table))
    .filter((name) => name.endsWith(".parquet"))
    .sort()

interface Action {
  readonly commitInfo?: { readonly userMetadata: string }
  readonly add?: { readonly path: string; readonly size: number; readonly stats: string }
  readonly remove?: { readonly path: string }
  readonly metaData?: { readonly schemaString: string; readonly description?: string }
}

/** The commits of a table's log, up to a version. They have no gap. */
export const readCommits = (lake: string, table: string, lastVersion = Number.POSITIVE_INFINITY) => {
  const log = path.join(folderOf(lake, table), "_delta_log")
  const commits: Array<ReadonlyArray<Action>> = []
  for (let version = 0; version <= lastVersion; version++) {
    const file = path.join(log, `${String(version).padStart(20, "0")}.json`)
    if (!existsSync(file)) break
    const lines = readFileSync(file, "utf8").trim().split("\n")
    commits.push(lines.map((line): Action => JSON.parse(line)))
  }
  return commits
}

/** The generation of each version. */
export const readDeltaVersions = (lake: string, table: string) =>
  readCommits(lake, table).map(([first]) => first?.commitInfo?.userMetadata)

/** The files of a version. */
export const filesOf = (lake: string, table: string, version?: number) => {
  const files = new Map<string, NonNullable<Action["add"]>>()
  for (const { add, remove } of readCommits(lake, table, version).flat()) {
    if (remove !== undefined) files.delete(remove.path)
    if (add !== undefined) files.set(add.path, add)
  }
  return [...files.values()]
}

const toPlain = (value: unknown): unknown => {
  if (typeof value === "bigint") return Number(value)
  if (Array.isArray(value)) return value.map(toPlain)
  if (value === null || typeof value !== "object" || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, toPlain(inside)]))
}

/** Reads the rows of a table that its log names. Decimals are numbers. */
export const readDeltaRows = async (lake: string, table: string, version?: number) => {
  const rows: Array<Record<string, unknown>> = []
  for (const { path: name, size, stats } of filesOf(lake, table, version)) {
    const file = await asyncBufferFromFile(path.join(folderOf(lake, table), name))
    const read = await parquetReadObjects({ file, compressors })
    const statistics: { readonly numRecords: number } = JSON.parse(stats)
    if (file.byteLength !== size || read.length !== statistics.numRecords)
      throw new Error(`${name} differs from its log`)
    rows.push(
      ...read.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, toPlain(value)])))
    )
  }
  return rows
}

/** The number of rows of each table in a snapshot of the DuckLake. Fails if one of its files does not exist. */
export const countSnapshotRows = (lake: string, snapshot?: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(`attach ${literal(path.join(lake, "larder.ducklake"))} as lake (read_only)`)
      const at = snapshot ?? "(select max(snapshot_id) from lake.ducklake_snapshot)"
      const found = yield* db.rows(`
        with live as (
          select schema_name || '.' || table_name as name, f.path, record_count, file_size_bytes
          from lake.ducklake_table t
          join lake.ducklake_schema using (schema_id)
          left join lake.ducklake_data_file f
            on f.table_id = t.table_id and f.begin_snapshot <= ${at} and (f.end_snapshot is null or f.end_snapshot > ${at})
          where t.begin_snapshot <= ${at} and (t.end_snapshot is null or t.end_snapshot > ${at})
        )
        select name, coalesce(sum(record_count), 0)::integer as rows, coalesce(list(path) filter (path is not null), []) as paths
        from live group by name order by name`)
      const rows = new Map<string, number>()
      for (const { name, paths, rows: count } of found) {
        rows.set(String(name), Number(count))
        for (const file of paths as ReadonlyArray<string>) {
          if (!existsSync(path.join(folderOf(lake, String(name)), file)))
            throw new Error(`${name} names ${file}, which does not exist`)
        }
      }
      return rows
    })
  )

/** Numbers of the snapshots, in ascending order. */
export const listSnapshotNumbers = (lake: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(`attach ${literal(path.join(lake, "larder.ducklake"))} as lake (read_only)`)
      const found = yield* db.rows("select snapshot_id::integer as number from lake.ducklake_snapshot order by number")
      return found.map(({ number }) => Number(number))
    })
  )
