/**
 * Creates tables and views, with comments from the descriptions of the records, so that `duckdb_tables()` and
 * `duckdb_columns()` describe each table and column, and each description is written only once.
 */
import { createHash } from "node:crypto"
import { Schema } from "effect"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
import type { Table, View } from "./tables.ts"

/** The name of a table or view in SQL, without its database. */
export const qualifiedName = ({ name, schema }: Pick<Table, "schema" | "name">) =>
  `${identifier(schema)}.${identifier(name)}`

const getDescription = (schema: Schema.Constraint): string => Schema.resolveAnnotations(schema)?.description ?? ""

export const commentStatements = (subject: Table | View, kind: "table" | "view"): ReadonlyArray<string> => {
  if (subject.record === undefined) return []
  const name = qualifiedName(subject)
  return [
    `comment on ${kind} ${name} is ${literal(getDescription(subject.record))}`,
    ...Object.entries(subject.record.fields).map(
      ([column, field]) => `comment on column ${name}.${identifier(column)} is ${literal(getDescription(field))}`
    )
  ]
}

/** Tables and views, in the order in which they can be created. */
export interface Defined {
  readonly tables: ReadonlyArray<Table>
  readonly views: ReadonlyArray<View>
}

const inTransaction = (statements: ReadonlyArray<string>) => ["begin", ...statements, "commit"].join("\n;\n")

const createStatements = (relations: ReadonlyArray<Table | View>) => {
  const schemas = new Set(relations.map(({ schema }) => schema))
  const schemaDdls = [...schemas].map((schema) => `create schema if not exists ${identifier(schema)}`)
  return [...schemaDdls, ...relations.map(({ ddl }) => ddl)]
}

const definitionSql = ({ tables, views }: Defined): string =>
  inTransaction([
    ...createStatements([...tables, ...views]),
    ...tables.flatMap((table) => commentStatements(table, "table")),
    ...views.flatMap((view) => commentStatements(view, "view"))
  ])

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** Identifies a definition with its comments: different definitions have different hashes. */
export const definitionHash = (defined: Defined): string => sha256(definitionSql(defined))

/** Identifies tables and views, without their comments. */
export const tablesHash = ({ tables, views }: Defined): string =>
  sha256(createStatements([...tables, ...views]).join("\n"))

/** Creates missing tables, replaces views and macros, and sets all comments, in one transaction with one fsync. */
export const define = (db: DuckDb["Service"], defined: Defined) => db.run(definitionSql(defined))

/** Creates tables that only this program opens, without comments: these would take most of the time. */
export const createUncommentedTables = (db: DuckDb["Service"], tables: ReadonlyArray<Table>) =>
  db.run(inTransaction(createStatements(tables)))
