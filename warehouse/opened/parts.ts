/**
 * The files of a published warehouse, one for each data set and one for the schema `ingest`, and what of them goes into a
 * database that shows them together. The columns of such a database, their types and their order are those of this version's
 * tables, whatever version wrote the file: a column that a file lacks is null, and a table that it lacks is empty.
 */
import { Effect, Schema } from "effect"
import { commentsOf } from "../dictionary.ts"
import { type DuckDb, identifier, literal, openError } from "../duckdb.ts"
import { type DataSet, ingestTables, ingestViews, type Table, viewsOf } from "../tables.ts"

type Db = DuckDb["Service"]

export interface Parts {
  /** Those data sets that were published so far. */
  readonly parts: ReadonlyArray<{ readonly dataSet: DataSet; readonly file: string }>
  /** The file with the schema `ingest`. */
  readonly ingestion: string
}

export interface Source {
  readonly table: Table
  readonly file: string
  /** Whether the file has the table. */
  readonly isThere: boolean
  /** What to select of it, in the order of this version's columns. */
  readonly columns: string
}

export const nameOf = ({ name, schema }: Pick<Table, "schema" | "name">) => `${identifier(schema)}.${identifier(name)}`

const tablesIn = ({ ingestion, parts }: Parts) => [
  ...ingestTables.map((table) => ({ table, file: ingestion })),
  ...parts.flatMap(({ dataSet, file }) => dataSet.tables.map((table) => ({ table, file })))
]
const schemasOf = ({ parts }: Parts) => ["ingest", ...parts.map(({ dataSet }) => dataSet.schema)]
export const createSchemas = (parts: Parts) => schemasOf(parts).map((schema) => `create schema ${identifier(schema)}`)

const Column = Schema.Struct({
  table: Schema.String,
  column: Schema.String,
  type: Schema.String,
  found: Schema.NullOr(Schema.String)
})
/** The columns of the tables in the session's own database, and beside each its type in the file. */
const columnsOf = (tables: ReturnType<typeof tablesIn>) => `
  with source (schema_name, table_name, file) as (
    values ${tables.map(({ file, table }) => `(${[table.schema, table.name, file].map(literal).join(", ")})`).join(", ")}
  )
  select wanted.schema_name || '.' || wanted.table_name as "table", wanted.column_name as "column",
    wanted.data_type as type, found.data_type as found
  from duckdb_columns() wanted
  join source using (schema_name, table_name)
  left join duckdb_columns() found
    on (found.database_name, found.schema_name, found.table_name, found.column_name)
      = (source.file, wanted.schema_name, wanted.table_name, wanted.column_name)
  where wanted.database_name = 'memory'
  order by wanted.schema_name, wanted.table_name, wanted.column_index`

const selected = ({ column, found, type }: typeof Column.Type) => {
  const name = identifier(column)
  if (found === type) return name
  return `${found === null ? "null" : name}::${type} as ${name}`
}

/**
 * Attaches the files to a session, each under its own path as its name: a schema of that name there is not, which would make
 * names of two parts ambiguous. Answers what to read of them.
 */
export const attachParts = Effect.fnUntraced(function* (db: Db, parts: Parts) {
  const tables = tablesIn(parts)
  for (const file of new Set(tables.map(({ file }) => file))) {
    yield* db.run(`attach ${literal(file)} as ${identifier(file)} (read_only)`).pipe(Effect.mapError(openError(file)))
  }
  yield* db.run([...createSchemas(parts), ...tables.map(({ table }) => table.ddl)].join(";\n"))
  const all = Map.groupBy(yield* db.all(Column, columnsOf(tables)), (column) => column.table)
  return tables.map(({ file, table }): Source => {
    const columns = all.get(`${table.schema}.${table.name}`) ?? []
    const isThere = columns.some(({ found }) => found !== null)
    return { table, file, isThere, columns: columns.map(selected).join(", ") }
  })
})

/** The rows of a table, where `from` is what reads it. */
export const rowsOf = ({ columns, isThere }: Source, from: string) =>
  `select ${columns} ${isThere ? `from ${from}` : "where false"}`

export const detachParts = (sources: ReadonlyArray<Source>) =>
  [...new Set(sources.map(({ file }) => file))].map((file) => `detach ${identifier(file)}`)

/** The views and macros of the data sets, also those that read the schema `ingest`, and the comments on everything. */
export const describing = ({ parts }: Parts, sources: ReadonlyArray<Source>, kind: "table" | "view") => {
  const views = [...ingestViews, ...parts.flatMap(({ dataSet }) => viewsOf(dataSet))]
  return [
    ...views.map(({ ddl }) => ddl),
    ...sources.flatMap(({ table }) => commentsOf(table, kind)),
    ...views.flatMap((view) => commentsOf(view, "view"))
  ]
}
