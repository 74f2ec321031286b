/**
 * Updates the definitions in the catalogue to those of a generation: schemas, tables with their columns, views and
 * macros. Only what differs gets new rows, and the old rows end.
 */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { qualifiedName } from "../tables/dictionary.ts"
import type { ColumnDefinition, Definitions, TableDefinition } from "./definitions.ts"
import {
  type Changes,
  catalogue,
  columnsByTable,
  commentOf,
  endRows,
  insertRows,
  isLive,
  type LakeColumn,
  type LakeTable,
  tableKey,
  type Value
} from "./ducklake.ts"
import { hasType, type LakeField, type LakeType } from "./types.ts"

type Db = DuckDb["Service"]

export const reconcileSchemas = Effect.fnUntraced(function* (db: Db, changes: Changes, names: Iterable<string>) {
  const live = yield* db.all(
    Schema.Struct({ id: Schema.BigInt, name: Schema.String }),
    `select schema_id as id, schema_name as name from ${catalogue}.ducklake_schema where ${isLive}`
  )
  const schemas = new Map(live.map(({ id, name }) => [name, Number(id)]))
  for (const name of new Set(names)) {
    if (schemas.has(name)) continue
    const id = changes.nextId++
    schemas.set(name, id)
    changes.define(
      `created_schema:"${name}"`,
      ...insertRows("schema", [[id, randomUUID(), changes.number, null, name, `${name}/`, true]])
    )
  }
  return (name: string) => schemas.get(name) ?? 0
})

/** Rows of `ducklake_column` for a column and its nested fields. Ids of a table are never reused. */
const columnRows = (
  table: number,
  number: number,
  { comment, is_nullable, lakeType, name }: ColumnDefinition,
  nextId: () => number
) => {
  const rows: Array<ReadonlyArray<Value>> = []
  const add = (
    fieldName: string,
    { children, type }: LakeType,
    isNullable: boolean,
    parent: number | null
  ): LakeField => {
    const id = nextId()
    const kind = children.length === 0 ? "literal" : ""
    rows.push([id, number, null, table, id, fieldName, type, null, "NULL", isNullable, parent, kind, "duckdb"])
    return { id, name: fieldName, type, children: children.map(([child, type]) => add(child, type, true, id)) }
  }
  const column: LakeColumn = { field: add(name, lakeType, is_nullable, null), is_nullable, comment }
  return { column, rows }
}

const fieldIds = ({ children, id }: LakeField): ReadonlyArray<number> => [id, ...children.flatMap(fieldIds)]

const insertComment = (table: number, number: number, column: number, comment: string | null) =>
  comment === null ? [] : insertRows("column_tag", [[table, column, number, null, "comment", comment]])

/** A changed column gets a new id, and is placed after the others. */
const reconcileColumns = (
  changes: Changes,
  { id, columns }: LakeTable,
  definition: TableDefinition,
  firstFreeId: number
): LakeTable => {
  const { number } = changes
  let nextId = firstFreeId
  const change = `altered_table:${id}`
  const reconciled = definition.columns.map((wanted) => {
    const live = columns.find(
      ({ field, is_nullable }) =>
        field.name === wanted.name && is_nullable === wanted.is_nullable && hasType(field, wanted.lakeType)
    )
    if (live !== undefined && live.comment === wanted.comment) return live
    if (live !== undefined) {
      const condition = `table_id = ${id} and column_id = ${live.field.id} and "key" = 'comment'`
      changes.define(change, endRows("column_tag", number, condition))
      changes.statements.push(...insertComment(id, number, live.field.id, wanted.comment))
      return { ...live, comment: wanted.comment }
    }
    const { column, rows } = columnRows(id, number, wanted, () => nextId++)
    changes.define(change, ...insertRows("column", rows), ...insertComment(id, number, column.field.id, wanted.comment))
    return column
  })
  for (const { field } of columns.filter(({ field }) => !reconciled.some((column) => column.field.id === field.id))) {
    const condition = `table_id = ${id} and column_id in (${fieldIds(field).join(", ")})`
    changes.define(change, endRows("column", number, condition), endRows("column_tag", number, condition))
  }
  return { id, columns: reconciled }
}

const FirstFreeId = Schema.Struct({ id: Schema.BigInt, free: Schema.BigInt })
const TableRow = Schema.Struct({
  id: Schema.BigInt,
  schema: Schema.String,
  name: Schema.String,
  comment: Schema.NullOr(Schema.String)
})

