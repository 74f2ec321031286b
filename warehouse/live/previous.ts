/**
 * What a run reads from the live state when it starts: how far feeds were read, which payloads are known, and whether
 * this version can publish to it.
 */
import { Effect, Option } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isLoaded, newestManifest } from "../generation/manifest.ts"
import { verifiedDatabase } from "../generation/parts.ts"
import { createTables } from "../tables/dictionary.ts"
import { columnsToAdd, isDefinedOtherwise } from "../tables/earlier-versions.ts"
import { requireKnown, requireKnownIngest } from "../tables/newer-versions.ts"
import type { DataSet } from "../tables/tables.ts"
import { attachLiveData, liveData, showLive } from "./live-tables.ts"

/**
 * The live state of a data set, verified against what was published. Fails if a newer version published it, or wrote
 * records.
 */
export const liveDataSetOf = Effect.fnUntraced(function* (layout: Layout, dataSet: DataSet) {
  const { pipeline } = dataSet.about
  const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
  const entry = manifest?.data_sets[pipeline]
  yield* requireKnown(dataSet, entry)
  yield* requireKnownIngest(manifest)
  const file = isLoaded(entry) ? yield* verifiedDatabase(layout, pipeline, entry) : undefined
  return { entry, file }
})

export type LiveDataSet = Effect.Success<ReturnType<typeof liveDataSetOf>>

/**
 * Reads from the live state of a data set, and from the records in `ingest` of the runs from which it descends. Returns
 * `otherwise` if nothing is live.
 */
export const fromLive = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  dataSet: DataSet,
  otherwise: A,
  read: (db: DuckDb["Service"]) => Effect.Effect<A, E, R>
) {
  const { entry, file } = yield* liveDataSetOf(layout, dataSet)
  if (entry === undefined || file === undefined) return otherwise
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* attachLiveData(db, file)
      const isOther = isDefinedOtherwise(dataSet, entry)
      if (isOther) yield* createTables(db, dataSet.tables)
      yield* showLive(db, layout, dataSet, isOther ? yield* columnsToAdd(db, dataSet, liveData) : [])
      yield* db.run("use live")
      return yield* read(db)
    })
  )
})

/**
 * Fails before a run fetches anything, if the live data set is damaged, was published by a newer version, or has tables
 * to which this version cannot publish.
 */
export const requirePublishable = Effect.fn("Definitions.requirePublishable")(function* (
  layout: Layout,
  dataSet: DataSet
) {
  const { entry, file } = yield* liveDataSetOf(layout, dataSet)
  if (entry === undefined || file === undefined || !isDefinedOtherwise(dataSet, entry)) return
  const db = yield* DuckDb.memory
  yield* createTables(db, dataSet.tables)
  yield* attachLiveData(db, file)
  yield* columnsToAdd(db, dataSet, liveData)
}, Effect.scoped)
