/**
 * Writes the newest generation into the lake: Parquet files, and for each table a Delta log, which other engines read. The
 * lake is stored in the depot, next to the parts.
 *
 * A table gets a new version if its rows or its definition differ from its last one; the version names the generation as
 * `userMetadata`. Parquet is written only if the table's part changed. A version is the next number in the log, put only
 * if it is absent. If another machine was faster, its version is read, and the table is compared with it again. Nothing is
 * replaced by an older generation. A rollback gives each table of its data set a version, even one with the same rows: it
 * takes the number that a machine may be about to use for a generation that was undone.
 *
 * Readers see each table change atomically. The tables of one generation are not committed together: a program that is
 * killed between two tables leaves some of them at the generation before, until the next write completes them. A killed
 * program otherwise leaves only files that no version names; `retention.ts` deletes them.
 */
import { randomUUID } from "node:crypto"
import path from "node:path"
import { Clock, Effect, Option } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { generationId, newestManifest } from "../generation/manifest.ts"
import { makeOwnFolder } from "../publishing/staging.ts"
import { writeFiles } from "./files.ts"
import { type GenerationTable, type NewestGeneration, openNewest } from "./generation-tables.ts"
import { deletedFileDays, formatCommit, generationOf, isBeforeRollback, nextVersion, type Version } from "./log.ts"
import { daysBefore, tidyTable } from "./retention.ts"
import { commitName, fileName, findNewestGeneration, readStored, readVersion, type StoredTable } from "./stored.ts"

/** A table to bring up to the generation. Without a `source`, the generation does not have it. */
interface Target {
  readonly table: string
  readonly source: GenerationTable | undefined
  readonly last: Version | undefined
}

/** `lastStored` is the time of the newest file in the lake, by the depot's clock: this machine's may be wrong. */
const readTimes = (lastStored: number) =>
  Effect.map(Clock.currentTimeMillis, (now) => ({
    /** Stamps a version: not before what is already there. */
    timestamp: Math.max(now, Math.ceil(lastStored)),
    /** Decides what is old enough to be deleted: not after what is known to have passed. */
    elapsed: Math.min(now, lastStored)
  }))

type Times = Effect.Success<ReturnType<typeof readTimes>>

/** Returns the newest version of the table, and the bytes that were added; undefined if it stays as it is. */
const writeTable = Effect.fnUntraced(function* (
  { depot }: Layout,
  { db, manifest }: NewestGeneration,
  { last, source, table }: Target,
  { elapsed, timestamp }: Times,
  folder: string
) {
  const isDone = (version: Version | undefined) =>
    version !== undefined &&
    (generationOf(version) > manifest.number ||
      (source !== undefined && version.info.larder.part === source.part && !isBeforeRollback(version, source)))
  if (isDone(last)) return undefined
  const files = source === undefined ? [] : yield* writeFiles(db, source, path.join(folder, table))
  const deletedBefore = daysBefore(elapsed, deletedFileDays)
  for (let before = last; !isDone(before); ) {
    const next = nextVersion(before, { manifest, table: source, files, timestamp, deletedBefore })
    if (next === undefined) return undefined
    const { added, version } = next
    yield* Effect.forEach(added, ({ file, path }) => depot.putFile(fileName(table, path), file.object, file.file), {
      concurrency: 4,
      discard: true
    })
    if (yield* depot.putText(commitName(table, version.number), formatCommit(version)))
      return { version, bytes: added.reduce((sum, { file }) => sum + file.object.bytes, 0) }
    before = yield* readVersion(depot, table, version.number)
  }
  return undefined
})

/** Rows and versions do not depend on a checkpoint or a deletion, so a failure must not stop the other tables. */
const warnIfUntidy = ({ location }: Depot, table: string) =>
  Effect.catch((error: Error) =>
    Effect.logWarning(
      `outdated files of ${table} remain in the lake, and the next run tries again: ${error.message.replace(/\.$/, "")}. The table itself is up to date. Check that ${location}/${fileName(table, "")} has room, and that files in it can be written and deleted.`
    )
  )

const update = Effect.fnUntraced(function* (layout: Layout) {
  const { depot } = layout
  const folder = yield* makeOwnFolder(layout, `lake-${randomUUID()}`)
  const generation = yield* openNewest(layout, folder)
  if (generation === undefined) return undefined
  const { manifest, tables, unreadable } = generation
  const { newestTime, tables: stored } = yield* readStored(depot)
  const lakeNumber = yield* findNewestGeneration(depot, stored.values())
  if (lakeNumber > manifest.number) return { generation: generationId(lakeNumber), tables: [], bytes: 0 }
  const times = yield* readTimes(newestTime)
  const wanted = new Map(tables.map((table) => [`${table.schema}.${table.name}`, table]))
  const dropped = [...stored.keys()].filter((table) => !wanted.has(table) && !unreadable.has(table.replace(/\..*/, "")))
  const written: Array<string> = []
  const versions: Array<{ readonly before: StoredTable; readonly newest: Version }> = []
  let bytes = 0
  for (const table of [...wanted.keys(), ...dropped]) {
    const before = stored.get(table) ?? { table, files: [], newest: undefined, hintStoredAt: 0 }
    const target: Target = { table, source: wanted.get(table), last: before.newest }
    const result = yield* writeTable(layout, generation, target, times, folder)
    if (result !== undefined) written.push(table)
    bytes += result?.bytes ?? 0
    const newest = result?.version ?? before.newest
    if (newest !== undefined) versions.push({ before, newest })
  }
  for (const { before, newest } of versions) // afterwards, because no table needs it
    yield* tidyTable(depot, before, newest, times.elapsed, folder).pipe(warnIfUntidy(depot, before.table))
  return { generation: generationId(manifest.number), tables: written, bytes }
}, Effect.scoped)

/**
 * Writes the newest generation of this machine. Returns the generation of the lake and the tables with a new version;
 * undefined if there is no generation.
 */
export const writeNewest = Effect.fn("Lake.write")(function* (layout: Layout) {
  if (Option.isNone(yield* newestManifest(layout.local))) return undefined // there may be no folder for the lock either
  const written = yield* withLock(layout.lakeLock, update(layout))
  if (written !== undefined && written.tables.length > 0) {
    const { bytes, generation, tables } = written
    yield* Effect.logInfo(
      `the lake has ${generation}; new versions of tables: ${tables.length}, ${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`
    )
  }
  return written
})
