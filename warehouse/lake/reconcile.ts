/**
 * Updates the definitions in the catalogue to those of the session: schemas, tables with their columns, views, macros
 * and comments. Rows that differ are ended, and missing ones are added.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, literal } from "../duckdb.ts"
import {
  catalogue,
  endStatement,
  insertStatements,
  type LakeColumn,
  liveRows,
  readTables,
  selectComment,
  tableKey,
  type Value
} from "./ducklake.ts"
import { isSameType, type LakeField, type NamedType, parseType } from "./types.ts"

const isWanted = "database_name = current_database() and not internal"
const wantedTables = `
  select schema_id, table_name, comment
  from duckdb_tables() join ${liveRows("schema")} using (schema_name)
  where ${isWanted}`
/** `sql` is the query, as DuckDB prints it. */
const wantedViews = `
  select schema_id, view_name, comment, view_oid,
    rtrim(regexp_replace("sql", '^CREATE VIEW .*? AS ', '', 's'), e';\\n') as "sql"
  from duckdb_views() join ${liveRows("schema")} using (schema_name)
  where ${isWanted}`
const wantedMacros = `
  select schema_id, function_name as macro_name, parameters, macro_definition as "sql", function_oid,
    if(function_type = 'macro', 'scalar', 'table') as "type"
  from duckdb_functions() join ${liveRows("schema")} using (schema_name)
  where function_type in ('macro', 'table_macro') and ${isWanted}`

const fromWantedColumns = `
  from duckdb_columns()
  join ${liveRows("schema")} using (schema_name)
  join ${liveRows("table")} t using (schema_id, table_name)`

const keptTables = `select table_id from ${liveRows("table")} join (${wantedTables}) using (schema_id, table_name)`
const keptViews = `
  select view_id from ${liveRows("view")} join (${wantedViews}) w using (schema_id, view_name, "sql")
  where w.comment is not distinct from ${selectComment("view_id")}`
const keptMacros = `
  select macro_id
  from ${liveRows("macro")} m
  join ${catalogue}.ducklake_macro_impl using (macro_id)
  join (${wantedMacros}) using (schema_id, macro_name, "sql", "type")
  where parameters = array(
    select parameter_name from ${catalogue}.ducklake_macro_parameters p where p.macro_id = m.macro_id order by column_id
  )`

/** Ids are unique among schemas, tables, views and macros together, and are never reused. */
export const firstFreeId = `(
  select max(id) from (
    ${[
      `select next_catalog_id as id from ${catalogue}.ducklake_snapshot`,
      ...["schema", "table", "view", "macro"].map((kind) => `select ${kind}_id + 1 from ${catalogue}.ducklake_${kind}`)
    ].join(" union all ")}
  )
)`
const newId = (order: string) => `${firstFreeId} + row_number() over (order by ${order}) - 1`

/** Ends no row of the schemas in `untouched`. The columns and files of a table end with it. */
const definitionStatements = (number: number, untouched: ReadonlySet<string>) => {
  const untouchedNames = ["", ...untouched].map(literal).join(", ")
  const isTouched = `schema_id in (from ${catalogue}.ducklake_schema select schema_id where schema_name not in (${untouchedNames}))`
  const hasNoTable = `table_id not in (from ${liveRows("table")} select table_id)`
  return [
    `insert into ${catalogue}.ducklake_schema
     select ${newId("schema_name")}, uuid(), ${number}, null, schema_name, schema_name || '/', true
     from duckdb_schemas() anti join ${liveRows("schema")} using (schema_name)
     where ${isWanted}`,
    endStatement("table", number, `${isTouched} and table_id not in (${keptTables})`),
    endStatement("column", number, hasNoTable),
    endStatement("data_file", number, hasNoTable),
    endStatement("view", number, `${isTouched} and view_id not in (${keptViews})`),
    endStatement("macro", number, `${isTouched} and macro_id not in (${keptMacros})`),
    `insert into ${catalogue}.ducklake_table
     select ${newId("schema_id, table_name")}, uuid(), ${number}, null, schema_id, table_name, table_name || '/', true
     from (${wantedTables}) anti join ${liveRows("table")} using (schema_id, table_name)`,
    `insert into ${catalogue}.ducklake_macro
     select schema_id, ${newId("function_oid")}, macro_name, ${number}, null
     from (${wantedMacros}) anti join ${liveRows("macro")} using (schema_id, macro_name)`,
    `insert into ${catalogue}.ducklake_macro_impl
     select macro_id, 0, 'duckdb', "sql", "type"
     from (${wantedMacros}) join ${liveRows("macro")} using (schema_id, macro_name)
     where begin_snapshot = ${number}`,
    `insert into ${catalogue}.ducklake_macro_parameters
     select macro_id, 0, unnest(range(len(parameters))), unnest(parameters), 'unknown', 'NULL', 'unknown'
     from (${wantedMacros}) join ${liveRows("macro")} using (schema_id, macro_name)
     where begin_snapshot = ${number}`,
    // '' means no aliases: with null, `snapshots()` fails in DuckDB 1.5.5
    `insert into ${catalogue}.ducklake_view
     select ${newId("view_oid")}, uuid(), ${number}, null, schema_id, view_name, 'duckdb', "sql", ''
     from (${wantedViews}) anti join ${liveRows("view")} using (schema_id, view_name)`
  ]
}

