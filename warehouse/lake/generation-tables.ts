/**
 * Opens the newest generation on this machine as the tables of the lake: its tables, and the views with a `lakeKey`. Names,
 * columns and comments are those of this version's definitions, as in `larder.duckdb`.
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
import { definitionHash, qualifiedName } from "../tables/dictionary.ts"
import { ingestTables, ingestViews } from "../tables/ingest-tables.ts"
import { markAllSamples } from "../tables/sample-marks.ts"
import type { Table } from "../tables/tables.ts"
import { findNewer } from "../tables/versions.ts"
import type { LakeTable } from "./files.ts"

export interface GenerationTable extends LakeTable {
  /**
   * What the rows are made from: the database of the data set, or for `ingest` the manifest, and the definitions. The same
   * part makes the same rows, columns and comments.
   */
  readonly part: string
  /** The number of the generation that returned the data set to these rows by a rollback; 0 if none did. */
  readonly rolledBackIn: number
}

const attempt = fileOperation("cannot be copied", "")

/** The newest manifest and a copy of `ingestion.duckdb` as of it. A run that publishes meanwhile repeats the copy. */
const copyNewest = Effect.fnUntraced(function* (layout: Layout, folder: string) {
  const ingestion = path.join(folder, "ingestion.duckdb")
  for (;;) {
    const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
    if (manifest === undefined) return undefined
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

const getKey = ({ merge }: Table): ReadonlyArray<string> => {
  if (merge.by === "complete") return [merge.key]
  return merge.by === "append" || merge.by === "replace" ? merge.key : []
}

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
const define = Effect.fnUntraced(function* (
  db: DuckDb["Service"],
  parts: Parts,
  sourceOf: ReadonlyMap<string, Pick<GenerationTable, "part" | "rolledBackIn">>
) {
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
  const tables = [
    ...sources.map(({ table }) => ({ ...table, key: getKey(table) })),
    ...parts.parts.flatMap(({ dataSet }) =>
      dataSet.views.flatMap((view) => (view.lakeKey === undefined ? [] : [{ ...view, key: view.lakeKey }]))
    )
  ]
  return tables.map(({ key, name, schema, ...table }): GenerationTable => {
    const own = columns.get(`${schema}.${name}`) ?? []
    const dateColumn = "dateColumn" in table ? table.dateColumn : undefined
    return {
      schema,
      name,
      key,
      dateColumn,
      columns: own,
      comment: own[0]?.relation_comment ?? null,
      ...(sourceOf.get(schema) ?? { part: "", rolledBackIn: 0 })
    }
  })
})

/** Undefined if there is no generation yet. `folder` is this program's own. */
export const openNewest = Effect.fnUntraced(function* (layout: Layout, folder: string) {
  const newest = yield* copyNewest(layout, folder)
  if (newest === undefined) return undefined
  const { ingestion, manifest } = newest
  const loaded = Object.entries(manifest.data_sets).filter(([, entry]) => isLoaded(entry))
  const [intact, damaged] = yield* Effect.partition(loaded, ([pipeline, entry]) =>
    Effect.as(verifyDataSet(layout, pipeline, entry), [pipeline, entry] as const)
  )
  const { others, readable } = yield* findReadable(layout, Object.fromEntries(intact))
  for (const { message } of [...damaged, ...others])
    yield* Effect.logWarning(`the lake keeps an earlier state of a data set: ${message}`)
  const db = yield* DuckDb.memory
  yield* db.run(`set temp_directory = ${literal(path.join(folder, "tmp"))}`)
  const ingest = { tables: ingestTables, views: ingestViews }
  const rolledBackIn = (pipeline: string) => {
    const { changed_in, published_in } = manifest.data_sets[pipeline] ?? { changed_in: 0, published_in: 0 }
    return changed_in > published_in ? changed_in : 0
  }
  const sources = new Map([
    ["ingest", { part: `${manifest.id} ${definitionHash(ingest)}`, rolledBackIn: 0 }],
    ...readable.map(({ dataSet, sha256 }) => {
      const part = `${sha256} ${definitionHash(dataSet)}`
      return [dataSet.schema, { part, rolledBackIn: rolledBackIn(dataSet.about.pipeline) }] as const
    })
  ])
  return {
    manifest,
    db,
    tables: yield* define(db, { parts: readable, ingestion }, sources),
    /** Schemas that are damaged or that this version cannot read: the lake keeps their earlier state. */
    unreadable: new Set(
      dataSets
        .filter(({ about, schema }) => isLoaded(manifest.data_sets[about.pipeline]) && !sources.has(schema))
        .map(({ schema }) => schema)
    )
  }
})

export type NewestGeneration = NonNullable<Effect.Success<ReturnType<typeof openNewest>>>
