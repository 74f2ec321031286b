/**
 * Putting a data set that was made anew in the place of the live one: its parts come from another warehouse, into which its runs were
 * repeated. What these runs told of payloads then is told again, as this version reads them.
 */
import { Effect, FileSystem, Option, Path } from "effect"
import { DuckDb, literal } from "../duckdb.ts"
import { type Layout, NoWarehouse } from "../generation/layout.ts"
import {
  type Change,
  type DataSetEntry,
  type Event,
  generationId,
  isLoaded,
  type Manifest,
  makeGeneration,
  newestManifest
} from "../generation/manifest.ts"
import { verifiedPart } from "../generation/parts.ts"
import { readingIngestion } from "../ingestion/file.ts"
import { tellOfRebuild } from "../ingestion/told.ts"
import { requireKnown } from "../newer-versions.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import type { DataSet } from "../tables.ts"
import { addPart, putFile } from "./record.ts"

/** Live where the data set has one; rolled-back runs stay rolled back. */
const entryOf = (made: DataSetEntry, live: DataSetEntry | undefined, number: number): DataSetEntry => ({
  ...made,
  published_in: number,
  changed_in: number,
  built_on: isLoaded(live) ? live.published_in : null,
  undone: live?.undone ?? []
})

/**
 * Makes the parts of `from` live. Answers with the id of the new generation. Whoever calls it holds the lock of the data set since before
 * it looked for the runs to repeat: one that publishes meanwhile would be lost.
 */
export const rebuildFrom = Effect.fn("Generation.rebuild")(function* (layout: Layout, from: Layout, dataSet: DataSet) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { pipeline } = dataSet.about
  const made = Option.getOrUndefined(yield* newestManifest(from.depot))?.data_sets[pipeline]
  if (!isLoaded(made)) return yield* new NoWarehouse({ dir: from.dir })
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-told-" })
  const told = path.join(folder, "told.gz")
  const event: Event = {
    kind: "rebuild",
    pipeline,
    run_id: null,
    outcome: null,
    rows_loaded: null,
    went_back_to: null,
    note: null
  }
  yield* readingIngestion(from)
  const db = yield* DuckDb.memory
  yield* db.run(`attach ${literal(from.ingestion)} as made (read_only)`)
  yield* tellOfRebuild(told, event, db, "made")
  const object = yield* putFile(layout, told)
  const change = Effect.fnUntraced(function* (base: Manifest | undefined, number: number) {
    const live = base?.data_sets[pipeline]
    yield* requireKnown(dataSet, live)
    const data_sets = { ...base?.data_sets, [pipeline]: entryOf(made, live, number) }
    return { event, data_sets, ingest: yield* addPart(base, object, number) } satisfies Change as Change
  })
  for (const part of made.parts) yield* putFile(layout, yield* verifiedPart(from, pipeline, part))
  const { number } = yield* makeGeneration(layout.depot, change)
  yield* refreshOpened(layout).pipe(
    Effect.catch((error) => Effect.logWarning(`the data set was made anew, but: ${error.message}`))
  )
  return generationId(number)
}, Effect.scoped)
