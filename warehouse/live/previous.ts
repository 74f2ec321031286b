/** What a run may ask of what is live when it starts: how far feeds were read, which payloads are known. */
import { Effect, Option } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { isLoaded, newestManifest } from "../generation/manifest.ts"
import { verifiedDatabase } from "../generation/parts.ts"
import type { DataSet } from "../tables.ts"
import { attachLiveData, showLive } from "./live-tables.ts"

/** The database of a data set that is live, held to what was published; undefined before the first. */
export const liveDatabase = Effect.fnUntraced(function* (layout: Layout, { about: { pipeline } }: DataSet) {
  const entry = Option.getOrUndefined(yield* newestManifest(layout.depot))?.data_sets[pipeline]
  return isLoaded(entry) ? yield* verifiedDatabase(layout, pipeline, entry) : undefined
})

/** Reads from what is live of a data set, and of `ingest` what it descends from; or else answers with `otherwise`. */
export const fromLive = Effect.fnUntraced(function* <A, E, R>(
  layout: Layout,
  dataSet: DataSet,
  otherwise: A,
  read: (db: DuckDb["Service"]) => Effect.Effect<A, E, R>
) {
  const file = yield* liveDatabase(layout, dataSet)
  if (file === undefined) return otherwise
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* attachLiveData(db, file)
      yield* showLive(db, layout, dataSet)
      yield* db.run("use live")
      return yield* read(db)
    })
  )
})
