/**
 * Creates tables and views, with comments from the descriptions of the records, so that `duckdb_tables()` and
 * `duckdb_columns()` describe each table and column, and each description is written only once.
 */
import { createHash } from "node:crypto"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
import { columnComment, descriptionOf } from "./column-comments.ts"
import { makeConstraintView } from "./constraints.ts"
import type { Table, View } from "./tables.ts"

/** The name of a table or view in SQL, without its database. */
export const qualifiedName = ({ name, schema }: Pick<Table, "schema" | "name">) =>
  `${identifier(schema)}.${identifier(name)}`

export const commentStatements = (subject: Table | View, kind: "table" | "view"): ReadonlyArray<string> => {
  if (subject.record === undefined) return []
  const name = qualifiedName(subject)
  return [
    `comment on ${kind} ${name} is ${literal(descriptionOf(subject.record))}`,
    ...Object.entries(subject.record.fields).map(
      ([column, field]) => `comment on column ${name}.${identifier(column)} is ${literal(columnComment(field))}`
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

/** Comments, and the keys and references, which are metadata like these: a published file keeps those that it has. */
export const describeStatements = ({ tables, views }: Defined, kindOfTables: "table" | "view" = "table") => {
  const constraints = makeConstraintView([...tables, ...views])
  return [
    ...createStatements([constraints]),
    ...tables.flatMap((table) => commentStatements(table, kindOfTables)),
    ...[...views, constraints].flatMap((view) => commentStatements(view, "view"))
  ]
}

const definitionSql = (defined: Defined): string =>
  inTransaction([...createStatements([...defined.tables, ...defined.views]), ...describeStatements(defined)])

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** Identifies a definition with its comments: different definitions have different hashes. */
export const definitionHash = (defined: Defined): string => sha256(definitionSql(defined))

/** Identifies tables and views, without their comments, keys and references. */
export const tablesHash = ({ tables, views }: Defined): string =>
  sha256(createStatements([...tables, ...views]).join("\n"))

/** Creates missing tables, replaces views and macros, and describes them, in one transaction with one fsync. */
export const define = (db: DuckDb["Service"], defined: Defined) => db.run(definitionSql(defined))

/** Creates tables that only this program opens, without comments: these would take most of the time. */
export const createUncommentedTables = (db: DuckDb["Service"], tables: ReadonlyArray<Table>) =>
  db.run(inTransaction(createStatements(tables)))
