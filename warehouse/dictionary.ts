/**
 * The data dictionary: `COMMENT ON` statements from the descriptions of the records, so that `duckdb_tables()` and
 * `duckdb_columns()` say what each table and column means. Nobody writes a description twice.
 */
import { Schema } from "effect"
import { type DuckDb, identifier, literal } from "./duckdb.ts"
import type { Table, View } from "./tables.ts"

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

/** Tables and views, in the order in which they can be made. */
export interface Defined {
  readonly tables: ReadonlyArray<Table>
  readonly views: ReadonlyArray<View>
}

/** Statements that create what is not there yet, and comment on it. */
export const definitionOf = ({ tables, views }: Defined): string => {
  const schemas = new Set([...tables, ...views].map(({ schema }) => schema))
  return [
    "begin",
    ...[...schemas].map((schema) => `create schema if not exists ${identifier(schema)}`),
    ...tables.map((table) => table.ddl),
    ...views.map((view) => view.ddl),
    ...tables.flatMap((table) => commentsOf(table, "table")),
    ...views.flatMap((view) => commentsOf(view, "view")),
    "commit"
  ].join("\n;\n")
}

/** Creates what is not there yet, and comments on it: all or nothing, one fsync. */
export const define = (db: DuckDb["Service"], defined: Defined) => db.run(definitionOf(defined))
