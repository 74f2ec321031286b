/**
 * SQL for a database that shows all files of a warehouse together: one file for each data set, and one for the schema
 * `ingest`.
 */
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import { type DuckDb, identifier, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import type { Manifest } from "../generation/manifest.ts"
import { describeStatements } from "../tables/dictionary.ts"
import { ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { type DataSet, type Table, type View, viewsOf } from "../tables/tables.ts"
import { requireKnown } from "../tables/versions.ts"

type Db = DuckDb["Service"]

interface DataSetFile {
  readonly dataSet: DataSet
  readonly file: string
}

export interface Parts {
  readonly parts: ReadonlyArray<DataSetFile>
  readonly ingestion: string
}

export interface TableSource {
  readonly table: Table
  readonly file: string
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

/** All tables, and the files that have their rows. */
export const listSources = ({ ingestion, parts }: Parts): ReadonlyArray<TableSource> => [
  ...ingestTables.map((table) => ({ table, file: ingestion })),
  ...parts.flatMap(({ dataSet, file }) => dataSet.tables.map((table) => ({ table, file })))
]

/** Statements for the views and macros of all schemas, and for what describes everything. */
export const viewsAndComments = (
  { parts }: Parts,
  sources: ReadonlyArray<TableSource>,
  kind: "table" | "view",
  ddlOf: (view: View) => string = ({ ddl }) => ddl
) => {
  const views = [...ingestViews, ...parts.flatMap(({ dataSet }) => viewsOf(dataSet))]
  const tables = sources.map(({ table }) => table)
  return [...views.map(ddlOf), ...describeStatements({ tables, views }, kind)]
}

/** The loaded data sets that this version can read, and the errors of the others. Their databases are intact. */
export const findReadable = Effect.fnUntraced(function* ({ objectFile }: Layout, data_sets: Manifest["data_sets"]) {
  const readable: Array<DataSetFile & { readonly sha256: string }> = []
  const others: Array<Effect.Error<ReturnType<typeof requireKnown>>> = []
  for (const dataSet of dataSets) {
    const entry = data_sets[dataSet.about.pipeline]
    const [database] = entry?.parts ?? []
    if (entry === undefined || database === undefined) continue
    const file = objectFile(database.sha256)
    const result = yield* Effect.result(requireKnown(dataSet, entry))
    if (result._tag === "Success") readable.push({ dataSet, file, sha256: database.sha256 })
    else others.push(result.failure)
  }
  return { readable, others }
})
