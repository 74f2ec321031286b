/**
 * The live state of a data set, for runs: views in `live` of its verified database and, in `live.ingest`, of the records
 * of the runs from which it descends. Records of failed or rolled-back runs are omitted: their payloads are unread.
 */
import { Effect } from "effect"
import { DuckDb, identifier, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isLoaded, newestManifest } from "../generation/manifest.ts"
import { verifyDataSet } from "../generation/parts.ts"
import { attachIngestion } from "../ingestion/file.ts"
import { qualifiedName } from "../tables/dictionary.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import type { DataSet } from "../tables/tables.ts"
import { requireKnown, requireKnownIngest, requireMapping } from "../tables/versions.ts"

type Db = DuckDb["Service"]

/** Fails if the live database is damaged, or if another version published it or a newer one wrote records. */
export const readLiveDataSet = Effect.fnUntraced(function* (layout: Layout, dataSet: DataSet) {
  const { pipeline } = dataSet.about
  const manifest = yield* newestManifest(layout.local)
  const entry = manifest?.data_sets[pipeline]
  yield* requireKnown(dataSet, entry)
  yield* requireKnownIngest(manifest)
  const file = isLoaded(entry) ? yield* verifyDataSet(layout, pipeline, entry) : undefined
  return { entry, file }
})

export type LiveDataSet = Effect.Success<ReturnType<typeof readLiveDataSet>>

/** The databases to which the views in `live` refer. */
const liveData = "live_data"
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

/** Shows the live state of a data set as `live`, until the scope ends. Its database is attached as `live_data`. */
export const showLive = Effect.fnUntraced(function* (db: Db, layout: Layout, { about, schema, tables }: DataSet) {
  yield* attachIngestion(layout, db, ingestion)
  const statements = [
    "attach ':memory:' as live",
    `create schema live.${identifier(schema)}`,
    ...tables.map(qualifiedName).map((name) => `create view live.${name} as from ${liveData}.${name}`),
    ...ingestViews(about.pipeline)
  ]
  const hide = detach(db, "live")
  yield* Effect.acquireRelease(
    Effect.onError(db.run(statements.join(";\n")), () => hide),
    () => hide
  )
})

/** Reads from the live state of a data set. Returns `fallback` if nothing is live. */
export const readLive = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  dataSet: DataSet,
  fallback: A,
  read: (db: Db) => Effect.Effect<A, E, R>
) {
  const { file } = yield* readLiveDataSet(layout, dataSet)
  if (file === undefined) return fallback
  const reading = Effect.gen(function* () {
    const db = yield* DuckDb.memory
    yield* attachLiveData(db, file)
    yield* showLive(db, layout, dataSet)
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
  const { entry } = yield* readLiveDataSet(layout, dataSet)
  yield* requireMapping(dataSet, mappingVersion, entry)
})
