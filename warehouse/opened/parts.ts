/**
 * The files of a published warehouse, one for each data set and one for the schema `ingest`, and what of them goes into a
 * database that shows them together. Its columns and their order are those of this version's tables, also where an earlier one
 * wrote the file of a data set. `ingestion.duckdb` is always this version's.
 */
import { Effect } from "effect"
import { type AddedColumn, columnsOfOwn, columnsToAdd, selectedOf, tablesIn } from "../columns-by-name.ts"
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

const tablesOf = ({ ingestion, parts }: Parts) => [
  ...ingestTables.map((table) => ({ table, file: ingestion })),
  ...parts.flatMap(({ dataSet, file }) => dataSet.tables.map((table) => ({ table, file })))
]
const schemasOf = ({ parts }: Parts) => ["ingest", ...parts.map(({ dataSet }) => dataSet.schema)]
export const createSchemas = (parts: Parts) => schemasOf(parts).map((schema) => `create schema ${identifier(schema)}`)

/**
 * Attaches the files to a session, each under its own path as its name: a schema of that name there is not, which would make
 * names of two parts ambiguous. Answers what to read of them.
 */
export const attachParts = Effect.fnUntraced(function* (db: Db, parts: Parts) {
  const tables = tablesOf(parts)
  for (const file of new Set(tables.map(({ file }) => file))) {
    yield* db.run(`attach ${literal(file)} as ${identifier(file)} (read_only)`).pipe(Effect.mapError(openError(file)))
  }
  yield* db.run([...createSchemas(parts), ...tables.map(({ table }) => table.ddl)].join(";\n"))
  const added = new Map<string, ReadonlyArray<AddedColumn>>()
  for (const { dataSet, file } of parts.parts) added.set(file, yield* columnsToAdd(db, dataSet, file))
  const there = new Map<string, ReadonlySet<string>>()
  for (const { file, table } of tables) {
    if (!there.has(file)) there.set(file, yield* tablesIn(db, file, table.schema)) // a file has one schema
  }
  return yield* Effect.forEach(
    tables,
    Effect.fnUntraced(function* ({ file, table }) {
      const isThere = there.get(file)?.has(table.name) ?? false
      const lacking = isThere ? (added.get(file) ?? []) : yield* columnsOfOwn(db, table)
      return { table, file, isThere, columns: selectedOf(table, lacking) } satisfies Source as Source
    })
  )
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
