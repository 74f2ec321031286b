/** Pulls the parts of a generation that go into the lake: its databases and its records. */
import { copyFile, mkdir, rm, stat } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import type { Layout } from "../generation/layout.ts"
import { generationId, isLoaded, type Manifest } from "../generation/manifest.ts"
import { verifyDataSet } from "../generation/parts.ts"
import { pullParts } from "../generation/pull-parts.ts"
import { findNewestRecorded, refreshIngestion } from "../ingestion/file.ts"
import { findReadable } from "../opened/parts.ts"
import { attempt } from "./states.ts"

/** Makes `ingestion.duckdb` as of this generation, in the given folder. */
const makeIngestion = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest, folder: string) {
  yield* attempt(folder, () => mkdir(folder, { recursive: true }))
  const ingestion = path.join(folder, "ingestion.duckdb")
  const inode = () => stat(layout.ingestion, { bigint: true }).then(({ ino }) => ino)
  if ((yield* findNewestRecorded(layout))?.number === manifest.number) {
    const before = yield* attempt(layout.ingestion, inode)
    yield* attempt(ingestion, () => copyFile(layout.ingestion, ingestion))
    if (before === (yield* attempt(layout.ingestion, inode))) return ingestion // otherwise it was replaced during the copy
    yield* attempt(ingestion, () => rm(ingestion))
  }
  yield* refreshIngestion(
    { ...layout, dir: folder, ingestion, markers: path.join(folder, "markers") },
    manifest,
    dataSets
  )
  return ingestion
})

/** The parts of a generation that go into the lake, pulled to this machine. Undefined if its data was removed. */
export const pullGenerationParts = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  objects: ReadonlyMap<string, number>,
  folder: string
) {
  const loaded = Object.fromEntries(Object.entries(manifest.data_sets).filter(([, entry]) => isLoaded(entry)))
  const databases = Object.values(loaded).flatMap(({ parts }) => parts.slice(0, 1))
  if (!databases.every(({ sha256 }) => objects.has(sha256))) return undefined
  yield* pullParts(layout, generationId(manifest.number), [...databases, ...manifest.ingest.parts])
  for (const [pipeline, entry] of Object.entries(loaded)) yield* verifyDataSet(layout, pipeline, entry)
  const { others, readable } = yield* findReadable(layout, loaded)
  for (const { message } of others)
    yield* Effect.logWarning(`the lake keeps an earlier state of a data set: ${message}`)
  const readableDataSets = new Set(readable.map(({ dataSet }) => dataSet))
  const untouched = dataSets.filter((dataSet) => dataSet.about.pipeline in loaded && !readableDataSets.has(dataSet))
  return {
    manifest,
    parts: readable,
    ingestion: yield* makeIngestion(layout, manifest, path.join(folder, String(manifest.number))),
    /** The SHA-256 of each data set's database, by schema. */
    databases: Object.fromEntries(readable.map(({ dataSet, sha256 }) => [dataSet.schema, sha256])),
    /** Schemas that this version cannot read: the lake keeps their earlier state. */
    untouched: new Set(untouched.map(({ schema }) => schema))
  }
})

export type GenerationParts = NonNullable<Effect.Success<ReturnType<typeof pullGenerationParts>>>
