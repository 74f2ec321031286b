/**
 * The data dictionary: `COMMENT ON` statements from the descriptions of the records, so that `duckdb_tables()` and
 * `duckdb_columns()` say what each table and column means. Each description is written only once.
 */
import { createHash } from "node:crypto"
import { Schema } from "effect"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
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

/** Tables and views, in the order in which they can be created. */
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

/** Statements that create what does not exist yet, and comment on it. */
const definitionOf = ({ tables, views }: Defined): string =>
  together([
    ...creating([...tables, ...views]),
    ...tables.flatMap((table) => commentsOf(table, "table")),
    ...views.flatMap((view) => commentsOf(view, "view"))
  ])

/** Identifies a definition: different definitions have different hashes. */
export const definitionHash = (defined: Defined): string =>
  createHash("sha256").update(definitionOf(defined)).digest("hex")

/** Creates what does not exist yet, and comments on it: all or nothing, one fsync. */
export const define = (db: DuckDb["Service"], defined: Defined) => db.run(definitionOf(defined))

/** Creates tables that only this program opens, without comments: these would take most of the time. */
export const createTables = (db: DuckDb["Service"], tables: ReadonlyArray<Table>) => db.run(together(creating(tables)))
