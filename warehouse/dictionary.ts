/**
 * The data dictionary: `COMMENT ON` statements from the descriptions of the records, so that `duckdb_tables()` and
 * `duckdb_columns()` say what each table and column means. Nobody writes a description twice.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier, literal } from "./duckdb.ts"
import { type DataSet, type Table, tablesOf, type View } from "./tables.ts"

const descriptionOf = (schema: Schema.Constraint) => Schema.resolveAnnotations(schema)?.description

export const commentsOf = (of: Table | View, kind: "table" | "view"): ReadonlyArray<string> => {
  if (of.record === undefined) return []
  const name = `${identifier(of.schema)}.${identifier(of.name)}`
  return [
    `comment on ${kind} ${name} is ${literal(descriptionOf(of.record) ?? "")}`,
    ...Object.entries(of.record.fields).map(
      ([column, field]) => `comment on column ${name}.${identifier(column)} is ${literal(descriptionOf(field) ?? "")}`
    )
  ]
}

const tablesAndViews = (dataSet: DataSet): ReadonlyArray<string> => [
  "create schema if not exists ingest",
  `create schema if not exists ${identifier(dataSet.schema)}`,
  ...tablesOf(dataSet).map((table) => table.ddl),
  ...dataSet.views.map((view) => view.ddl)
]

const comments = (dataSet: DataSet): ReadonlyArray<string> => [
  ...tablesOf(dataSet).flatMap((table) => commentsOf(table, "table")),
  ...dataSet.views.flatMap((view) => commentsOf(view, "view"))
]

const inOneTransaction = (statements: ReadonlyArray<string>) => ["begin", ...statements, "commit"].join("\n;\n")

const Written = Schema.Struct({ on: Schema.String, comment: Schema.String })
/** In the words of the statements that write them. Columns of the system's own tables have no comments. */
const written = (database: string) => `
  select format('table "{}"."{}"', schema_name, table_name) as on, comment
  from duckdb_tables() where database_name = ${database} and comment is not null
  union all
  select format('view "{}"."{}"', schema_name, view_name), comment
  from duckdb_views() where database_name = ${database} and comment is not null
  union all
  select format('column "{}"."{}"."{}"', schema_name, table_name, column_name), comment
  from duckdb_columns() where database_name = ${database} and comment is not null`

/** Those of the statements whose comments a database does not have: to read all comments is quicker than to write them. */
export const missingComments = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  statements: ReadonlyArray<string>,
  database = "current_database()"
) {
  const rows = yield* db.all(Written, written(database))
  const known = new Set(rows.map(({ comment, on }) => `comment on ${on} is ${literal(comment)}`))
  return statements.filter((statement) => !known.has(statement))
})

/** Writes the comments that a database does not have. */
export const comment = Effect.fnUntraced(function* (db: DuckDb["Service"], statements: ReadonlyArray<string>) {
  const missing = yield* missingComments(db, statements)
  if (missing.length > 0) yield* db.run(inOneTransaction(missing))
})

/** Creates what is not there yet of the `ingest` schema and one data set, without comments: all or nothing, one fsync. */
export const defineBare = (db: DuckDb["Service"], dataSet: DataSet) => db.run(inOneTransaction(tablesAndViews(dataSet)))

/** Comments on the tables and views of a data set, which are there. */
export const commentOn = (db: DuckDb["Service"], dataSet: DataSet) => comment(db, comments(dataSet))

/** Creates and comments. */
export const define = Effect.fnUntraced(function* (db: DuckDb["Service"], dataSet: DataSet) {
  yield* defineBare(db, dataSet)
  yield* commentOn(db, dataSet)
})

/** Whether a database that is attached as `live` lacks a comment of this version. */
export const lacksComments = (db: DuckDb["Service"], dataSet: DataSet) =>
  Effect.map(missingComments(db, comments(dataSet), "'live'"), ({ length }) => length > 0)
