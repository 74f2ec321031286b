/**
 * The data dictionary: `COMMENT ON` statements from the descriptions of the records, so that `duckdb_tables()` and
 * `duckdb_columns()` say what each table and column means. Nobody writes a description twice.
 */
import { createHash } from "node:crypto"
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

const together = (statements: ReadonlyArray<string>) => ["begin", ...statements, "commit"].join("\n;\n")

const creating = (all: ReadonlyArray<Table | View>) => {
  const schemas = new Set(all.map(({ schema }) => schema))
  const schemaDdls = [...schemas].map((schema) => `create schema if not exists ${identifier(schema)}`)
  return [...schemaDdls, ...all.map(({ ddl }) => ddl)]
}

/** Statements that create what is not there yet, and comment on it. */
const definitionOf = ({ tables, views }: Defined): string =>
  together([
    ...creating([...tables, ...views]),
    ...tables.flatMap((table) => commentsOf(table, "table")),
    ...views.flatMap((view) => commentsOf(view, "view"))
  ])

/** Tells one definition from another. */
export const definitionHash = (defined: Defined): string =>
  createHash("sha256").update(definitionOf(defined)).digest("hex")

/** Creates what is not there yet, and comments on it: all or nothing, one fsync. */
export const define = (db: DuckDb["Service"], defined: Defined) => db.run(definitionOf(defined))

/** Creates tables that nobody but this program opens: the comments would take most of the time. */
export const createTables = (db: DuckDb["Service"], tables: ReadonlyArray<Table>) => db.run(together(creating(tables)))
