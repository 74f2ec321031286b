/**
 * The files that users open, under permanent names: a file for each data set, which is a hard link to its part;
 * `ingestion.duckdb`, made from the parts of `ingest`; and `larder.duckdb`, the catalogue over all of them. The run
 * that makes a generation brings them up to it. If the run was killed before it could, a starting server does so.
 */
import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { link, mkdir, readdir, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { dataSets } from "../data-sets.ts"
import type { Layout } from "../generation/layout.ts"
import { patience, withLock } from "../generation/lock.ts"
import { type DataSetEntry, isLoaded, type Manifest, newestManifest } from "../generation/manifest.ts"
import { verifiedDatabase } from "../generation/parts.ts"
import { isUpTo, refreshIngestion } from "../ingestion/file.ts"
import { ingestVersion } from "../tables/ingest-tables.ts"
import { newerIn } from "../tables/newer-versions.ts"
import { isCatalogueOf, isCatalogueOfAnyVersion, refreshCatalogue } from "./catalogue.ts"
import { readableOf } from "./parts.ts"

/** A file that users open could not be brought up to what is live. */
class OpenedFileUnwritable extends Schema.TaggedError<OpenedFileUnwritable>()("OpenedFileUnwritable", {
  file: Schema.String,
  cause: Schema.Defect()
}) {
  override get message() {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${this.file} could not be updated to the live data: ${reason}. It keeps its present state until the next run updates it; nothing is lost.`
  }
}

const attempt = <A>(file: string, run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new OpenedFileUnwritable({ file, cause }) }).pipe(
    Effect.uninterruptible
  )

const inodeOf = (file: string) =>
  stat(file, { bigint: true }).then(
    ({ ino }) => ino,
    () => undefined
  )

/** Gives an object another name. The name is replaced in one step, so it always leads to a whole file. */
const showAs = (object: string, file: string) =>
  attempt(file, async () => {
    if ((await inodeOf(file)) === (await inodeOf(object))) return
    const next = `${file}.${randomUUID()}.part`
    await link(object, next)
    await rm(`${file}.wal`, { force: true }) // the write-ahead log of a program that wrote to the old file
    await rename(next, file)
  })

/** Whether a newer version maintains `ingestion.duckdb`: this version would write it without what it does not know. */
const isKeptByNewerVersion = ({ ingestion }: Layout, { ingest }: Manifest) =>
  ingest.schema > ingestVersion && existsSync(ingestion)

/** Whether the files are up to this generation, as far as can be seen without a lock. */
const isShown = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  const { data_sets, number } = manifest
  if (!isKeptByNewerVersion(layout, manifest) && !(yield* isUpTo(layout, number))) return false
  const isCatalogue = newerIn(manifest).length > 0 ? isCatalogueOfAnyVersion : isCatalogueOf
  if (!(yield* isCatalogue(layout, data_sets))) return false
  const inodes = yield* attempt(layout.dir, () =>
    Promise.all(
      Object.entries(data_sets).map(
        async ([
          pipeline,
          {
            parts: [database]
          }
        ]) => {
          const shown = await inodeOf(layout.dataSetFile(pipeline))
          return shown === (database && (await inodeOf(layout.objectFile(database.sha256))))
        }
      )
    )
  )
  return inodes.every(Boolean)
})

const isUnfinished = (name: string) =>
  /^[\w.-]+\.duckdb(\.next)?\.[0-9a-f-]{36}\.(part|building)(\.wal|\.tmp)?$/.test(name)

/**
 * Removes what killed processes left of these files. Only the holder of their lock makes any, so no living process uses
 * one.
 */
const sweep = (layout: Layout) =>
  attempt(layout.dir, async () => {
    for (const name of (await readdir(layout.dir)).filter(isUnfinished)) {
      await rm(join(layout.dir, name), { recursive: true, force: true })
    }
  })

/**
 * Links the sidecar files of a database under their names, so that a server need not write anything. If that fails, the
 * server reports it.
 */
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

/** Shows a part of a data set that was pulled alone. */
export const showAlone = (layout: Layout, part: string, file: string) =>
  withLock(layout.openedLock, Effect.andThen(sweep(layout), showAs(part, file)), patience.run)

/** The data sets whose database is intact. A damaged one does not keep the others from being shown. */
const withoutDamaged = Effect.fnUntraced(function* (layout: Layout, { data_sets }: Manifest) {
  const whole: Record<string, DataSetEntry> = {}
  for (const [pipeline, entry] of Object.entries(data_sets)) {
    const found = yield* Effect.result(isLoaded(entry) ? verifiedDatabase(layout, pipeline, entry) : Effect.void)
    if (found._tag === "Success") whole[pipeline] = entry
    else yield* Effect.logWarning(`larder.duckdb is written without ${pipeline}: ${found.failure.message}`)
  }
  return whole
})

const refresh = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  yield* sweep(layout)
  const data_sets = yield* withoutDamaged(layout, manifest)
  for (const [pipeline, { parts }] of Object.entries(data_sets)) {
    const [database] = parts
    const file = layout.dataSetFile(pipeline)
    yield* database === undefined
      ? attempt(file, () => rm(file, { force: true }))
      : showAs(layout.objectFile(database.sha256), file)
    yield* linkSidecars(layout, parts)
  }
  if (!isKeptByNewerVersion(layout, manifest)) yield* refreshIngestion(layout, manifest, dataSets)
  const { others, readable } = yield* readableOf(layout, data_sets)
  // a version that can read all of them may have written it
  if (others.length > 0 && (yield* isCatalogueOfAnyVersion(layout, data_sets))) return
  for (const { message } of others) yield* Effect.logWarning(`larder.duckdb is written without a data set: ${message}`)
  yield* refreshCatalogue(layout, data_sets, readable)
})

/** Brings the files that users open up to the newest generation. */
export const refreshOpened = Effect.fn("OpenedFiles.refresh")(function* (
  layout: Layout,
  by: keyof typeof patience = "run"
) {
  const newest = yield* newestManifest(layout.local)
  if (newest._tag === "None" || (yield* isShown(layout, newest.value))) return
  yield* withLock(
    layout.openedLock,
    Effect.gen(function* () {
      const manifest = yield* newestManifest(layout.local) // another process may have made a newer one meanwhile
      yield* refresh(layout, manifest._tag === "Some" ? manifest.value : newest.value)
    }),
    patience[by]
  )
})
