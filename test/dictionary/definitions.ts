/**
 * The tables, views and macros of `larder.duckdb`, in a home with the bundled samples. What a column is comes from its record,
 * as its comment does: DuckDB takes every column of a view for nullable, and a comment is one text.
 */
import path from "node:path"
import * as schemas from "@larder/schemas"
import { DuckDb, dataSets, identifier, literal } from "@larder/warehouse"
import { type ColumnWords, wordsOf } from "@larder/warehouse/tables/column-comments.ts"
import { ingestTables, ingestViews } from "@larder/warehouse/tables/ingest-tables.ts"
import { sampleTexts } from "@larder/warehouse/tables/sample-marks.ts"
import { viewsOf } from "@larder/warehouse/tables/tables.ts"
import { Effect, Schema } from "effect"

const Text = Schema.String
const TextList = Schema.Array(Schema.String)

const withoutMark = `replace(comment, ${literal(` ${sampleTexts.description}`)}, '')`

const Relation = Schema.Struct({
  schema: Text,
  name: Text,
  description: Text,
  /** The columns that identify a row. */
  key: TextList,
  /** `unique` if one of these columns may be null. */
  keyKind: Schema.Literals(["primary key", "unique"]),
  isTable: Schema.Boolean,
  /** Whether no file of a data set has it. */
  isOnlyInCatalogue: Schema.Boolean
})
const selectRelations = `
  with catalogue as (
    select schema_name, view_name as table_name, comment from duckdb_views()
    where database_name = 'larder' and not internal
  ),
  tables as (select distinct schema_name, table_name, true as is_table from duckdb_tables()),
  views as (
    select distinct schema_name, view_name as table_name, true as is_view from duckdb_views()
    where database_name <> 'larder'
  )
  select
    schema_name as schema, table_name as name, ${withoutMark} as description, columns as key, kind as "keyKind",
    is_table is not null as "isTable", coalesce(is_table, is_view) is null as "isOnlyInCatalogue"
  from catalogue
  join ingest.table_constraint using (schema_name, table_name)
  left join tables using (schema_name, table_name)
  left join views using (schema_name, table_name)
  where kind <> 'foreign key'
  order by all`

const Column = Schema.Struct({ schema: Text, relation: Text, name: Text, type: Text })
export interface Column extends Readonly<typeof Column.Type>, ColumnWords {}
const selectColumns = `
  select schema_name as schema, table_name as relation, column_name as name, data_type as type
  from duckdb_columns()
  where database_name = 'larder' and not internal
  order by schema_name, table_name, column_index`

const Reference = Schema.Struct({ schema: Text, relation: Text, columns: TextList, to: Text })
export type Reference = typeof Reference.Type
const selectReferences = `
  select schema_name as schema, table_name as relation, columns, referenced_table as "to"
  from ingest.table_constraint
  where kind = 'foreign key'
  order by all`

const Macro = Schema.Struct({
  schema: Text,
  name: Text,
  parameters: TextList,
  returnsRows: Schema.Boolean,
  description: Text
})
const selectMacros = `
  select
    schema_name as schema, function_name as name, parameters, function_type = 'table_macro' as "returnsRows",
    ${withoutMark} as description
  from duckdb_functions()
  where database_name = 'larder' and not internal`

const Returned = Schema.Struct({ name: Text, type: Text })
const Count = Schema.Struct({ rows: Schema.Int })

export interface Relation extends Readonly<typeof Relation.Type> {
  readonly rows: number
}
export interface Macro extends Readonly<typeof Macro.Type> {
  /** The columns of its rows. */
  readonly returns: ReadonlyArray<typeof Returned.Type>
}
export interface Definitions {
  readonly relations: ReadonlyArray<Relation>
  readonly columns: ReadonlyArray<Column>
  readonly references: ReadonlyArray<Reference>
  readonly macros: ReadonlyArray<Macro>
}

type Record = Schema.Struct<Schema.Struct.Fields>
const exported: ReadonlyArray<unknown> = Object.values(schemas)
const isRecord = (value: unknown): value is Record => Schema.isSchema(value) && "fields" in value

/** The record of each table and view, by its name. */
const records = new Map<string, Record>([
  ...exported.filter(isRecord).map((record) => [Schema.resolveAnnotations(record)?.identifier ?? "", record] as const),
  ...[
    ...ingestTables,
    ...ingestViews,
    ...dataSets.flatMap((dataSet) => [...dataSet.tables, ...viewsOf(dataSet)])
  ].flatMap(({ name, record, schema }) => (record === undefined ? [] : [[`${schema}.${name}`, record] as const]))
])
const withWords = (column: typeof Column.Type): Column => {
  const { name, relation, schema } = column
  const field = records.get(`${schema}.${relation}`)?.fields[name]
  if (field === undefined) throw new Error(`no record has the column ${schema}.${relation}.${name}`)
  return { ...column, ...wordsOf(field) }
}

const attach = (home: string) =>
  ["larder", "ingestion", ...dataSets.map(({ about }) => about.pipeline)]
    .map(
      (name) => `attach ${literal(path.join(home, "warehouse", `${name}.duckdb`))} as ${identifier(name)} (read_only)`
    )
    .join("; ")

export const readDefinitions = Effect.fnUntraced(function* (home: string) {
  const db = yield* DuckDb.memory
  yield* db.run(`${attach(home)}; use larder`)
  const withRows = Effect.fnUntraced(function* (relation: typeof Relation.Type) {
    const name = `${identifier(relation.schema)}.${identifier(relation.name)}`
    const [count] = yield* db.all(Count, `select count(*)::integer as rows from ${name}`)
    return { ...relation, rows: count?.rows ?? 0 }
  })
  const withColumns = Effect.fnUntraced(function* (macro: typeof Macro.Type) {
    const call = `${macro.schema}.${macro.name}(${macro.parameters.map(() => "null").join(", ")})`
    const returned = `select column_name as name, column_type as type from (describe from ${call})`
    return { ...macro, returns: macro.returnsRows ? yield* db.all(Returned, returned) : [] }
  })
  const columns = yield* db.all(Column, selectColumns)
  return {
    relations: yield* Effect.forEach(yield* db.all(Relation, selectRelations), withRows),
    columns: columns.map(withWords),
    references: yield* db.all(Reference, selectReferences),
    macros: yield* Effect.forEach(yield* db.all(Macro, selectMacros), withColumns)
  } satisfies Definitions
}, Effect.scoped)
