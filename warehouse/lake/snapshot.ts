/**
 * Writes a generation as a snapshot of the lake's catalogue. Changed definitions and files with new rows begin with it.
 * Definitions and files that it no longer has end with it, so that older snapshots stay readable.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import type { Manifest } from "../generation/manifest.ts"
import type { Definitions } from "./definitions.ts"
import {
  ChangedTable,
  Changes,
  catalogue,
  type Extra,
  encodeExtra,
  endRows,
  insertRows,
  isLive,
  type LakeTable,
  newestSnapshot,
  selectChangedTables,
  tableKey,
  type Value
} from "./ducklake.ts"
import type { LakeFile } from "./files.ts"
import { reconcileMacros, reconcileSchemas, reconcileTables, reconcileViews } from "./reconcile.ts"
import type { LakeField } from "./types.ts"

type Db = DuckDb["Service"]

/** Begins the snapshot of a generation, with its definitions. Its `tables` are keyed by `schema.table`. */
export const beginSnapshot = Effect.fnUntraced(function* (db: Db, manifest: Manifest, definitions: Definitions) {
  const before = yield* newestSnapshot(db)
  const changes = new Changes(manifest.number, Number(before?.next_catalog_id ?? 1), Number(before?.next_file_id ?? 0))
  const names = [...definitions.tables, ...definitions.views, ...definitions.macros].map(({ schema }) => schema)
  const schemaId = yield* reconcileSchemas(db, changes, names)
  const tables: ReadonlyMap<string, LakeTable> = yield* reconcileTables(db, changes, definitions, schemaId)
  yield* reconcileMacros(db, changes, definitions, schemaId) // views use them
  yield* reconcileViews(db, changes, definitions, schemaId)
  return { manifest, tables, before, changes }
})

type BegunSnapshot = Effect.Success<ReturnType<typeof beginSnapshot>>

const leaves = (field: LakeField, parent = ""): ReadonlyArray<readonly [path: string, id: number]> => {
  const path = parent === "" ? field.name : `${parent}.${field.name}`
  return field.children.length === 0 ? [[path, field.id]] : field.children.flatMap((child) => leaves(child, path))
}

const parquetName = ({ object }: LakeFile) => `${object.sha256}.parquet`

const LiveFile = Schema.Struct({ id: Schema.BigInt, path: Schema.String })
const NextRow = Schema.Struct({ next: Schema.BigInt })

/** Sets the files of a table. Files that it already had stay. Returns the new files. */
export const setFiles = Effect.fnUntraced(function* (
  db: Db,
  { changes, manifest: { number } }: BegunSnapshot,
  { columns, id }: LakeTable,
  files: ReadonlyArray<LakeFile>
) {
  const live = yield* db.all(
    LiveFile,
    `select data_file_id as id, path from ${catalogue}.ducklake_data_file where table_id = ${id} and ${isLive}`
  )
  const wanted = new Map(files.map((file) => [parquetName(file), file]))
  const removed = live.filter(({ path }) => !wanted.has(path))
  const added = [...wanted.values()].filter((file) => !live.some(({ path }) => path === parquetName(file)))
  if (removed.length === 0 && added.length === 0) return added
  const ids = new Map(columns.flatMap(({ field }) => leaves(field)))
  const [stats] = yield* db.all(
    NextRow,
    `select next_row_id as next from ${catalogue}.ducklake_table_stats where table_id = ${id}`
  )
  let nextRow = Number(stats?.next ?? 0)
  const insertFile = (file: LakeFile) => {
    const { footer_bytes, object, rows, statistics } = file
    const fileId = changes.nextFileId++
    const values: ReadonlyArray<Value> = [
      ...[fileId, id, number, null, null, parquetName(file), true, "parquet"],
      ...[rows, object.bytes, footer_bytes, nextRow, null, null, null, null]
    ]
    nextRow += rows
    const columnStats = statistics.flatMap(({ bytes, has_nan, max, min, nulls, path, values: count }) => {
      const column = ids.get(path)
      const numbers = [bytes, count, nulls].map((text) => (text === null ? null : Number(text)))
      return column === undefined ? [] : [[fileId, id, column, ...numbers, min, max, has_nan, null]]
    })
    return [...insertRows("data_file", [values]), ...insertRows("file_column_stats", columnStats)]
  }
  const insertFiles = added.flatMap(insertFile)
  const sum = (count: (file: LakeFile) => number) =>
    [...wanted.values()].reduce((total, file) => total + count(file), 0)
  if (removed.length > 0) changes.names = [...changes.names, `deleted_from_table:${id}`]
  if (added.length > 0) changes.names = [...changes.names, `inserted_into_table:${id}`]
  changes.statements.push(
    ...removed.map((file) => endRows("data_file", number, `data_file_id = ${file.id}`)),
    ...insertFiles,
    `delete from ${catalogue}.ducklake_table_stats where table_id = ${id}`,
    ...insertRows("table_stats", [[id, sum(({ rows }) => rows), nextRow, sum(({ object }) => object.bytes)]])
  )
  return added
})

/** Writes the snapshot into the catalogue. Readers find the lake at `address`. */
export const endSnapshot = Effect.fnUntraced(function* (
  db: Db,
  { before, changes, manifest: { id, made_at, made_by, number }, tables }: BegunSnapshot,
  databases: Extra["databases"],
  address: string,
  message: string
) {
  const version = Number(before?.schema_version ?? 0) + (changes.hasNewDefinitions ? 1 : 0)
  yield* db.run(["begin", ...changes.statements].join(";\n"))
  const changed = yield* db.all(ChangedTable, selectChangedTables(number))
  const delta_versions = { ...before?.extra.delta_versions }
  for (const table of changed) delta_versions[tableKey(table)] = (delta_versions[tableKey(table)] ?? -1) + 1
  const redefined = changed.filter((table) => table.is_defined && tables.has(tableKey(table)))
  const extra = encodeExtra({ id, databases, delta_versions })
  yield* db.run(
    [
      ...insertRows("snapshot", [[number, made_at, version, changes.nextId, changes.nextFileId]]),
      ...insertRows("snapshot_changes", [[number, changes.names.join(","), made_by, message, extra]]),
      ...insertRows(
        "schema_versions",
        redefined.map((table) => [number, version, Number(table.id)])
      ),
      `update ${catalogue}.ducklake_metadata set "value" = ${literal(`${address}/data/`)} where "key" = 'data_path'`,
      "commit"
    ].join(";\n")
  )
})
