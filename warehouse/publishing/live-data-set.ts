/**
 * The live state of a data set, for runs: views in `live` of its verified database and, in `live.ingest`, of the records
 * of the runs from which it descends. Records of failed or rolled-back runs are omitted: their payloads are unread.
 */
import { Effect, Option } from "effect"
import { DuckDb, identifier, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isLoaded, newestManifest } from "../generation/manifest.ts"
import { verifyDataSet } from "../generation/parts.ts"
import { attachIngestion } from "../ingestion/file.ts"
import { createUncommentedTables, qualifiedName } from "../tables/dictionary.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import type { DataSet } from "../tables/tables.ts"
import {
  type AddedColumn,
  columnsToAdd,
  hasOtherDefinition,
  listTables,
  requireKnown,
  requireKnownIngest,
  requireMapping,
  selectList
} from "../tables/versions.ts"

type Db = DuckDb["Service"]

/** Fails if the live database is damaged, or if a newer version published it or wrote records. */
export const readLiveDataSet = Effect.fnUntraced(function* (layout: Layout, dataSet: DataSet) {
  const { pipeline } = dataSet.about
  const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
  const entry = manifest?.data_sets[pipeline]
  yield* requireKnown(dataSet, entry)
  yield* requireKnownIngest(manifest)
  const file = isLoaded(entry) ? yield* verifyDataSet(layout, pipeline, entry) : undefined
  return { entry, file }
})

export type LiveDataSet = Effect.Success<ReturnType<typeof readLiveDataSet>>

/** The databases to which the views in `live` refer. */
export const liveData = "live_data"
const ingestion = "live_ingestion"

const ingestViews = (pipeline: string) => [
  "create schema live.ingest",
  `create view live.ingest.run as from ${ingestion}.ingest.live_run where pipeline = ${literal(pipeline)}`,
  ...stagedIngestTables.map(({ name }) => {
    const source = `${ingestion}.ingest.live_${name}`
    return `create view live.ingest.${name} as from ${source} semi join live.ingest.run using (run_id)`
  })
]

const detach = (db: Db, name: string) => Effect.ignore(db.run(`detach ${name}`))

/** Attaches the live database of a data set as `live_data`, until the scope ends. */
export const attachLiveData = (db: Db, file: string) =>
  Effect.acquireRelease(
    db.run(`attach ${literal(file)} as ${liveData} (read_only)`).pipe(Effect.mapError(openError(file))),
    () => detach(db, liveData)
  )

/**
 * Shows the live state of a data set as `live`, until the scope ends, with the columns of this version. Its database is
 * attached as `live_data`, and lacks the `added` columns. Returns the names of the tables, as `schema.table`.
 */
export const showLive = Effect.fnUntraced(function* (
  db: Db,
  layout: Layout,
  { about, schema, tables }: DataSet,
  added: ReadonlyArray<AddedColumn>
) {
  yield* attachIngestion(layout, db, ingestion)
  const createViews = Effect.gen(function* () {
    const names = yield* listTables(db, liveData, schema) // the live database may lack a table that this version has
    const existing = tables.filter(({ name }) => names.has(name))
    const statements = [
      "attach ':memory:' as live",
      `create schema live.${identifier(schema)}`,
      ...existing.map((table) => {
        const name = qualifiedName(table)
        return `create view live.${name} as select ${selectList(table, added)} from ${liveData}.${name}`
      }),
      ...ingestViews(about.pipeline)
    ]
    yield* db.run(statements.join(";\n"))
    return new Set(existing.map(({ name }) => `${schema}.${name}`))
  })
  const hide = detach(db, "live")
  return yield* Effect.acquireRelease(
    Effect.onError(createViews, () => hide),
    () => hide
  )
})

/** Attaches the live database of a data set. Returns the columns that it lacks, or fails if it differs otherwise. */
const attachAndCompare = Effect.fnUntraced(function* (db: Db, dataSet: DataSet, file: string, isDifferent: boolean) {
  yield* attachLiveData(db, file)
  if (!isDifferent) return []
  yield* createUncommentedTables(db, dataSet.tables)
  return yield* columnsToAdd(db, dataSet, liveData)
})

/** Reads from the live state of a data set. Returns `fallback` if nothing is live. */
export const readLive = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  dataSet: DataSet,
  fallback: A,
  read: (db: Db) => Effect.Effect<A, E, R>
) {
  const { entry, file } = yield* readLiveDataSet(layout, dataSet)
  if (entry === undefined || file === undefined) return fallback
  const reading = Effect.gen(function* () {
    const db = yield* DuckDb.memory
    const added = yield* attachAndCompare(db, dataSet, file, hasOtherDefinition(dataSet, entry))
    yield* showLive(db, layout, dataSet, added)
    yield* db.run("use live")
    return yield* read(db)
  })
  return yield* Effect.scoped(reading)
})

/** Fails before a run fetches anything, if this version cannot publish to the live data set. */
export const requirePublishable = Effect.fn("LiveDataSet.requirePublishable")(function* (
  layout: Layout,
  dataSet: DataSet,
  mappingVersion: number
) {
  const { entry, file } = yield* readLiveDataSet(layout, dataSet)
  yield* requireMapping(dataSet, mappingVersion, entry)
  if (entry === undefined || file === undefined || !hasOtherDefinition(dataSet, entry)) return
  yield* attachAndCompare(yield* DuckDb.memory, dataSet, file, true)
}, Effect.scoped)
