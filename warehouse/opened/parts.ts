/**
 * The files of a published warehouse, one for each data set and one for the schema `ingest`, and what they contribute
 * to a database that shows them together. Its columns and their order are those of this version's tables, even if an
 * earlier version wrote the file of a data set. `ingestion.duckdb` is always of this version.
 */
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import { type DuckDb, identifier, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import type { DataSetEntry, Manifest } from "../generation/manifest.ts"
import { commentsOf } from "../tables/dictionary.ts"
import {
  type AddedColumn,
  columnsOfOwn,
  columnsToAdd,
  isDefinedOtherwise,
  openPublished,
  selectedOf,
  tablesIn
} from "../tables/earlier-versions.ts"
import { ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { requireKnown } from "../tables/newer-versions.ts"
import { type DataSet, type Table, viewsOf } from "../tables/tables.ts"

type Db = DuckDb["Service"]

interface DataSetFile {
  readonly dataSet: DataSet
  readonly file: string
  /** Hash of the tables, views and comments in it, if known. */
  readonly definition?: string
}

/** A file of a data set, with the hash of its definition from the manifest. */
export const dataSetFileOf = (dataSet: DataSet, file: string, entry: DataSetEntry | undefined): DataSetFile => ({
  dataSet,
  file,
  ...(entry?.definition === undefined ? {} : { definition: entry.definition })
})

export interface Parts {
  /** The data sets that have been published. */
  readonly parts: ReadonlyArray<DataSetFile>
  /** The file with the schema `ingest`. */
  readonly ingestion: string
}

export interface Source {
  readonly table: Table
  readonly file: string
  /** Whether the file has the table. */
  readonly isThere: boolean
  /** What to select from it, in the order of this version's columns. */
  readonly columns: string
}

const tablesOf = ({ ingestion, parts }: Parts) => [
  ...ingestTables.map((table) => ({ table, file: ingestion })),
  ...parts.flatMap(({ dataSet, file }) => dataSet.tables.map((table) => ({ table, file })))
]
const schemasOf = ({ parts }: Parts) => ["ingest", ...parts.map(({ dataSet }) => dataSet.schema)]
export const createSchemas = (parts: Parts) => schemasOf(parts).map((schema) => `create schema ${identifier(schema)}`)

const filesOf = ({ ingestion, parts }: Parts) => [ingestion, ...parts.map(({ file }) => file)]

/**
 * Attaches the files to a session, each under its own path as its name. No schema has such a name, which would make
 * two-part names ambiguous.
 */
export const attachParts = (db: Db, parts: Parts) =>
  Effect.forEach(
    filesOf(parts),
    (file) =>
      db.run(`attach ${literal(file)} as ${identifier(file)} (read_only)`).pipe(Effect.mapError(openError(file))),
    { discard: true }
  )

export const detachParts = (parts: Parts) => filesOf(parts).map((file) => `detach ${identifier(file)}`)

/** Leaves out the data sets that this version defined itself: their files need no inspection. */
export const definedOtherwise = ({ ingestion, parts }: Parts): Parts => ({
  ingestion,
  parts: parts.filter((part) => isDefinedOtherwise(part.dataSet, part))
})

/**
 * Creates this version's tables in a session, and returns what to read from each file for them. Files that were defined
 * differently must be attached; the others have all tables and columns.
 */
export const sourcesOf = Effect.fnUntraced(function* (db: Db, parts: Parts) {
  const tables = tablesOf(parts)
  yield* db.run([...createSchemas(parts), ...tables.map(({ table }) => table.ddl)].join(";\n"))
  const added = new Map<string, ReadonlyArray<AddedColumn>>()
  const there = new Map<string, ReadonlySet<string>>()
  there.set(parts.ingestion, yield* tablesIn(db, parts.ingestion, "ingest"))
  for (const { dataSet, file } of definedOtherwise(parts).parts) {
    added.set(file, yield* columnsToAdd(db, dataSet, file))
    there.set(file, yield* tablesIn(db, file, dataSet.schema))
  }
  return yield* Effect.forEach(
    tables,
    Effect.fnUntraced(function* ({ file, table }) {
      const isThere = there.get(file)?.has(table.name) ?? true
      const lacking = isThere ? (added.get(file) ?? []) : yield* columnsOfOwn(db, table)
      return { table, file, isThere, columns: selectedOf(table, lacking) } satisfies Source as Source
    })
  )
})

/** The rows of a table; `from` is the SQL that reads it. */
export const rowsOf = ({ columns, isThere }: Source, from: string) =>
  `select ${columns} ${isThere ? `from ${from}` : "where false"}`

/**
 * The views and macros of the data sets, including those that read the schema `ingest`, and the comments on everything.
 */
export const describing = ({ parts }: Parts, sources: ReadonlyArray<Source>, kind: "table" | "view") => {
  const views = [...ingestViews, ...parts.flatMap(({ dataSet }) => viewsOf(dataSet))]
  return [
    ...views.map(({ ddl }) => ddl),
    ...sources.flatMap(({ table }) => commentsOf(table, kind)),
    ...views.flatMap((view) => commentsOf(view, "view"))
  ]
}

const requireReadable = Effect.fnUntraced(function* (layout: Layout, pipeline: string, entry: DataSetEntry) {
  const dataSet = dataSets.find(({ about }) => about.pipeline === pipeline)
  const [database] = entry.parts
  if (dataSet === undefined || database === undefined) return
  yield* requireKnown(dataSet, entry)
  if (entry.schema === dataSet.version) return
  yield* Effect.scoped(openPublished(layout.objectFile(database.sha256), dataSet, entry))
})

/** Of the data sets whose databases are intact, those that this version can read, and why it cannot read the others. */
export const readableOf = Effect.fnUntraced(function* (layout: Layout, data_sets: Manifest["data_sets"]) {
  const readable: Record<string, DataSetEntry> = {}
  const others: Array<Effect.Error<ReturnType<typeof requireReadable>>> = []
  for (const [pipeline, entry] of Object.entries(data_sets)) {
    const found = yield* Effect.result(requireReadable(layout, pipeline, entry))
    if (found._tag === "Success") readable[pipeline] = entry
    else others.push(found.failure)
  }
  return { readable, others }
})
