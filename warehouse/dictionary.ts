/**
 * The data dictionary: `COMMENT ON` statements from the descriptions of the records, so that `duckdb_tables()` and
 * `duckdb_columns()` say what each table and column means. Nobody writes a description twice.
 */
import { Schema } from "effect"
import { type DuckDb, identifier, literal } from "./duckdb.ts"
import { type DataSet, type Table, tablesOf, type View, viewsOf } from "./tables.ts"

const descriptionOf = (schema: Schema.Constraint): string => Schema.resolveAnnotations(schema)?.description ?? ""

export const commentsOf = (of: Table | View, kind: "table" | "view"): ReadonlyArray<string> => {
  if (of.record === undefined) return []
  const name = `${identifier(of.schema)}.${identifier(of.name)}`
  return [
    `comment on ${kind} ${name} is ${literal(descriptionOf(of.record))}`,
    ...Object.entries(of.record.fields).map(
      ([column, field]) => `comment on column ${name}.${identifier(column)} is ${literal(descriptionOf(field))}`
    )
  ]
}

const definitions = (dataSet: DataSet): ReadonlyArray<string> => {
  const tables = tablesOf(dataSet)
  const views = viewsOf(dataSet)
  return [
    "create schema if not exists ingest",
    `create schema if not exists ${identifier(dataSet.schema)}`,
    ...tables.map((table) => table.ddl),
    ...views.map((view) => view.ddl),
    ...tables.flatMap((table) => commentsOf(table, "table")),
    ...views.flatMap((view) => commentsOf(view, "view"))
  ]
}

/** Creates what is not there yet of the `ingest` schema and one data set, and comments on it: all or nothing, one fsync. */
export const define = (db: DuckDb["Service"], dataSet: DataSet) =>
  db.run(["begin", ...definitions(dataSet), "commit"].join("\n;\n"))