export const reconcileTables = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  { tables: wanted, untouched }: Definitions,
  schemaId: (name: string) => number
) {
  const { number } = changes
  const columns = yield* columnsByTable(db)
  const firstFreeIds = yield* db.all(
    FirstFreeId,
    `select table_id as id, max(column_id) + 1 as free from ${catalogue}.ducklake_column group by table_id`
  )
  const free = new Map(firstFreeIds.map(({ free, id }) => [Number(id), Number(free)]))
  const liveTables = yield* db.all(
    TableRow,
    `select table_id as id, schema_name as "schema", table_name as name, ${commentOf("table_id")} as comment
     from ${catalogue}.ducklake_table t join ${catalogue}.ducklake_schema using (schema_id) where t.${isLive}`
  )
  const liveByKey = new Map(liveTables.map((table) => [tableKey(table), table]))
  const tables = new Map<string, LakeTable>()
  for (const table of wanted) {
    const live = liveByKey.get(tableKey(table))
    const id = live === undefined ? changes.nextId++ : Number(live.id)
    if (live === undefined) {
      changes.define(
        `created_table:${qualifiedName(table)}`,
        ...insertRows("table", [
          [id, randomUUID(), number, null, schemaId(table.schema), table.name, `${table.name}/`, true]
        ])
      )
    }
    if (live?.comment !== table.comment) {
      if (live !== undefined) changes.define(`altered_table:${id}`, endRows("tag", number, `object_id = ${id}`))
      if (table.comment !== null) {
        changes.statements.push(...insertRows("tag", [[id, number, null, "comment", table.comment]]))
      }
    }
    const before = { id, columns: columns.get(id) ?? [] }
    tables.set(tableKey(table), reconcileColumns(changes, before, table, free.get(id) ?? 1))
    // the first columns and comments of a new table are not a change of it
    if (live === undefined) changes.names = changes.names.filter((name) => name !== `altered_table:${id}`)
  }
  for (const { id, ...table } of liveTables) {
    if (tables.has(tableKey(table)) || untouched.has(table.schema)) continue
    changes.define(
      `dropped_table:${id}`,
      ...["table", "column", "data_file", "column_tag"].map((rows) => endRows(rows, number, `table_id = ${id}`)),
      endRows("tag", number, `object_id = ${id}`)
    )
  }
  return tables
})

const DefinitionRow = Schema.Struct({
  id: Schema.BigInt,
  schema: Schema.String,
  name: Schema.String,
  definition: Schema.String
})

/** Reconciles views or macros: if a definition differs, the old one ends and a new one begins. */
const reconcileDefinitions = <A extends { readonly schema: string; readonly name: string }>(
  live: ReadonlyArray<typeof DefinitionRow.Type>,
  wanted: ReadonlyArray<A>,
  untouched: ReadonlySet<string>,
  definitionOf: (definition: A) => string,
  drop: (id: number, replacement: A | undefined) => void,
  create: (definition: A) => void
) => {
  const isSame = (row: typeof DefinitionRow.Type, other: A) => tableKey(row) === tableKey(other)
  for (const row of live) {
    const replacement = wanted.find((definition) => isSame(row, definition))
    const isUnchanged = replacement !== undefined && definitionOf(replacement) === row.definition
    if (!untouched.has(row.schema) && !isUnchanged) drop(Number(row.id), replacement)
  }
  for (const definition of wanted) {
    if (!live.some((row) => isSame(row, definition) && row.definition === definitionOf(definition))) create(definition)
  }
}

export const reconcileViews = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  { untouched, views }: Definitions,
  schemaId: (name: string) => number
) {
  const { number } = changes
  const live = yield* db.all(
    DefinitionRow,
    `select view_id as id, schema_name as "schema", view_name as name, "sql" || chr(0) || coalesce(${commentOf("view_id")}, '') as definition
     from ${catalogue}.ducklake_view v join ${catalogue}.ducklake_schema using (schema_id) where v.${isLive}`
  )
  reconcileDefinitions(
    live,
    views,
    untouched,
    ({ comment, sql }) => `${sql}\0${comment ?? ""}`,
    (id) =>
      changes.define(
        `dropped_view:${id}`,
        endRows("view", number, `view_id = ${id}`),
        endRows("tag", number, `object_id = ${id}`)
      ),
    (view) => {
      const id = changes.nextId++
      changes.define(
        `created_view:${qualifiedName(view)}`,
        // '' means no aliases: with null, `snapshots()` fails in DuckDB 1.5.5
        ...insertRows("view", [
          [id, randomUUID(), number, null, schemaId(view.schema), view.name, "duckdb", view.sql, ""]
        ]),
        ...(view.comment === null ? [] : insertRows("tag", [[id, number, null, "comment", view.comment]]))
      )
    }
  )
})

export const reconcileMacros = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  { macros, untouched }: Definitions,
  schemaId: (name: string) => number
) {
  const { number } = changes
  const live = yield* db.all(
    DefinitionRow,
    `select macro_id as id, schema_name as "schema", macro_name as name, "type" || chr(0) || "sql" || chr(0) || coalesce((
       select string_agg(parameter_name, ',' order by column_id)
       from ${catalogue}.ducklake_macro_parameters p where p.macro_id = m.macro_id
     ), '') as definition
     from ${catalogue}.ducklake_macro m
     join ${catalogue}.ducklake_macro_impl using (macro_id)
     join ${catalogue}.ducklake_schema using (schema_id)
     where m.${isLive}`
  )
  reconcileDefinitions(
    live,
    macros,
    untouched,
    ({ kind, parameters, sql }) => `${kind}\0${sql}\0${parameters.join(",")}`,
    (id, replacement) =>
      changes.define(
        `dropped_${replacement?.kind ?? "scalar"}_macro:${id}`,
        endRows("macro", number, `macro_id = ${id}`)
      ),
    (macro) => {
      const id = changes.nextId++
      changes.define(
        `created_${macro.kind}_macro:${qualifiedName(macro)}`,
        ...insertRows("macro", [[schemaId(macro.schema), id, macro.name, number, null]]),
        ...insertRows("macro_impl", [[id, 0, "duckdb", macro.sql, macro.kind]]),
        ...insertRows(
          "macro_parameters",
          macro.parameters.map((name, index) => [id, 0, index, name, "unknown", "NULL", "unknown"])
        )
      )
    }
  )
})
