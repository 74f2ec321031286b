/**
 * Reads and writes the catalogue of the lake: a DuckLake 1.0 catalogue in a DuckDB file, with a snapshot for each
 * generation, under the same number. Only Larder writes it; other engines only read it. Rows that a snapshot drops are
 * ended, not deleted, so that older snapshots stay readable.
 */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import type { LakeField } from "./types.ts"

type Db = DuckDb["Service"]

/** The catalogue is attached under this name. */
export const catalogue = "lake"
/** In bytes. With DuckDB's default blocks, a catalogue of 27 tables is five times as large. */
const blockSize = 16_384

const ddl = readFileSync(new URL("./ducklake.sql", import.meta.url), "utf8")

export type Value = string | number | boolean | null
const toSql = (value: Value) => (typeof value === "string" ? literal(value) : String(value))

/** SQL that inserts rows into a table of the catalogue. Values are in the order of its columns. */
export const insertStatements = (table: string, rows: ReadonlyArray<ReadonlyArray<Value>>) => {
  const values = rows.map((row) => `(${row.map(toSql).join(", ")})`).join(", ")
  return rows.length === 0 ? [] : [`insert into ${catalogue}.ducklake_${table} values ${values}`]
}

const isLive = "end_snapshot is null"
/** The rows of a table of the catalogue that are part of the newest snapshot. */
export const liveRows = (table: string) => `(from ${catalogue}.ducklake_${table} where ${isLive})`

/** SQL that ends rows with a snapshot. Older snapshots still have them. */
export const endStatement = (table: string, number: number, condition: string) =>
  `update ${catalogue}.ducklake_${table} set end_snapshot = ${number} where ${condition} and ${isLive}`

/** Attaches the catalogue in a file, and creates it if `isNew`. */
export const attachCatalogue = Effect.fnUntraced(function* (db: Db, file: string, isNew: boolean) {
  if (!isNew) return yield* db.run(`attach ${literal(file)} as ${catalogue}`)
  const tables = ddl.replaceAll("create table ", `create table ${catalogue}.`)
  yield* db.run(`attach ${literal(file)} as ${catalogue} (block_size ${blockSize})`)
  yield* db.run(
    [
      "begin",
      tables.trim().replace(/;$/, ""),
      ...insertStatements("metadata", [
        ["version", "1.0", null, null],
        ["created_by", "Larder", null, null],
        ["data_path", "", null, null],
        ["encrypted", "false", null, null]
      ]),
      ...insertStatements("schema", [[0, randomUUID(), 0, null, "main", "main/", true]]),
      "commit"
    ].join(";\n")
  )
})

/** What Larder records about a snapshot, in addition to DuckLake's columns. */
const Extra = Schema.Struct({
  /** The id of the manifest. */
  id: Schema.String,
  /** The SHA-256 of each data set's database, by schema. */
  databases: Schema.Record(Schema.String, Schema.String),
  /** The newest version of each table's Delta log, by `schema.table`. */
  delta_versions: Schema.Record(Schema.String, Schema.Int)
})
export type Extra = typeof Extra.Type
const ExtraFromJson = Schema.fromJsonString(Extra)
export const encodeExtra = Schema.encodeSync(ExtraFromJson)

const NewestSnapshot = Schema.Struct({
  number: Schema.Int,
  schema_version: Schema.Int,
  made_at: Schema.Date,
  extra: ExtraFromJson
})
const selectNewest = `
  select snapshot_id::integer as number, schema_version::integer as schema_version, snapshot_time as made_at,
    commit_extra_info as extra
  from ${catalogue}.ducklake_snapshot join ${catalogue}.ducklake_snapshot_changes using (snapshot_id)
  order by snapshot_id desc
  limit 1`

/** The newest snapshot; undefined in a new catalogue. */
export const newestSnapshot = (db: Db) => Effect.map(db.all(NewestSnapshot, selectNewest), ([newest]) => newest)

const ColumnRow = Schema.Struct({
  schema: Schema.String,
  table: Schema.String,
  table_id: Schema.BigInt,
  id: Schema.BigInt,
  name: Schema.String,
  type: Schema.String,
  is_nullable: Schema.Boolean,
  parent: Schema.NullOr(Schema.BigInt),
  comment: Schema.NullOr(Schema.String)
})

export const selectComment = (id: string) => `(select "value" from ${liveRows("tag")} where object_id = ${id})`

