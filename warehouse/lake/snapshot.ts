/**
 * A generation as a snapshot of the lake's catalogue. What is defined otherwise than before, and files with rows that were not there
 * before, begin with it; what it no longer has ends with it, so that older snapshots stay readable.
 */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import type { Manifest } from "../generation/manifest.ts"
import type { ColumnDefinition, Definitions, TableDefinition } from "./definitions.ts"
import {
  ChangedTable,
  type Column,
  catalogue,
  changedTables,
  columnsByTable,
  commentOf,
  type Extra,
  encodeExtra,
  inserting,
  isLive,
  type LakeTable,
  type Newest,
  newestSnapshot,
  type Value
} from "./ducklake.ts"
import type { LakeFile } from "./files.ts"
import { isSameShape, type Node, type Shape } from "./types.ts"

type Db = DuckDb["Service"]

const Named = Schema.Struct({ id: Schema.BigInt, name: Schema.String })
const LiveTable = Schema.Struct({ id: Schema.BigInt, schema: Schema.String, name: Schema.String })
const LiveFile = Schema.Struct({ table: Schema.BigInt, id: Schema.BigInt, path: Schema.String })
const LiveObject = Schema.Struct({
  id: Schema.BigInt,
  schema: Schema.String,
  name: Schema.String,
  said: Schema.String
})

const keyOf = ({ name, schema }: { readonly schema: string; readonly name: string }) => `${schema}.${name}`

/** What a snapshot that is being made changes, and the ids that it gives. */
class Changes {
  readonly statements: Array<string> = []
  /** As DuckLake names them. */
  names: ReadonlyArray<string> = []
  /** Whether tables, views or macros are others than before. */
  areDefinitionsOther = false
  nextId: number
  nextFile: number
  constructor(nextId: number, nextFile: number) {
    this.nextId = nextId
    this.nextFile = nextFile
  }
  define(name: string, ...statements: ReadonlyArray<string>) {
    this.areDefinitionsOther = true
    if (!this.names.includes(name)) this.names = [...this.names, name]
    this.statements.push(...statements)
  }
}

const quoted = ({ name, schema }: { readonly schema: string; readonly name: string }) => `"${schema}"."${name}"`
const ending = (table: string, number: number, where: string) =>
  `update ${catalogue}.ducklake_${table} set end_snapshot = ${number} where ${where} and ${isLive}`

/** Rows of `ducklake_column` for a column and what is in it. Ids of a table are never given twice. */
const columnRows = (
  table: number,
  number: number,
  { comment, is_nullable, name, shape }: ColumnDefinition,
  nextId: () => number
) => {
  const rows: Array<ReadonlyArray<Value>> = []
  const add = (of: string, { children, type }: Shape, isNullable: boolean, parent: number | null): Node => {
    const id = nextId()
    const kind = children.length === 0 ? "literal" : ""
    rows.push([id, number, null, table, id, of, type, null, "NULL", isNullable, parent, kind, "duckdb"])
    return { id, name: of, type, children: children.map(([inside, its]) => add(inside, its, true, id)) }
  }
  return {
    column: { node: add(name, shape, is_nullable, null), is_nullable, comment } satisfies Column as Column,
    rows
  }
}

/** Settles which columns a table has. One that is another than before gets a new id, and its place is behind the others. */
const settleColumns = (
  changes: Changes,
  number: number,
  { id, columns }: LakeTable,
  wanted: TableDefinition,
  firstFree: number
): LakeTable => {
  let next = firstFree
  const altered = `altered_table:${id}`
  const kept = (column: Column, definition: ColumnDefinition) =>
    column.node.name === definition.name &&
    column.is_nullable === definition.is_nullable &&
    isSameShape(column.node, definition.shape)
  const settled = wanted.columns.map((definition) => {
    const before = columns.find((column) => kept(column, definition))
    if (before !== undefined && before.comment === definition.comment) return before
    if (before !== undefined) {
      const where = `table_id = ${id} and column_id = ${before.node.id} and "key" = 'comment'`
      changes.define(altered, ending("column_tag", number, where))
      changes.statements.push(...commenting(id, number, before.node.id, definition.comment))
      return { ...before, comment: definition.comment }
    }
    const { column, rows } = columnRows(id, number, definition, () => next++)
    changes.define(altered, ...inserting("column", rows), ...commenting(id, number, column.node.id, definition.comment))
    return column
  })
  const left = columns.filter(({ node }) => !settled.some((column) => column.node.id === node.id))
  for (const { node } of left) {
    const its = `table_id = ${id} and column_id in (${idsIn(node).join(", ")})`
    changes.define(altered, ending("column", number, its), ending("column_tag", number, its))
  }
  return { id, columns: settled }
}

