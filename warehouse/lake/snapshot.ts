/**
 * Writes a generation as a snapshot of the lake's catalogue. Changed definitions and files with new rows begin with it.
 * Definitions and files that it no longer has end with it, so that older snapshots stay readable.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import type { Manifest } from "../generation/manifest.ts"
import {
  ChangedTable,
  catalogue,
  type Extra,
  encodeExtra,
  endStatement,
  insertStatements,
  isAltered,
  type LakeTable,
  liveRows,
  newestSnapshot,
  selectChangedTables,
  tableKey,
  type Value
} from "./ducklake.ts"
import type { LakeFile } from "./files.ts"
import { firstFreeId, reconcile } from "./reconcile.ts"
import type { LakeField } from "./types.ts"

type Db = DuckDb["Service"]

/** Begins the snapshot of a generation with the definitions of the session. Nothing changes in schemas of `untouched`. */
export const beginSnapshot = Effect.fnUntraced(function* (db: Db, manifest: Manifest, untouched: ReadonlySet<string>) {
  const before = yield* newestSnapshot(db)
  yield* db.run("begin")
  return { manifest, before, tables: yield* reconcile(db, manifest.number, untouched) }
})

type BegunSnapshot = Effect.Success<ReturnType<typeof beginSnapshot>>

const listLeaves = (field: LakeField, parent = ""): ReadonlyArray<readonly [path: string, id: number]> => {
  const path = parent === "" ? field.name : `${parent}.${field.name}`
  return field.children.length === 0 ? [[path, field.id]] : field.children.flatMap((child) => listLeaves(child, path))
}

const parquetName = ({ object }: LakeFile) => `${object.sha256}.parquet`

const LiveFile = Schema.Struct({ id: Schema.BigInt, path: Schema.String })
const NextIds = Schema.Struct({ file_id: Schema.BigInt, row_id: Schema.BigInt })

const firstFreeFileId = `(
  select coalesce(max(id), 0) from (
    select next_file_id as id from ${catalogue}.ducklake_snapshot
    union all
    select data_file_id + 1 from ${catalogue}.ducklake_data_file
  )
)`
const selectNextIds = (table: number) => `
  select ${firstFreeFileId} as file_id,
    (select coalesce(max(next_row_id), 0) from ${catalogue}.ducklake_table_stats where table_id = ${table}) as row_id`

/** Sets the files of a table. Files that it already had stay. Returns the new files. */
export const setFiles = Effect.fnUntraced(function* (
  db: Db,
  number: number,
  { columns, id }: LakeTable,
  files: ReadonlyArray<LakeFile>
) {
  const live = yield* db.all(
    LiveFile,
    `select data_file_id as id, path from ${liveRows("data_file")} where table_id = ${id}`
  )
  const wanted = new Map(files.map((file) => [parquetName(file), file]))
  const removed = live.filter(({ path }) => !wanted.has(path))
  const added = [...wanted.values()].filter((file) => !live.some(({ path }) => path === parquetName(file)))
  if (removed.length === 0 && added.length === 0) return added
  const columnIds = new Map(columns.flatMap(({ field }) => listLeaves(field)))
  const [next] = yield* db.all(NextIds, selectNextIds(id))
  const firstFileId = Number(next?.file_id)
  let nextRow = Number(next?.row_id)
  const insertFile = (file: LakeFile, index: number) => {
    const { footer_bytes, object, rows, statistics } = file
    const fileId = firstFileId + index
    const values: ReadonlyArray<Value> = [
      ...[fileId, id, number, null, null, parquetName(file), true, "parquet"],
      ...[rows, object.bytes, footer_bytes, nextRow, null, null, null, null]
    ]
    nextRow += rows
    const columnStats = statistics.flatMap(({ bytes, has_nan, max, min, nulls, path, values: count }) => {
      const column = columnIds.get(path)
      const numbers = [bytes, count, nulls].map((text) => (text === null ? null : Number(text)))
      return column === undefined ? [] : [[fileId, id, column, ...numbers, min, max, has_nan, null]]
    })
    return [...insertStatements("data_file", [values]), ...insertStatements("file_column_stats", columnStats)]
  }
  const insertFiles = added.flatMap(insertFile)
  const sum = (count: (file: LakeFile) => number) =>
    [...wanted.values()].reduce((total, file) => total + count(file), 0)
  yield* db.run(
    [
      ...removed.map((file) => endStatement("data_file", number, `data_file_id = ${file.id}`)),
      ...insertFiles,
      `delete from ${catalogue}.ducklake_table_stats where table_id = ${id}`,
      ...insertStatements("table_stats", [[id, sum(({ rows }) => rows), nextRow, sum(({ object }) => object.bytes)]])
    ].join(";\n")
  )
  return added
})

