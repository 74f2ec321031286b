/**
 * Writes the newest generation into the lake: Parquet files, and for each table a Delta log, which other engines read. The
 * lake is stored in the depot, next to the parts.
 *
 * A table gets a new version if its part changed: if another generation made its rows live, or the definition differs. The
 * version names the generation as `userMetadata`, and has new files only for changed rows. It is the next number in the log,
 * put only if it is absent. If another machine was faster, its version is read, and the table is compared with it again.
 * Nothing is replaced by an older generation. Even a version with the same rows is put: it takes the number that a slower
 * machine may be about to use for a generation in between, which may have been rolled back.
 *
 * Tables that this version of Larder does not define, or cannot read, stay as they are.
 *
 * Readers see each table change atomically. The tables of one generation are not committed together: a program that is
 * killed between two tables leaves some of them at the generation before, until the next write completes them. A killed
 * program otherwise leaves only files that no version names; `retention.ts` deletes them.
 */
import { randomUUID } from "node:crypto"
import path from "node:path"
import { Clock, Effect } from "effect"
import type { Depot } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import { generationId, newestManifest } from "../generation/manifest.ts"
import { makeOwnFolder } from "../publishing/staging.ts"
import { writeFiles } from "./files.ts"
import { type LakeTable, type NewestGeneration, openNewest } from "./generation-tables.ts"
import { formatActions, generationOf, nextCommit, replay, type Version } from "./log.ts"
import { commitName, fileName } from "./names.ts"
import { tidyTable } from "./retention.ts"
import { findNewestGeneration, readStored, readVersion } from "./stored.ts"

/** Returns the new version of the table, and the bytes that were added; undefined if it stays as it is. */
const writeTable = Effect.fnUntraced(function* (
  depot: Depot,
  { db, manifest }: NewestGeneration,
  source: LakeTable,
  newest: Version | undefined,
  timestamp: number,
  folder: string
) {
  const isDone = (version: Version | undefined) =>
    version !== undefined && (generationOf(version) > manifest.number || version.info.larder.part === source.part)
  if (isDone(newest)) return undefined
  const table = `${source.schema}.${source.name}`
  const files = yield* writeFiles(db, source, path.join(folder, table))
  for (let last = newest; !isDone(last); ) {
    const { actions, added, number } = nextCommit(last, { manifest, table: source, files, timestamp })
    yield* Effect.forEach(added, ({ file, path }) => depot.putFile(fileName(table, path), file.object, file.file), {
      concurrency: 4,
      discard: true
    })
    if (yield* depot.putText(commitName(table, number), formatActions(actions)))
      return {
        version: replay(last, number, actions),
        bytes: added.reduce((sum, { file }) => sum + file.object.bytes, 0)
      }
    last = yield* readVersion(depot, table, number, last)
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
  const { db, manifest, tables } = generation
  const { newestTime, tables: stored } = yield* readStored(depot, db, folder)
  const lakeNumber = yield* findNewestGeneration(depot, stored.values())
  if (lakeNumber > manifest.number) return { generation: generationId(lakeNumber), tables: [], bytes: 0 }
  const now = yield* Clock.currentTimeMillis // by this machine's clock, which may be wrong
  const timestamp = Math.max(now, Math.ceil(newestTime)) // not before what is stored
  const elapsed = Math.min(now, newestTime) // not after what is known to have passed
  const written: Array<string> = []
  let bytes = 0
  for (const source of tables) {
    const table = `${source.schema}.${source.name}`
    const before = stored.get(table) ?? { table, files: [], newest: undefined }
    const result = yield* writeTable(depot, generation, source, before.newest, timestamp, folder)
    if (result === undefined) continue
    stored.set(table, { ...before, newest: result.version })
    written.push(table)
    bytes += result.bytes
  }
  // afterwards, because no table needs it
  for (const table of stored.values())
    yield* tidyTable(depot, db, table, elapsed, folder).pipe(warnIfUntidy(depot, table.table))
  return { generation: generationId(manifest.number), tables: written, bytes }
}, Effect.scoped)

/**
 * Writes the newest generation of this machine. Returns the generation of the lake and the tables with a new version;
 * undefined if there is no generation.
 */
export const writeNewest = Effect.fn("Lake.write")(function* (layout: Layout) {
  if ((yield* newestManifest(layout.local)) === undefined) return undefined // there may be no folder for the lock either
  const written = yield* withLock(layout.lakeLock, update(layout))
  const { bytes, generation, tables } = written
  if (tables.length > 0)
    yield* Effect.logInfo(
      `the lake has ${generation}; new versions of tables: ${tables.length}, ${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`
    )
  return written
})