const idsIn = ({ children, id }: Node): ReadonlyArray<number> => [id, ...children.flatMap(idsIn)]
const commenting = (table: number, number: number, column: number, comment: string | null) =>
  comment === null ? [] : inserting("column_tag", [[table, column, number, null, "comment", comment]])

const Free = Schema.Struct({ id: Schema.BigInt, free: Schema.BigInt })
const freeColumns = `select table_id as id, max(column_id) + 1 as free from ${catalogue}.ducklake_column group by table_id`

export interface Snapshot {
  readonly manifest: Manifest
  /** Tables as they are defined now, by `schema.table`. */
  readonly tables: ReadonlyMap<string, LakeTable>
  readonly before: typeof Newest.Type | undefined
  readonly changes: Changes
}

const settleSchemas = Effect.fnUntraced(function* (db: Db, changes: Changes, number: number, names: Iterable<string>) {
  const found = yield* db.all(
    Named,
    `select schema_id as id, schema_name as name from ${catalogue}.ducklake_schema where ${isLive}`
  )
  const schemas = new Map(found.map(({ id, name }) => [name, Number(id)]))
  for (const name of new Set(names)) {
    if (schemas.has(name)) continue
    const id = changes.nextId++
    schemas.set(name, id)
    changes.define(
      `created_schema:"${name}"`,
      ...inserting("schema", [[id, randomUUID(), number, null, name, `${name}/`, true]])
    )
  }
  return (name: string) => schemas.get(name) ?? 0
})

const settleTables = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  number: number,
  { tables: wanted, untouched }: Definitions,
  schemaId: (name: string) => number
) {
  const columns = yield* columnsByTable(db)
  const free = new Map((yield* db.all(Free, freeColumns)).map(({ free: next, id }) => [Number(id), Number(next)]))
  const Commented = Schema.Struct({ ...LiveTable.fields, comment: Schema.NullOr(Schema.String) })
  const found = yield* db.all(
    Commented,
    `select table_id as id, schema_name as "schema", table_name as name, ${commentOf("table_id")} as comment
     from ${catalogue}.ducklake_table t join ${catalogue}.ducklake_schema using (schema_id) where t.${isLive}`
  )
  const before = new Map(found.map((table) => [keyOf(table), table]))
  const tables = new Map<string, LakeTable>()
  for (const table of wanted) {
    const known = before.get(keyOf(table))
    const id = known === undefined ? changes.nextId++ : Number(known.id)
    if (known === undefined) {
      changes.define(
        `created_table:${quoted(table)}`,
        ...inserting("table", [
          [id, randomUUID(), number, null, schemaId(table.schema), table.name, `${table.name}/`, true]
        ])
      )
    }
    if (known?.comment !== table.comment) {
      if (known !== undefined) changes.define(`altered_table:${id}`, ending("tag", number, `object_id = ${id}`))
      if (table.comment !== null) {
        changes.statements.push(...inserting("tag", [[id, number, null, "comment", table.comment]]))
      }
    }
    const settled = { id, columns: columns.get(id) ?? [] }
    tables.set(keyOf(table), settleColumns(changes, number, settled, table, free.get(id) ?? 1))
    // what it begins with is no change of it
    if (known === undefined) changes.names = changes.names.filter((name) => name !== `altered_table:${id}`)
  }
  for (const { id, ...table } of found) {
    if (tables.has(keyOf(table)) || untouched.has(table.schema)) continue
    changes.define(
      `dropped_table:${id}`,
      ...["table", "column", "data_file"].map((of) => ending(of, number, `table_id = ${id}`)),
      ending("tag", number, `object_id = ${id}`),
      ending("column_tag", number, `table_id = ${id}`)
    )
  }
  return tables
})

/** Views or macros: where what is said of one differs, it is ended, and made anew. */
const settleOthers = <A extends { readonly schema: string; readonly name: string }>(
  found: ReadonlyArray<typeof LiveObject.Type>,
  wanted: ReadonlyArray<A>,
  untouched: ReadonlySet<string>,
  said: (one: A) => string,
  drop: (id: number, one: A | undefined) => void,
  make: (one: A) => void
) => {
  for (const { id, said: before, ...name } of found) {
    const now = wanted.find((one) => keyOf(one) === keyOf(name))
    if (!untouched.has(name.schema) && (now === undefined || said(now) !== before)) drop(Number(id), now)
  }
  for (const one of wanted) {
    if (!found.some((known) => keyOf(known) === keyOf(one) && known.said === said(one))) make(one)
  }
}

