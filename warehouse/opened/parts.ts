/**
 * SQL for a database that shows all files of a warehouse together: one file for each data set, and one for the schema
 * `ingest`. The columns and their order are those of this version's tables, even if an earlier version wrote the file of
 * a data set. `ingestion.duckdb` is always of this version.
 */
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import { type DuckDb, identifier, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import type { DataSetEntry, Manifest } from "../generation/manifest.ts"
import { commentStatements } from "../tables/dictionary.ts"
import { ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { type DataSet, type Table, viewsOf } from "../tables/tables.ts"
import {
  type AddedColumn,
  columnsToAdd,
  hasOtherDefinition,
  listOwnColumns,
  listTables,
  openPublished,
  requireKnown,
  selectList
} from "../tables/versions.ts"

type Db = DuckDb["Service"]

interface DataSetFile {
  readonly dataSet: DataSet
  readonly file: string
  readonly entry: Pick<DataSetEntry, "definition">
}

export interface Parts {
  readonly parts: ReadonlyArray<DataSetFile>
  readonly ingestion: string
}

export interface TableSource {
  readonly table: Table
  readonly file: string
  readonly exists: boolean
  readonly columns: string
}

export const schemaStatements = ({ parts }: Parts) =>
  ["ingest", ...parts.map(({ dataSet }) => dataSet.schema)].map((schema) => `create schema ${identifier(schema)}`)

const filesOf = ({ ingestion, parts }: Parts) => [ingestion, ...parts.map(({ file }) => file)]

/** Attaches each file under its path as its name: the name of a schema would make two-part names ambiguous. */
export const attachParts = (db: Db, parts: Parts) =>
  Effect.forEach(
    filesOf(parts),
    (file) =>
      db.run(`attach ${literal(file)} as ${identifier(file)} (read_only)`).pipe(Effect.mapError(openError(file))),
    { discard: true }
  )

export const detachStatements = (parts: Parts) => filesOf(parts).map((file) => `detach ${identifier(file)}`)

/** Omits the data sets with this version's definition: their files need no inspection. */
export const withOtherDefinition = ({ ingestion, parts }: Parts): Parts => ({
  ingestion,
  parts: parts.filter(({ dataSet, entry }) => hasOtherDefinition(dataSet, entry))
})

/**
 * Creates this version's tables in a session, and returns for each what to select from its file. Files with another
 * definition must be attached; the others have all tables and columns.
 */
export const prepareSources = Effect.fnUntraced(function* (db: Db, parts: Parts) {
  const tables = [
    ...ingestTables.map((table) => ({ table, file: parts.ingestion })),
    ...parts.parts.flatMap(({ dataSet, file }) => dataSet.tables.map((table) => ({ table, file })))
  ]
  yield* db.run([...schemaStatements(parts), ...tables.map(({ table }) => table.ddl)].join(";\n"))
  const added = new Map<string, ReadonlyArray<AddedColumn>>()
  const existing = new Map<string, ReadonlySet<string>>()
  existing.set(parts.ingestion, yield* listTables(db, parts.ingestion, "ingest"))
  for (const { dataSet, file } of withOtherDefinition(parts).parts) {
    added.set(file, yield* columnsToAdd(db, dataSet, file))
    existing.set(file, yield* listTables(db, file, dataSet.schema))
  }
  return yield* Effect.forEach(
    tables,
    Effect.fnUntraced(function* ({ file, table }) {
      const exists = existing.get(file)?.has(table.name) ?? true
      const missing = exists ? (added.get(file) ?? []) : yield* listOwnColumns(db, table)
      return { table, file, exists, columns: selectList(table, missing) } satisfies TableSource
    })
  )
})

/** The rows of a table; `from` is the SQL that reads it. */
export const selectRows = ({ columns, exists }: TableSource, from: string) =>
  `select ${columns} ${exists ? `from ${from}` : "where false"}`

/** Statements for the views and macros of all schemas, and for the comments on everything. */
export const viewsAndComments = ({ parts }: Parts, sources: ReadonlyArray<TableSource>, kind: "table" | "view") => {
  const views = [...ingestViews, ...parts.flatMap(({ dataSet }) => viewsOf(dataSet))]
  return [
    ...views.map(({ ddl }) => ddl),
    ...sources.flatMap(({ table }) => commentStatements(table, kind)),
    ...views.flatMap((view) => commentStatements(view, "view"))
  ]
}

const requireReadable = Effect.fnUntraced(function* (dataSet: DataSet, entry: DataSetEntry, file: string) {
  yield* requireKnown(dataSet, entry)
  if (entry.schema !== dataSet.version) yield* Effect.scoped(openPublished(file, dataSet, entry))
})

/** The loaded data sets that this version can read, and the errors of the others. Their databases are intact. */
export const findReadable = Effect.fnUntraced(function* ({ objectFile }: Layout, data_sets: Manifest["data_sets"]) {
  const readable: Array<DataSetFile & { readonly sha256: string }> = []
  const others: Array<Effect.Error<ReturnType<typeof requireReadable>>> = []
  for (const dataSet of dataSets) {
    const entry = data_sets[dataSet.about.pipeline]
    const [database] = entry?.parts ?? []
    if (entry === undefined || database === undefined) continue
    const file = objectFile(database.sha256)
    const result = yield* Effect.result(requireReadable(dataSet, entry, file))
    if (result._tag === "Success") readable.push({ dataSet, file, entry, sha256: database.sha256 })
    else others.push(result.failure)
  }
  return { readable, others }
})