const Changes = Schema.Struct({ names: Schema.String, has_definitions: Schema.Boolean })

/** Selects DuckLake's names for the changes of a snapshot, and whether it changed definitions, not only rows. */
const selectChanges = (number: number) => {
  const definitions = (kind: "table" | "view" | "macro", label: string) => `
    select ${kind}_id as id, true as is_definition, if(
      d.begin_snapshot = ${number},
      'created_' || ${label} || ':"' || schema_name || '"."' || ${kind}_name || '"',
      'dropped_' || ${label} || ':' || ${kind}_id
    ) as name
    from ${catalogue}.ducklake_${kind} d join ${catalogue}.ducklake_schema using (schema_id)
    where ${number} in (d.begin_snapshot, d.end_snapshot)`
  const macroLabel = `(from ${catalogue}.ducklake_macro_impl i select "type" where i.macro_id = d.macro_id) || '_macro'`
  return `
    with change as (
      select schema_id as id, true as is_definition, 'created_schema:"' || schema_name || '"' as name
      from ${catalogue}.ducklake_schema where begin_snapshot = ${number}
      union all ${definitions("table", "'table'")}
      union all ${definitions("macro", macroLabel)}
      union all ${definitions("view", "'view'")}
      union all
      select table_id, true, 'altered_table:' || table_id
      from ${liveRows("table")} t where begin_snapshot < ${number} and ${isAltered(number)}
      union all
      select distinct table_id, false, if(begin_snapshot = ${number}, 'inserted_into_table:', 'deleted_from_table:') || table_id
      from ${catalogue}.ducklake_data_file semi join ${liveRows("table")} using (table_id)
      where ${number} in (begin_snapshot, end_snapshot)
    )
    select coalesce(string_agg(name, ',' order by not is_definition, id, name), '') as names,
      coalesce(bool_or(is_definition), false) as has_definitions
    from change`
}

/** Writes the snapshot into the catalogue. Readers find the lake at `address`. */
export const endSnapshot = Effect.fnUntraced(function* (
  db: Db,
  { before, manifest: { id, made_at, made_by, number } }: BegunSnapshot,
  databases: Extra["databases"],
  address: string,
  message: string
) {
  const [changes] = yield* db.all(Changes, selectChanges(number))
  const version = (before?.schema_version ?? 0) + (changes?.has_definitions ? 1 : 0)
  const changed = yield* db.all(ChangedTable, selectChangedTables(number))
  const delta_versions = { ...before?.extra.delta_versions }
  for (const table of changed) delta_versions[tableKey(table)] = (delta_versions[tableKey(table)] ?? -1) + 1
  const redefined = changed.filter(({ has_new_definition, is_dropped }) => has_new_definition && !is_dropped)
  const extra = encodeExtra({ id, databases, delta_versions })
  yield* db.run(
    [
      `insert into ${catalogue}.ducklake_snapshot
       values (${number}, ${literal(made_at)}, ${version}, ${firstFreeId}, ${firstFreeFileId})`,
      ...insertStatements("snapshot_changes", [[number, changes?.names ?? "", made_by, message, extra]]),
      ...insertStatements(
        "schema_versions",
        redefined.map((table) => [number, version, Number(table.id)])
      ),
      `update ${catalogue}.ducklake_metadata set "value" = ${literal(`${address}/data/`)} where "key" = 'data_path'`,
      "commit"
    ].join(";\n")
  )
})
