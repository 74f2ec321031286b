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
/** In bytes. A catalogue of 27 tables has a fifth of the size that it has with DuckDB's default blocks. */
const blockSize = 16_384

const ddl = readFileSync(new URL("./ducklake.sql", import.meta.url), "utf8")

export type Value = string | number | boolean | null
const toSql = (value: Value) => (typeof value === "string" ? literal(value) : String(value))

/** Inserts rows into a table of the catalogue. Values are in the order of its columns. */
export const insertRows = (table: string, rows: ReadonlyArray<ReadonlyArray<Value>>) => {
  const values = rows.map((row) => `(${row.map(toSql).join(", ")})`).join(", ")
  return rows.length === 0 ? [] : [`insert into ${catalogue}.ducklake_${table} values ${values}`]
}

/** Ends rows with a snapshot. Older snapshots still have them. */
export const endRows = (table: string, number: number, condition: string) =>
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
      ...insertRows("metadata", [
        ["version", "1.0", null, null],
        ["created_by", "Larder", null, null],
        ["data_path", "", null, null],
        ["encrypted", "false", null, null]
      ]),
      ...insertRows("schema", [[0, randomUUID(), 0, null, "main", "main/", true]]),
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
const extraText = Schema.fromJsonString(Extra)
export const encodeExtra = Schema.encodeSync(extraText)

const NewestSnapshot = Schema.Struct({
  snapshot_id: Schema.BigInt,
  schema_version: Schema.BigInt,
  next_catalog_id: Schema.BigInt,
  next_file_id: Schema.BigInt,
  extra: extraText
})
const selectNewest = `
  select snapshot_id, schema_version, next_catalog_id, next_file_id, commit_extra_info as extra
  from ${catalogue}.ducklake_snapshot join ${catalogue}.ducklake_snapshot_changes using (snapshot_id)
  order by snapshot_id desc
  limit 1`

/** The newest snapshot; undefined in a new catalogue. */
export const newestSnapshot = (db: Db) => Effect.map(db.all(NewestSnapshot, selectNewest), ([newest]) => newest)

const ColumnRow = Schema.Struct({
  table: Schema.BigInt,
  id: Schema.BigInt,
  name: Schema.String,
  type: Schema.String,
  is_nullable: Schema.Boolean,
  parent: Schema.NullOr(Schema.BigInt),
  comment: Schema.NullOr(Schema.String)
})

export const isLive = "end_snapshot is null"
export const commentOf = (id: string) =>
  `(select "value" from ${catalogue}.ducklake_tag where object_id = ${id} and "key" = 'comment' and ${isLive})`

/** Parents come before their children. */
const selectColumns = `
  select table_id as "table", column_id as id, column_name as name, column_type as type, nulls_allowed as is_nullable,
    parent_column as parent, (
      select "value" from ${catalogue}.ducklake_column_tag tag
      where tag.table_id = c.table_id and tag.column_id = c.column_id and "key" = 'comment' and ${isLive}
    ) as comment
  from ${catalogue}.ducklake_column c
  where ${isLive}
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

/** The columns of each table, by its id. */
export const columnsByTable = Effect.fnUntraced(function* (db: Db) {
  const tables = new Map<number, Array<LakeColumn>>()
  const childrenById = new Map<string, Array<LakeField>>()
  for (const { comment, id, is_nullable, name, parent, table, type } of yield* db.all(ColumnRow, selectColumns)) {
    const children: Array<LakeField> = []
    const field = { id: Number(id), name, type, children }
    childrenById.set(`${table}.${id}`, children)
    if (parent !== null) childrenById.get(`${table}.${parent}`)?.push(field)
    else tables.set(Number(table), [...(tables.get(Number(table)) ?? []), { field, is_nullable, comment }])
  }
  return tables
})

/** A table that a snapshot changed. `is_defined`: its definition changed, not only its rows. */
export const ChangedTable = Schema.Struct({
  id: Schema.BigInt,
  uuid: Schema.String,
  schema: Schema.String,
  name: Schema.String,
  comment: Schema.NullOr(Schema.String),
  is_defined: Schema.Boolean
})

/** Selects the tables that the newest snapshot changed. */
export const selectChangedTables = (number: number) => {
  const hasChanged = (table: string, id: string) =>
    `exists (from ${catalogue}.ducklake_${table} part where part.${id} = t.table_id and ${number} in (part.begin_snapshot, part.end_snapshot))`
  const definedIn = [
    `${number} in (t.begin_snapshot, t.end_snapshot)`,
    hasChanged("column", "table_id"),
    hasChanged("column_tag", "table_id"),
    hasChanged("tag", "object_id")
  ].join(" or ")
  const isDefined = `coalesce(${definedIn}, false)`
  return `
    select table_id as id, table_uuid::varchar as uuid, schema_name as "schema", table_name as name,
      ${commentOf("table_id")} as comment, (${isDefined}) as is_defined
    from ${catalogue}.ducklake_table t join ${catalogue}.ducklake_schema using (schema_id)
    where (${isDefined}) or ${hasChanged("data_file", "table_id")}
    order by "schema", name`
}

const SnapshotRow = Schema.Struct({ number: Schema.Int, extra: extraText })

/** All snapshots, newest first. */
export const listSnapshots = (db: Db) =>
  db.all(
    SnapshotRow,
    `select snapshot_id::integer as number, commit_extra_info as extra
     from ${catalogue}.ducklake_snapshot_changes order by snapshot_id desc`
  )

/** The oldest version of each table's Delta log that belongs to a snapshot. */
export const readOldestVersions = (db: Db) =>
  Effect.map(listSnapshots(db), (all) => {
    const oldest = new Map<string, number>()
    for (const { extra } of all) {
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

/** The changes of a snapshot in progress, and the ids that it assigns. */
export class Changes {
  readonly statements: Array<string> = []
  /** DuckLake's names for the changes. */
  names: ReadonlyArray<string> = []
  /** Whether the snapshot changes tables, views or macros. */
  hasNewDefinitions = false
  /** The number of the snapshot. */
  readonly number: number
  nextId: number
  nextFileId: number
  constructor(number: number, nextId: number, nextFileId: number) {
    this.number = number
    this.nextId = nextId
    this.nextFileId = nextFileId
  }
  define(name: string, ...statements: ReadonlyArray<string>) {
    this.hasNewDefinitions = true
    if (!this.names.includes(name)) this.names = [...this.names, name]
    this.statements.push(...statements)
  }
}
