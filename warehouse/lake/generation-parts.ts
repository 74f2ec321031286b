/** What the lake takes from a generation: its databases and its records, on this machine. */
import { copyFile, mkdir, rm, stat } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import type { Layout } from "../generation/layout.ts"
import { type DataSetEntry, generationId, isLoaded, type Manifest } from "../generation/manifest.ts"
import { verifiedDatabase } from "../generation/parts.ts"
import { pullParts } from "../generation/pull-parts.ts"
import { recordsUpTo, refreshIngestion } from "../ingestion/file.ts"
import { dataSetFileOf, readableOf } from "../opened/parts.ts"
import type { GenerationParts } from "./add-generation.ts"
import { attempt } from "./states.ts"

/** `ingestion.duckdb` as of this generation, in the given folder. */
const ingestionOf = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest, folder: string) {
  yield* attempt(folder, () => mkdir(folder, { recursive: true }))
  const own = {
    ...layout,
    dir: folder,
    ingestion: path.join(folder, "ingestion.duckdb"),
    seen: path.join(folder, "seen")
  }
  const inode = () => stat(layout.ingestion, { bigint: true }).then(({ ino }) => ino)
  if ((yield* recordsUpTo(layout, layout.ingestion))?.number === manifest.number) {
    const before = yield* attempt(layout.ingestion, inode)
    yield* attempt(own.ingestion, () => copyFile(layout.ingestion, own.ingestion))
    if (before === (yield* attempt(layout.ingestion, inode))) return own.ingestion // otherwise it was exchanged, and may be written to
    yield* attempt(own.ingestion, () => rm(own.ingestion))
  }
  yield* refreshIngestion(own, manifest, dataSets)
  return own.ingestion
})

const loadedIn = ({ data_sets }: Manifest): Readonly<Record<string, DataSetEntry>> =>
  Object.fromEntries(Object.entries(data_sets).filter(([, entry]) => isLoaded(entry)))

/** The parts of a generation that go into the lake, pulled to this machine. Undefined if its data was removed. */
export const generationPartsOf = Effect.fnUntraced(function* (
  layout: Layout,
  manifest: Manifest,
  objects: ReadonlyMap<string, number>,
  folder: string
) {
  const loaded = loadedIn(manifest)
  const databases = Object.values(loaded).flatMap(({ parts }) => parts.slice(0, 1))
  if (!databases.every(({ sha256 }) => objects.has(sha256))) return undefined
  yield* pullParts(layout, generationId(manifest.number), [...databases, ...manifest.ingest.parts])
  for (const [pipeline, entry] of Object.entries(loaded)) yield* verifiedDatabase(layout, pipeline, entry)
  const { others, readable } = yield* readableOf(layout, loaded)
  for (const { message } of others) yield* Effect.logWarning(`the lake keeps what it had of a data set: ${message}`)
  const parts = dataSets.flatMap((dataSet) => {
    const entry = readable[dataSet.about.pipeline]
    const [database] = entry?.parts ?? []
    return database === undefined ? [] : [{ dataSet, entry, sha256: database.sha256 }]
  })
  const untouched = dataSets.filter(({ about: { pipeline } }) => pipeline in loaded && !(pipeline in readable))
  return {
    manifest,
    parts: parts.map(({ dataSet, entry, sha256 }) => dataSetFileOf(dataSet, layout.objectFile(sha256), entry)),
    ingestion: yield* ingestionOf(layout, manifest, path.join(folder, String(manifest.number))),
    databases: Object.fromEntries(parts.map(({ dataSet, sha256 }) => [dataSet.schema, sha256])),
    untouched: new Set(untouched.map(({ schema }) => schema))
  } satisfies GenerationParts as GenerationParts
})
