/**
 * Updates the files that users open, under permanent names: a file for each data set, which is a hard link to its part;
 * `ingestion.duckdb`, made from the parts of `ingest`; and `larder.duckdb`, the catalogue over all of them. The run
 * that makes a generation does this. If it was killed before it could, the next program that needs them does it.
 */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { link, mkdir, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import { FileOperationFailed, fileOperation, readInode } from "../disk.ts"
import type { Layout } from "../generation/layout.ts"
import { type waitLimits, withLock } from "../generation/lock.ts"
import { type DataSetEntry, isLoaded, type Manifest, newestManifest } from "../generation/manifest.ts"
import { verifyDataSet } from "../generation/parts.ts"
import { hasRecordsUpTo, refreshIngestion } from "../ingestion/file.ts"
import { ingestVersion } from "../tables/ingest-tables.ts"
import { findNewer } from "../tables/versions.ts"
import { isCatalogueOf, isCatalogueOfAnyVersion, refreshCatalogue } from "./catalogue.ts"
import { findReadable } from "./parts.ts"

const problem = "could not be updated to the live data"
const consequence =
  "It keeps its current state, and nothing is lost. Remove the cause: the next run or `larder-ingest status` updates it."
const operation = fileOperation(problem, consequence)
const attempt = <A>(file: string, run: () => Promise<A>) => Effect.uninterruptible(operation(file, run))

/** Gives an object another name. The name is replaced atomically, so it always refers to a complete file. */
const linkAs = (object: string, file: string) =>
  attempt(file, async () => {
    if ((await readInode(file)) === (await readInode(object))) return
    const temporaryFile = `${file}.${randomUUID()}.part`
    await link(object, temporaryFile)
    await rm(`${file}.wal`, { force: true }) // the write-ahead log of a program that wrote to the old file
    await rename(temporaryFile, file)
  })

/** Whether a newer version maintains `ingestion.duckdb`: this version would drop its newer columns. */
const isMaintainedByNewerVersion = ({ ingestion }: Layout, { ingest }: Manifest) =>
  ingest.schema > ingestVersion && existsSync(ingestion)

/** Whether the files show this generation, as far as this is known without a lock. */
const isShown = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  const { data_sets, number } = manifest
  const isPartShown = async ([pipeline, { parts }]: readonly [string, DataSetEntry]) => {
    const [database] = parts
    const shown = await readInode(layout.dataSetFile(pipeline))
    return shown === (database && (await readInode(layout.objectFile(database.sha256))))
  }
  if (!isMaintainedByNewerVersion(layout, manifest) && !(yield* hasRecordsUpTo(layout, number))) return false
  const isCatalogue = findNewer(manifest).length > 0 ? isCatalogueOfAnyVersion : isCatalogueOf
  if (!(yield* isCatalogue(layout, data_sets))) return false
  const shown = yield* attempt(layout.dir, () => Promise.all(Object.entries(data_sets).map(isPartShown)))
  return shown.every(Boolean)
})

/** A database may have temporary files of its own, with a longer name. */
const isUnfinished = (name: string) => /^[\w.-]+\.duckdb\.[0-9a-f-]{36}\.(part|building)(\.|$)/.test(name)

const isUnfinishedLinks = (name: string) => /\.building-[0-9a-f-]{36}$/.test(name)

const removeMatching = async (folder: string, isRemoved: (name: string) => boolean) => {
  if (!existsSync(folder)) return
  for (const name of (await readdir(folder)).filter(isRemoved)) {
    await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** Removes what killed processes left. Only the holder of the lock makes such files, so no process uses one. */
const sweep = (layout: Layout) =>
  attempt(layout.dir, async () => {
    await removeMatching(layout.dir, isUnfinished)
    await removeMatching(layout.sidecars, isUnfinishedLinks)
  })

/** Links the sidecar files of a database, so that servers do not write them. Ignores errors: a server reports them. */
const linkSidecars = (layout: Layout, [database, ...sidecars]: DataSetEntry["parts"]) =>
  Effect.promise(async () => {
    const folder = join(layout.sidecars, database?.sha256 ?? "")
    if (sidecars.length === 0 || existsSync(folder)) return
    const building = `${folder}.building-${randomUUID()}`
    try {
      await mkdir(building, { recursive: true })
      for (const { name, sha256 } of sidecars) await link(layout.objectFile(sha256), join(building, name))
      await rename(building, folder)
    } catch {
      await rm(building, { recursive: true, force: true })
    }
  })

/** The data sets with an intact database. A damaged one is logged, and the others are shown. */
const findIntact = Effect.fnUntraced(function* (layout: Layout, { data_sets }: Manifest) {
  const intact: Record<string, DataSetEntry> = {}
  for (const [pipeline, entry] of Object.entries(data_sets)) {
    const result = yield* Effect.result(isLoaded(entry) ? verifyDataSet(layout, pipeline, entry) : Effect.void)
    if (result._tag === "Success") intact[pipeline] = entry
    else yield* Effect.logWarning(`larder.duckdb is written without ${pipeline}: ${result.failure.message}`)
  }
  return intact
})

const refresh = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  yield* sweep(layout)
  const data_sets = yield* findIntact(layout, manifest)
  for (const [pipeline, { parts }] of Object.entries(data_sets)) {
    const [database] = parts
    const file = layout.dataSetFile(pipeline)
    yield* database === undefined
      ? attempt(file, () => rm(file, { force: true }))
      : linkAs(layout.objectFile(database.sha256), file)
    yield* linkSidecars(layout, parts)
  }
  if (!isMaintainedByNewerVersion(layout, manifest)) yield* refreshIngestion(layout, manifest, dataSets)
  const { others, readable } = yield* findReadable(layout, data_sets)
  // a version that can read all of them may have written it
  if (others.length > 0 && (yield* isCatalogueOfAnyVersion(layout, data_sets))) return
  for (const { message } of others) yield* Effect.logWarning(`larder.duckdb is written without a data set: ${message}`)
  yield* refreshCatalogue(layout, data_sets, readable).pipe(
    Effect.catchTag(["DuckDbError", "PlatformError", "UnknownError"], (error) => {
      const cause = error._tag === "UnknownError" ? error.cause : error
      return Effect.fail(new FileOperationFailed({ file: layout.catalogue, problem, cause, consequence }))
    })
  )
})

export const refreshOpened = Effect.fn("OpenedFiles.refresh")(function* (
  layout: Layout,
  waitLimit: keyof typeof waitLimits = "run"
) {
  const newest = yield* newestManifest(layout.local)
  if (newest === undefined || (yield* isShown(layout, newest))) return
  const refreshing = Effect.gen(function* () {
    const manifest = yield* newestManifest(layout.local) // another process may have made a newer one
    yield* refresh(layout, manifest ?? newest)
  })
  yield* withLock(layout.openedLock, refreshing, waitLimit)
})
