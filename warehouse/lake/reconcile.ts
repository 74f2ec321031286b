/** Reconciles the definitions in the catalogue from one snapshot to the next: schemas, tables, views and macros. */
import { randomUUID } from "node:crypto"
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { Free, freeColumns, reconcileColumns } from "./columns.ts"
import type { Definitions } from "./definitions.ts"
import {
  type Changes,
  catalogue,
  columnsByTable,
  commentOf,
  ending,
  inserting,
  isLive,
  keyOf,
  type LakeTable,
  quoted
} from "./ducklake.ts"

type Db = DuckDb["Service"]

const LiveSchema = Schema.Struct({ id: Schema.BigInt, name: Schema.String })
const LiveTable = Schema.Struct({ id: Schema.BigInt, schema: Schema.String, name: Schema.String })
const LiveObject = Schema.Struct({
  id: Schema.BigInt,
  schema: Schema.String,
  name: Schema.String,
  definition: Schema.String
})

export const reconcileSchemas = Effect.fnUntraced(function* (db: Db, changes: Changes, names: Iterable<string>) {
  const { number } = changes
  const found = yield* db.all(
    LiveSchema,
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

export const reconcileTables = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  { tables: wanted, untouched }: Definitions,
  schemaId: (name: string) => number
) {
  const { number } = changes
  const columns = yield* columnsByTable(db)
  const free = new Map((yield* db.all(Free, freeColumns)).map(({ free: next, id }) => [Number(id), Number(next)]))
  const Commented = Schema.Struct({ ...LiveTable.fields, comment: Schema.NullOr(Schema.String) })
  const found = yield* db.all(
    Commented,
    `select table_id as id, schema_name as "schema", table_name as name, ${commentOf("table_id")} as comment
     from ${catalogue}.ducklake_table t join ${catalogue}.ducklake_schema using (schema_id) where t.${isLive}`
  )
  const known = new Map(found.map((table) => [keyOf(table), table]))
  const tables = new Map<string, LakeTable>()
  for (const table of wanted) {
    const live = known.get(keyOf(table))
    const id = live === undefined ? changes.nextId++ : Number(live.id)
    if (live === undefined) {
      changes.define(
        `created_table:${quoted(table)}`,
        ...inserting("table", [
          [id, randomUUID(), number, null, schemaId(table.schema), table.name, `${table.name}/`, true]
        ])
      )
    }
    if (live?.comment !== table.comment) {
      if (live !== undefined) changes.define(`altered_table:${id}`, ending("tag", number, `object_id = ${id}`))
      if (table.comment !== null) {
        changes.statements.push(...inserting("tag", [[id, number, null, "comment", table.comment]]))
      }
    }
    const before = { id, columns: columns.get(id) ?? [] }
    tables.set(keyOf(table), reconcileColumns(changes, before, table, free.get(id) ?? 1))
    // the first columns and comments of a new table are not a change of it
    if (live === undefined) changes.names = changes.names.filter((name) => name !== `altered_table:${id}`)
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

/** Reconciles views or macros: if a definition differs, the old one ends and a new one begins. */
const reconcileOthers = <A extends { readonly schema: string; readonly name: string }>(
  found: ReadonlyArray<typeof LiveObject.Type>,
  wanted: ReadonlyArray<A>,
  untouched: ReadonlySet<string>,
  definitionOf: (one: A) => string,
  drop: (id: number, one: A | undefined) => void,
  make: (one: A) => void
) => {
  for (const { id, definition: before, ...name } of found) {
    const now = wanted.find((one) => keyOf(one) === keyOf(name))
    if (!untouched.has(name.schema) && (now === undefined || definitionOf(now) !== before)) drop(Number(id), now)
  }
  for (const one of wanted) {
    if (!found.some((known) => keyOf(known) === keyOf(one) && known.definition === definitionOf(one))) make(one)
  }
}

export const reconcileViews = Effect.fnUntraced(function* (
  db: Db,
  changes: Changes,
  { untouched, views }: Definitions,
  schemaId: (name: string) => number
) {
  const { number } = changes
  const found = yield* db.all(
    LiveObject,
    `select view_id as id, schema_name as "schema", view_name as name, "sql" || chr(0) || coalesce(${commentOf("view_id")}, '') as definition
     from ${catalogue}.ducklake_view v join ${catalogue}.ducklake_schema using (schema_id) where v.${isLive}`
  )
  reconcileOthers(
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
        // '' means no aliases: with null, `snapshots()` fails in DuckDB 1.5.5
        ...inserting("view", [
          [id, randomUUID(), number, null, schemaId(view.schema), view.name, "duckdb", view.sql, ""]
        ]),
        ...(view.comment === null ? [] : inserting("tag", [[id, number, null, "comment", view.comment]]))
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
  const found = yield* db.all(
    LiveObject,
    `select macro_id as id, schema_name as "schema", macro_name as name, "type" || chr(0) || "sql" || chr(0) || coalesce((
       select string_agg(parameter_name, ',' order by column_id)
       from ${catalogue}.ducklake_macro_parameters p where p.macro_id = m.macro_id
     ), '') as definition
     from ${catalogue}.ducklake_macro m
     join ${catalogue}.ducklake_macro_impl using (macro_id)
     join ${catalogue}.ducklake_schema using (schema_id)
     where m.${isLive}`
  )
  reconcileOthers(
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