const WantedColumn = Schema.Struct({
  schema: Schema.String,
  table: Schema.String,
  table_id: Schema.BigInt,
  name: Schema.String,
  type: Schema.String,
  is_nullable: Schema.Boolean,
  /** The smallest id that no column of the table has ever had. */
  free_id: Schema.BigInt
})
const selectWantedColumns = `
  select schema_name as "schema", table_name as "table", table_id, column_name as name, data_type as type, is_nullable,
    (select coalesce(max(column_id), 0) + 1 from ${catalogue}.ducklake_column c where c.table_id = t.table_id) as free_id
  ${fromWantedColumns}
  where ${isWanted}
  order by table_id, column_index`

const listFieldIds = ({ children, id }: LakeField): ReadonlyArray<number> => [id, ...children.flatMap(listFieldIds)]

/** Rows of `ducklake_column` for a column and its nested fields. */
const buildColumnRows = (table: number, number: number, column: NamedType, isNullable: boolean, firstId: number) => {
  const rows: Array<ReadonlyArray<Value>> = []
  const add = ({ children, name, type }: NamedType, isNullable: boolean, parent: number | null) => {
    const id = firstId + rows.length
    const kind = children.length === 0 ? "literal" : ""
    rows.push([id, number, null, table, id, name, type, null, "NULL", isNullable, parent, kind, "duckdb"])
    for (const child of children) add(child, true, id)
  }
  add(column, isNullable, null)
  return rows
}

/** A changed column gets a new id, and is placed after the others. */
const makeColumnStatements = Effect.fnUntraced(function* (db: DuckDb["Service"], number: number) {
  const liveTables = yield* readTables(db)
  const wanted = yield* db.all(WantedColumn, selectWantedColumns)
  return [...Map.groupBy(wanted, ({ schema, table }) => tableKey({ schema, name: table }))].flatMap(
    ([key, columns]) => {
      const id = Number(columns[0]?.table_id)
      const freeId = Number(columns[0]?.free_id)
      const live = liveTables.get(key)?.columns ?? []
      const kept = new Set<LakeColumn>()
      const added: Array<ReadonlyArray<Value>> = []
      for (const { is_nullable, name, type } of columns) {
        const wantedType = parseType(type)
        const same = live.find(
          (column) =>
            column.field.name === name && column.is_nullable === is_nullable && isSameType(column.field, wantedType)
        )
        if (same !== undefined) kept.add(same)
        else added.push(...buildColumnRows(id, number, { name, ...wantedType }, is_nullable, freeId + added.length))
      }
      const ended = live.filter((column) => !kept.has(column)).flatMap(({ field }) => listFieldIds(field))
      return [
        ...(ended.length === 0
          ? []
          : [endStatement("column", number, `table_id = ${id} and column_id in (${ended.join(", ")})`)]),
        ...insertStatements("column", added)
      ]
    }
  )
})

/** `owners` selects the ids of everything live, and `wanted` the ids and comments of the session's definitions. */
const commentStatements = (
  number: number,
  table: "tag" | "column_tag",
  ids: string,
  owners: string,
  wanted: string
) => [
  endStatement(table, number, `(${ids}) not in (${owners})`),
  `update ${catalogue}.ducklake_${table} old set end_snapshot = ${number}
   from (select (${ids}) as ids, comment from (${wanted})) new
   where old.end_snapshot is null and (${ids}) = ids and comment is distinct from "value"`,
  `insert into ${catalogue}.ducklake_${table}
   select ${ids}, ${number}, null, 'comment', comment
   from (${wanted}) anti join ${liveRows(table)} using (${ids})
   where comment is not null`
]

/** Returns the live tables, by `schema.table`. */
export const reconcile = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  number: number,
  untouched: ReadonlySet<string>
) {
  yield* db.run(definitionStatements(number, untouched).join(";\n"))
  const columns = yield* makeColumnStatements(db, number)
  const comments = [
    ...commentStatements(
      number,
      "tag",
      "object_id",
      `select table_id from ${liveRows("table")} union all select view_id from ${liveRows("view")}`,
      `select table_id as object_id, comment from (${wantedTables}) join ${liveRows("table")} using (schema_id, table_name)
       union all
       select view_id, comment from (${wantedViews}) join ${liveRows("view")} using (schema_id, view_name)`
    ),
    ...commentStatements(
      number,
      "column_tag",
      "table_id, column_id",
      `select table_id, column_id from ${liveRows("column")}`,
      `select table_id, column_id, comment
       ${fromWantedColumns} join ${liveRows("column")} using (table_id, column_name)
       where ${isWanted} and parent_column is null`
    )
  ]
  yield* db.run([...columns, ...comments].join(";\n"))
  return yield* readTables(db)
})