const settleViews = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  number: number,
  { untouched, views }: Definitions,
  schemaId: (name: string) => number
) {
  const found = yield* db.all(
    LiveObject,
    `select view_id as id, schema_name as "schema", view_name as name, "sql" || chr(0) || coalesce(${commentOf("view_id")}, '') as said
     from ${catalogue}.ducklake_view v join ${catalogue}.ducklake_schema using (schema_id) where v.${isLive}`
  )
  settleOthers(
    found,
    views,
    untouched,
    ({ comment, sql }) => `${sql}\0${comment ?? ""}`,
    (id) =>
      changes.define(
        `dropped_view:${id}`,
        ending("view", number, `view_id = ${id}`),
        ending("tag", number, `object_id = ${id}`)
      ),
    (view) => {
      const id = changes.nextId++
      changes.define(
        `created_view:${quoted(view)}`,
        // '' for no aliases: with null `snapshots()` fails in DuckDB 1.5.5
        ...inserting("view", [
          [id, randomUUID(), number, null, schemaId(view.schema), view.name, "duckdb", view.sql, ""]
        ]),
        ...(view.comment === null ? [] : inserting("tag", [[id, number, null, "comment", view.comment]]))
      )
    }
  )
})

const settleMacros = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  number: number,
  { macros, untouched }: Definitions,
  schemaId: (name: string) => number
) {
  const found = yield* db.all(
    LiveObject,
    `select macro_id as id, schema_name as "schema", macro_name as name, "type" || chr(0) || "sql" || chr(0) || coalesce((
       select string_agg(parameter_name, ',' order by column_id)
       from ${catalogue}.ducklake_macro_parameters p where p.macro_id = m.macro_id
     ), '') as said
     from ${catalogue}.ducklake_macro m
     join ${catalogue}.ducklake_macro_impl using (macro_id)
     join ${catalogue}.ducklake_schema using (schema_id)
     where m.${isLive}`
  )
  settleOthers(
    found,
    macros,
    untouched,
    ({ kind, parameters, sql }) => `${kind}\0${sql}\0${parameters.join(",")}`,
    (id, one) =>
      changes.define(`dropped_${one?.kind ?? "scalar"}_macro:${id}`, ending("macro", number, `macro_id = ${id}`)),
    (macro) => {
      const id = changes.nextId++
      changes.define(
        `created_${macro.kind}_macro:${quoted(macro)}`,
        ...inserting("macro", [[schemaId(macro.schema), id, macro.name, number, null]]),
        ...inserting("macro_impl", [[id, 0, "duckdb", macro.sql, macro.kind]]),
        ...inserting(
          "macro_parameters",
          macro.parameters.map((name, at) => [id, 0, at, name, "unknown", "NULL", "unknown"])
        )
      )
    }
  )
})

/** Begins the snapshot of a generation, with what is defined in it. */
export const beginSnapshot = Effect.fnUntraced(function* (db: Db, manifest: Manifest, definitions: Definitions) {
  const { number } = manifest
  const before = yield* newestSnapshot(db)
  const changes = new Changes(Number(before?.next_catalog_id ?? 1), Number(before?.next_file_id ?? 0))
  const { macros, tables, views } = definitions
  const schemaId = yield* settleSchemas(
    db,
    changes,
    number,
    [...tables, ...views, ...macros].map(({ schema }) => schema)
  )
  const settled = yield* settleTables(db, changes, number, definitions, schemaId)
  yield* settleMacros(db, changes, number, definitions, schemaId) // views use them
  yield* settleViews(db, changes, number, definitions, schemaId)
  return { manifest, tables: settled, before, changes } satisfies Snapshot as Snapshot
})

const leavesOf = (node: Node, above = ""): ReadonlyArray<readonly [path: string, id: number]> => {
  const at = above === "" ? node.name : `${above}.${node.name}`
  return node.children.length === 0 ? [[at, node.id]] : node.children.flatMap((child) => leavesOf(child, at))
}

export const fileName = ({ object }: LakeFile) => `${object.sha256}.parquet`

/** What a table consists of now. Files that it had before stay; answers with those that are new. */
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
  const wanted = new Map(files.map((file) => [fileName(file), file]))
  const gone = found.filter(({ path }) => !wanted.has(path))
  const fresh = [...wanted.values()].filter((file) => !found.some(({ path }) => path === fileName(file)))
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
      ...[fileId, id, number, null, null, fileName(file), true, "parquet"],
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

export interface Told {
  readonly databases: Extra["databases"]
  /** Where readers find the lake. */
  readonly address: string
  readonly message: string
}

/** Writes the snapshot into the catalogue. */
export const endSnapshot = Effect.fnUntraced(function* (
  db: Db,
  { before, changes, manifest: { id, made_at, made_by, number }, tables }: Snapshot,
  { address, databases, message }: Told
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
