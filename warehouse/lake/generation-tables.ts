/**
 * Opens the newest generation on this machine as the tables of the lake: its tables, and the views that are in it. Names,
 * columns and comments are those of this version's definitions, as in `larder.duckdb`. A data set that was rolled back to before
 * its first run has empty tables: a version of each takes the number that a slower machine may be about to use.
 */
import { copyFile, rm } from "node:fs/promises"
import path from "node:path"
import { Effect, Option, Schema } from "effect"
import { dataSets } from "../data-sets.ts"
import { fileOperation } from "../disk.ts"
import { DuckDb, identifier, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isLoaded, listNumbers, newestManifest } from "../generation/manifest.ts"
import { verifyDataSet } from "../generation/parts.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import {
  attachParts,
  findReadable,
  listSources,
  type Parts,
  schemaStatements,
  viewsAndComments
} from "../opened/parts.ts"
import { createUncommentedTables, definitionHash, qualifiedName } from "../tables/dictionary.ts"
import { ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import { type DataSet, keyOf, type Table, type View } from "../tables/tables.ts"
import { findNewer } from "../tables/versions.ts"

/** A table of the lake: a table or view in the session from which it is written. */
export interface LakeTable {
  readonly schema: string
  readonly name: string
  /** Rows are sorted by these columns. */
  readonly key: ReadonlyArray<string>
  readonly dateColumn?: string | undefined
  /** Types as DuckDB prints them. */
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string; readonly comment: string | null }>
  readonly comment: string | null
  /** The generation that made the rows live, by publishing or by a rollback, and the definitions of rows, columns and comments. */
  readonly part: string
}

const attempt = fileOperation("cannot be copied", "")

/** The newest manifest and a copy of `ingestion.duckdb` as of it. A run that publishes meanwhile repeats the copy. */
const copyNewest = Effect.fnUntraced(function* (layout: Layout, folder: string) {
  const ingestion = path.join(folder, "ingestion.duckdb")
  for (;;) {
    const manifest = Option.getOrThrow(yield* newestManifest(layout.local))
    const [newer] = findNewer(manifest)
    if (newer !== undefined) return yield* newer
    yield* refreshOpened(layout) // a run may have been killed before it did this
    yield* attempt(layout.ingestion, async () => {
      await rm(ingestion, { force: true }) // the copy of an earlier attempt is read-only
      await copyFile(layout.ingestion, ingestion)
    })
    if ((yield* listNumbers(layout.local)).at(-1) === manifest.number) return { manifest, ingestion }
  }
})

const ColumnRow = Schema.Struct({
  relation: Schema.String,
  name: Schema.String,
  type: Schema.String,
  comment: Schema.NullOr(Schema.String),
  relation_comment: Schema.NullOr(Schema.String)
})
const selectColumns = `
  select c.schema_name || '.' || view_name as relation, column_name as name, data_type as type, c.comment,
    v.comment as relation_comment
  from duckdb_columns() c
  join duckdb_views() v on (c.database_name, c.schema_name, c.table_name) = (v.database_name, v.schema_name, view_name)
  where c.database_name = current_database() and not v.internal
  order by relation, column_index`

/** Defines everything as views over the parts, and describes the tables of the lake. */
const define = Effect.fnUntraced(function* (db: DuckDb["Service"], parts: Parts, partOf: (schema: string) => string) {
  yield* attachParts(db, parts)
  const sources = listSources(parts)
  const views = sources.map(
    (source) =>
      `create view ${qualifiedName(source.table)} as from ${identifier(source.file)}.${qualifiedName(source.table)}`
  )
  const definitions = [...schemaStatements(parts), ...views, ...viewsAndComments(parts, sources, "view")]
  yield* db.run(["attach ':memory:' as lake", "use lake", ...definitions].join("\n;\n"))
  yield* markAllSamples(db)
  const columns = Map.groupBy(yield* db.all(ColumnRow, selectColumns), ({ relation }) => relation)
  const describe = ({ name, schema }: Table | View, key: ReadonlyArray<string>, dateColumn?: string): LakeTable => {
    const own = columns.get(`${schema}.${name}`) ?? []
    const comment = own[0]?.relation_comment ?? null
    return { schema, name, key, dateColumn, columns: own, comment, part: partOf(schema) }
  }
  return [
    ...sources.map(({ table }) => describe(table, keyOf(table), table.dateColumn)),
    ...parts.parts.flatMap(({ dataSet }) =>
      dataSet.views.flatMap((view) => (view.isInLake ? [describe(view, keyOf(view))] : []))
    )
  ]
})

/** The tables of a data set that was rolled back to before its first run. They have no rows. */
const makeEmpty = Effect.fnUntraced(function* (dataSet: DataSet, folder: string) {
  const file = path.join(folder, `empty-${dataSet.schema}.duckdb`)
  yield* createUncommentedTables(yield* DuckDb.readWrite(file), dataSet.tables)
  return { dataSet, file }
}, Effect.scoped)

/** There is a generation. `folder` is this program's own. */
export const openNewest = Effect.fnUntraced(function* (layout: Layout, folder: string) {
  const { ingestion, manifest } = yield* copyNewest(layout, folder)
  const loaded = Object.entries(manifest.data_sets).filter(([, entry]) => isLoaded(entry))
  const [intact, damaged] = yield* Effect.partition(loaded, ([pipeline, entry]) =>
    Effect.as(verifyDataSet(layout, pipeline, entry), [pipeline, entry] as const)
  )
  const { others, readable } = yield* findReadable(layout, Object.fromEntries(intact))
  for (const { message } of [...damaged, ...others])
    yield* Effect.logWarning(`the lake keeps an earlier state of a data set: ${message}`)
  const rolledBack = dataSets.filter(({ about }) => manifest.data_sets[about.pipeline]?.parts.length === 0)
  const empty = yield* Effect.forEach(rolledBack, (dataSet) => makeEmpty(dataSet, folder))
  const db = yield* DuckDb.memory
  yield* db.run(`set temp_directory = ${literal(path.join(folder, "tmp"))}`)
  const partOf = (schema: string) => {
    const dataSet = dataSets.find((dataSet) => dataSet.schema === schema)
    const changedIn = dataSet === undefined ? manifest.number : manifest.data_sets[dataSet.about.pipeline]?.changed_in
    return `${changedIn} ${definitionHash(dataSet ?? { tables: ingestTables, views: ingestViews })}`
  }
  return { manifest, db, tables: yield* define(db, { parts: [...readable, ...empty], ingestion }, partOf) }
})

export type NewestGeneration = Effect.Success<ReturnType<typeof openNewest>>
