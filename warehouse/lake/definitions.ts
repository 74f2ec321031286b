/** Reads the definitions of a session for the lake: tables, views and macros, with their comments. */
import { Effect, Schema } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type LakeType, parseType } from "./types.ts"

export interface ColumnDefinition {
  readonly name: string
  readonly lakeType: LakeType
  readonly is_nullable: boolean
  readonly comment: string | null
}

export interface TableDefinition {
  readonly schema: string
  readonly name: string
  readonly comment: string | null
  readonly columns: ReadonlyArray<ColumnDefinition>
}

const ColumnRow = Schema.Struct({
  schema: Schema.String,
  table: Schema.String,
  table_comment: Schema.NullOr(Schema.String),
  name: Schema.String,
  type: Schema.String,
  is_nullable: Schema.Boolean,
  comment: Schema.NullOr(Schema.String)
})
const selectColumns = `
  select schema_name as "schema", table_name as "table", t.comment as table_comment, column_name as name, data_type as type,
    is_nullable, c.comment
  from duckdb_columns() c
  join duckdb_tables() t using (database_name, schema_name, table_name)
  where database_name = current_database()
  order by schema_name, table_name, column_index`

/** `sql` is the query, as DuckDB prints it. */
const View = Schema.Struct({
  schema: Schema.String,
  name: Schema.String,
  comment: Schema.NullOr(Schema.String),
  sql: Schema.String
})
/** In the order of their creation, because a view may read earlier ones. */
const selectViews = `
  select schema_name as "schema", view_name as name, comment, rtrim(regexp_replace(sql, '^CREATE VIEW .*? AS ', '', 's'), e';\\n') as sql
  from duckdb_views()
  where not internal and database_name = current_database()
  order by view_oid`

const Macro = Schema.Struct({
  schema: Schema.String,
  name: Schema.String,
  kind: Schema.Literals(["scalar", "table"]),
  parameters: Schema.Array(Schema.String),
  sql: Schema.String
})
const selectMacros = `
  select schema_name as "schema", function_name as name, if(function_type = 'macro', 'scalar', 'table') as kind, parameters,
    macro_definition as sql
  from duckdb_functions()
  where function_type in ('macro', 'table_macro') and not internal and database_name = current_database()
  order by function_oid`

export interface Definitions {
  readonly tables: ReadonlyArray<TableDefinition>
  readonly views: ReadonlyArray<typeof View.Type>
  readonly macros: ReadonlyArray<typeof Macro.Type>
  /** Schemas of data sets that this version cannot read: the lake keeps what it has of them. */
  readonly untouched: ReadonlySet<string>
}

export const readDefinitions = Effect.fnUntraced(function* (db: DuckDb["Service"], untouched: ReadonlySet<string>) {
  const tables = new Map<string, TableDefinition & { readonly columns: Array<ColumnDefinition> }>()
  for (const { comment, is_nullable, name, schema, table, table_comment, type } of yield* db.all(
    ColumnRow,
    selectColumns
  )) {
    const key = `${schema}.${table}`
    const definition = tables.get(key) ?? { schema, name: table, comment: table_comment, columns: [] }
    definition.columns.push({ name, lakeType: parseType(type), is_nullable, comment })
    tables.set(key, definition)
  }
  const views = yield* db.all(View, selectViews)
  const macros = yield* db.all(Macro, selectMacros)
  return { tables: [...tables.values()], views, macros, untouched } satisfies Definitions
})
