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
  changedTables,
  type Extra,
  encodeExtra,
  ending,
  inserting,
  isLive,
  keyOf,
  type LakeTable,
  type Newest,
  newestSnapshot,
  type Value
} from "./ducklake.ts"
import type { LakeFile } from "./files.ts"
import { reconcileMacros, reconcileSchemas, reconcileTables, reconcileViews } from "./reconcile.ts"
import type { Node } from "./types.ts"

type Db = DuckDb["Service"]

const LiveFile = Schema.Struct({ table: Schema.BigInt, id: Schema.BigInt, path: Schema.String })

export interface Snapshot {
  readonly manifest: Manifest
  /** Tables as they are defined now, by `schema.table`. */
  readonly tables: ReadonlyMap<string, LakeTable>
  readonly before: typeof Newest.Type | undefined
  readonly changes: Changes
}

/** Begins the snapshot of a generation, with its definitions. */
export const beginSnapshot = Effect.fnUntraced(function* (db: Db, manifest: Manifest, definitions: Definitions) {
  const before = yield* newestSnapshot(db)
  const changes = new Changes(manifest.number, Number(before?.next_catalog_id ?? 1), Number(before?.next_file_id ?? 0))
  const { macros, tables, views } = definitions
  const schemaId = yield* reconcileSchemas(
    db,
    changes,
    [...tables, ...views, ...macros].map(({ schema }) => schema)
  )
  const reconciled = yield* reconcileTables(db, changes, definitions, schemaId)
  yield* reconcileMacros(db, changes, definitions, schemaId) // views use them
  yield* reconcileViews(db, changes, definitions, schemaId)
  return { manifest, tables: reconciled, before, changes } satisfies Snapshot as Snapshot
})

const leavesOf = (node: Node, above = ""): ReadonlyArray<readonly [path: string, id: number]> => {
  const at = above === "" ? node.name : `${above}.${node.name}`
  return node.children.length === 0 ? [[at, node.id]] : node.children.flatMap((child) => leavesOf(child, at))
}

const parquetName = ({ object }: LakeFile) => `${object.sha256}.parquet`

/** Sets the files of a table. Files that it already had stay. Returns the new files. */
export const setFiles = Effect.fnUntraced(function* (
  db: Db,
  { changes, manifest: { number } }: Snapshot,
  { columns, id }: LakeTable,
  files: ReadonlyArray<LakeFile>
) {
  const found = yield* db.all(
    LiveFile,
    `select table_id as "table", data_file_id as id, path from ${catalogue}.ducklake_data_file where table_id = ${id} and ${isLive}`
  )
  const wanted = new Map(files.map((file) => [parquetName(file), file]))
  const gone = found.filter(({ path }) => !wanted.has(path))
  const fresh = [...wanted.values()].filter((file) => !found.some(({ path }) => path === parquetName(file)))
  if (gone.length === 0 && fresh.length === 0) return fresh
  const ids = new Map(columns.flatMap(({ node }) => leavesOf(node)))
  const [stated] = yield* db.all(
    Schema.Struct({ next: Schema.BigInt }),
    `select next_row_id as next from ${catalogue}.ducklake_table_stats where table_id = ${id}`
  )
  let row = Number(stated?.next ?? 0)
  const add = (file: LakeFile) => {
    const { footer_bytes, object, rows, statistics } = file
    const fileId = changes.nextFile++
    const values: ReadonlyArray<Value> = [
      ...[fileId, id, number, null, null, parquetName(file), true, "parquet"],
      ...[rows, object.bytes, footer_bytes, row, null, null, null, null]
    ]
    row += rows
    const of = statistics.flatMap(({ bytes, has_nan, max, min, nulls, path, values: count }) => {
      const column = ids.get(path)
      const numbers = [bytes, count, nulls].map((text) => (text === null ? null : Number(text)))
      return column === undefined ? [] : [[fileId, id, column, ...numbers, min, max, has_nan, null]]
    })
    return [...inserting("data_file", [values]), ...inserting("file_column_stats", of)]
  }
  const added = fresh.flatMap(add)
  const all = [...wanted.values()]
  const sum = (of: (file: LakeFile) => number) => all.reduce((total, file) => total + of(file), 0)
  if (gone.length > 0) changes.names = [...changes.names, `deleted_from_table:${id}`]
  if (fresh.length > 0) changes.names = [...changes.names, `inserted_into_table:${id}`]
  changes.statements.push(
    ...gone.map((file) => ending("data_file", number, `data_file_id = ${file.id}`)),
    ...added,
    `delete from ${catalogue}.ducklake_table_stats where table_id = ${id}`,
    ...inserting("table_stats", [[id, sum(({ rows }) => rows), row, sum(({ object }) => object.bytes)]])
  )
  return fresh
})

interface SnapshotNotes {
  readonly databases: Extra["databases"]
  /** Address at which readers find the lake. */
  readonly address: string
  readonly message: string
}

/** Writes the snapshot into the catalogue. */
export const endSnapshot = Effect.fnUntraced(function* (
  db: Db,
  { before, changes, manifest: { id, made_at, made_by, number }, tables }: Snapshot,
  { address, databases, message }: SnapshotNotes
) {
  const version = Number(before?.schema_version ?? 0) + (changes.areDefinitionsOther ? 1 : 0)
  yield* db.run(["begin", ...changes.statements].join(";\n"))
  const changed = yield* db.all(ChangedTable, changedTables(number))
  const delta_versions = { ...before?.extra.delta_versions }
  for (const table of changed) delta_versions[keyOf(table)] = (delta_versions[keyOf(table)] ?? -1) + 1
  const versioned = changed.filter((table) => table.is_defined && tables.has(keyOf(table)))
  const extra = encodeExtra({ id, databases, delta_versions })
  yield* db.run(
    [
      ...inserting("snapshot", [[number, made_at, version, changes.nextId, changes.nextFile]]),
      ...inserting("snapshot_changes", [[number, changes.names.join(","), made_by, message, extra]]),
      ...inserting(
        "schema_versions",
        versioned.map((table) => [number, version, Number(table.id)])
      ),
      `update ${catalogue}.ducklake_metadata set "value" = ${literal(`${address}/data/`)} where "key" = 'data_path'`,
      "commit"
    ].join(";\n")
  )
})