/** Parents come before their children. */
const selectColumns = `
  select schema_name as "schema", table_name as "table", table_id, column_id as id, column_name as name,
    column_type as type, nulls_allowed as is_nullable, parent_column as parent, "value" as comment
  from ${liveRows("column")}
  join ${liveRows("table")} using (table_id)
  join ${liveRows("schema")} using (schema_id)
  left join ${liveRows("column_tag")} using (table_id, column_id)
  order by table_id, column_order`

export interface LakeColumn {
  readonly field: LakeField
  readonly is_nullable: boolean
  readonly comment: string | null
}

export interface LakeTable {
  readonly id: number
  readonly columns: ReadonlyArray<LakeColumn>
}

/** The live tables, by `schema.table`. */
export const readTables = Effect.fnUntraced(function* (db: Db) {
  const tables = new Map<string, LakeTable & { readonly columns: Array<LakeColumn> }>()
  const childrenById = new Map<string, Array<LakeField>>()
  for (const row of yield* db.all(ColumnRow, selectColumns)) {
    const { comment, id, is_nullable, name, parent, schema, table: tableName, table_id, type } = row
    const key = tableKey({ schema, name: tableName })
    const table = tables.get(key) ?? { id: Number(table_id), columns: [] }
    tables.set(key, table)
    const children: Array<LakeField> = []
    const field = { id: Number(id), name, type, children }
    childrenById.set(`${table_id}.${id}`, children)
    if (parent === null) table.columns.push({ field, is_nullable, comment })
    else childrenById.get(`${table_id}.${parent}`)?.push(field)
  }
  return tables
})

/** A table that a snapshot changed. `has_new_definition`: it changed the definition, not only the rows. */
export const ChangedTable = Schema.Struct({
  id: Schema.BigInt,
  uuid: Schema.String,
  schema: Schema.String,
  name: Schema.String,
  comment: Schema.NullOr(Schema.String),
  has_new_definition: Schema.Boolean,
  is_dropped: Schema.Boolean
})

/** Whether a snapshot changed rows in a table of the catalogue that belong to the table `t` of the lake. */
const hasChanged = (number: number, table: string, id = "table_id") =>
  `exists (from ${catalogue}.ducklake_${table} part where part.${id} = t.table_id and ${number} in (part.begin_snapshot, part.end_snapshot))`

/** Whether a snapshot changed the columns or comments of `t`. */
export const isAltered = (number: number) =>
  `(${hasChanged(number, "column")} or ${hasChanged(number, "column_tag")} or ${hasChanged(number, "tag", "object_id")})`

/** Selects the tables that the newest snapshot changed. */
export const selectChangedTables = (number: number) => `
  with changed as (
    select *, coalesce(${number} in (begin_snapshot, end_snapshot), false) or ${isAltered(number)} as has_new_definition
    from ${catalogue}.ducklake_table t
    where has_new_definition or ${hasChanged(number, "data_file")}
  )
  select table_id as id, table_uuid::varchar as uuid, schema_name as "schema", table_name as name,
    ${selectComment("table_id")} as comment, has_new_definition, t.end_snapshot is not null as is_dropped
  from changed t join ${catalogue}.ducklake_schema using (schema_id)
  order by "schema", name`

const SnapshotRow = Schema.Struct({ number: Schema.Int, extra: ExtraFromJson })

/** All snapshots, newest first. */
export const listSnapshots = (db: Db) =>
  db.all(
    SnapshotRow,
    `select snapshot_id::integer as number, commit_extra_info as extra
     from ${catalogue}.ducklake_snapshot_changes order by snapshot_id desc`
  )

/** The oldest version of each table's Delta log that belongs to a snapshot. */
export const readOldestVersions = (db: Db) =>
  Effect.map(listSnapshots(db), (snapshots) => {
    const oldest = new Map<string, number>()
    for (const { extra } of snapshots) {
      for (const [table, version] of Object.entries(extra.delta_versions)) oldest.set(table, version) // the oldest comes last
    }
    return oldest
  })

const FileRow = Schema.Struct({ schema: Schema.String, table: Schema.String, path: Schema.String })

/** Every file that a snapshot names, or that is scheduled for deletion. */
export const listFiles = (db: Db) =>
  db.all(
    FileRow,
    `select distinct schema_name as "schema", table_name as "table", f.path
     from ${catalogue}.ducklake_data_file f
     join ${catalogue}.ducklake_table using (table_id)
     join ${catalogue}.ducklake_schema using (schema_id)
     union
     select split_part(path, '/', 1), split_part(path, '/', 2), split_part(path, '/', 3)
     from ${catalogue}.ducklake_files_scheduled_for_deletion`
  )

export const tableKey = ({ name, schema }: { readonly schema: string; readonly name: string }) => `${schema}.${name}`
