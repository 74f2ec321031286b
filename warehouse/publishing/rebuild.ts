/**
 * Replaces the live data set with a rebuilt one. Its parts come from another warehouse, in which its runs were repeated.
 * The records of payloads, and of what was left out of them, are replaced, and runs without records get theirs, so the raw
 * archive alone restores the history of the runs that read their source.
 */
import { randomUUID } from "node:crypto"
import { Effect, FileSystem, Path } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import {
  type Change,
  type DataSetEntry,
  type GenerationEvent,
  generationId,
  isLoaded,
  type Manifest,
  newestManifest
} from "../generation/manifest.ts"
import { verifyPart } from "../generation/parts.ts"
import { attachIngestion } from "../ingestion/file.ts"
import { eventWithoutRun, writeRecordsOfRebuild } from "../ingestion/records.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { WarehouseProblem } from "../problem.ts"
import type { DataSet } from "../tables/tables.ts"
import { requireNoNewerMapping, requireNotNewer } from "../tables/versions.ts"
import { addPart, ConcurrentPublication, isUnchangedEntry, promote, putFile } from "./promote.ts"
import { makeOwnFolder } from "./staging.ts"

const writeRecords = Effect.fnUntraced(function* (layout: Layout, from: Layout, event: GenerationEvent, file: string) {
  const fs = yield* FileSystem.FileSystem
  yield* refreshOpened(layout)
  const db = yield* DuckDb.memory
  yield* attachIngestion(from, db, "rebuilt")
  const hasRecords = yield* fs.exists(layout.ingestion)
  if (hasRecords) yield* attachIngestion(layout, db, "known")
  yield* writeRecordsOfRebuild(file, event, db, "rebuilt", hasRecords ? "known" : undefined)
}, Effect.scoped)

interface Rebuild {
  readonly layout: Layout
  readonly dataSet: DataSet
  /** The warehouse in which the runs were repeated. */
  readonly from: Layout
  /** The live entry of the data set when the runs to repeat were selected. */
  readonly since: DataSetEntry | undefined
}

/**
 * Makes the parts of `from` live, with the records of its runs. Returns the id of the new generation. The caller has had
 * the lock of the data set since before it selected the runs to repeat: otherwise a run that publishes in between would
 * be lost.
 */
export const rebuildFrom = Effect.fn("Generation.rebuild")(function* ({ dataSet, from, layout, since }: Rebuild) {
  const path = yield* Path.Path
  const { pipeline } = dataSet.about
  const rebuilt = (yield* newestManifest(from.depot))?.data_sets[pipeline]
  if (!isLoaded(rebuilt) && isLoaded(since)) {
    return yield* new WarehouseProblem({
      problem: `The runs in the raw archive produce no row of ${pipeline}. The live data is unchanged. Restore the folder raw from a backup, and run again.`
    })
  }
  const folder = yield* makeOwnFolder(layout, `records-${randomUUID()}`)
  const records = path.join(folder, "records.gz")
  const event = eventWithoutRun({ kind: "rebuild", pipeline, went_back_to: null, note: null })
  yield* writeRecords(layout, from, event, records)
  const object = yield* putFile(layout, records)
  const change = Effect.fnUntraced(function* (base: Manifest | undefined, number: number) {
    const before = base?.data_sets ?? {}
    const live = before[pipeline]
    yield* requireNotNewer(dataSet, live)
    if (isLoaded(rebuilt)) yield* requireNoNewerMapping(dataSet, rebuilt.mapping, live)
    if (!isUnchangedEntry(live, since)) return yield* new ConcurrentPublication({ pipeline })
    const entry: DataSetEntry | undefined = isLoaded(rebuilt)
      ? {
          ...rebuilt,
          published_in: number,
          changed_in: number,
          built_on: isLoaded(live) ? live.published_in : null,
          undone: live?.undone ?? [] // rolled-back runs stay rolled back
        }
      : undefined
    const data_sets = entry === undefined ? before : { ...before, [pipeline]: entry }
    return { event, data_sets, ingest: yield* addPart(base, object, number) } satisfies Change
  })
  for (const part of rebuilt?.parts ?? []) yield* putFile(layout, yield* verifyPart(from, pipeline, part))
  const { number } = yield* promote(layout, "the data set is rebuilt", change)
  return generationId(number)
}, Effect.scoped)
