/**
 * The sidecar files of the branded foods, as a server needs them: parts in addition to their database, in a folder of
 * hard links with their names. They can be linked again, or made again from the database.
 */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, FileSystem, Path } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import type { DataSetEntry } from "../generation/manifest.ts"
import { isMarked, readStamp, sidecarsMarker, writeMarker } from "../generation/markers.ts"
import { findFault } from "../generation/parts.ts"
import { buildFoods } from "../search/build/build.ts"
import { FoodFilesDamaged } from "../search/files.ts"

/** Replaces a folder with a finished one. */
const replace = Effect.fnUntraced(function* (building: string, folder: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(folder, { recursive: true, force: true })
  yield* fs.rename(building, folder)
})

const buildingFolder = (folder: string) => `${folder}.building`

/** Files that this machine made are not parts: these stamps, in a marker, show that nothing wrote to them since. */
const readStamps = (folder: string) =>
  Effect.tryPromise(async () => {
    const names = (await readdir(folder)).sort()
    const stamps = await Promise.all(names.map((name) => readStamp(join(folder, name))))
    return { stamps: names.map((name, index) => `${name} ${stamps[index]}`).join("\n") }
  })

const markerOf = ({ parts: [database] }: DataSetEntry) => sidecarsMarker(database?.sha256 ?? "")

/** Fails unless this machine made the files and they are unchanged, or each equals the part with its name. */
export const requireUnchanged = Effect.fnUntraced(function* (layout: Layout, entry: DataSetEntry, folder: string) {
  const isMadeHere = Effect.flatMap(readStamps(folder), (stamps) => isMarked(layout, markerOf(entry), stamps))
  if (yield* Effect.orElseSucceed(isMadeHere, () => false)) return
  const [, ...sidecars] = entry.parts
  for (const part of sidecars) {
    const fault = yield* findFault(layout, part, join(folder, part.name))
    if (fault !== undefined) return yield* new FoodFilesDamaged({ file: part.name, reason: fault })
  }
})

/** Prepares a path at which a folder can be created. */
const clear = Effect.fnUntraced(function* (building: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.remove(building, { recursive: true, force: true })
  yield* fs.makeDirectory(path.dirname(building), { recursive: true })
})

/**
 * Runs in the process that serves the files. It takes minutes at 2 M label versions, with all cores busy. DuckDB and two
 * more threads do the work. Only the checksums and the opening at the end block the event loop.
 */
export const rebuildFiles = Effect.fnUntraced(function* (
  layout: Layout,
  file: string,
  folder: string,
  entry: DataSetEntry
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const building = buildingFolder(folder)
  const db = yield* DuckDb.readOnlyWithFiles(file)
  yield* clear(building)
  yield* buildFoods(db, building, { useThreads: true })
  for (const name of yield* fs.readDirectory(building)) yield* fs.chmod(path.join(building, name), 0o444) // as published
  yield* replace(building, folder)
  yield* writeMarker(layout, markerOf(entry), yield* readStamps(folder))
}, Effect.scoped)

/** Hard-links the parts under their names. */
export const linkParts = Effect.fnUntraced(function* (
  layout: Layout,
  { parts: [, ...sidecars] }: DataSetEntry,
  folder: string
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const building = buildingFolder(folder)
  yield* clear(building)
  yield* fs.makeDirectory(building)
  for (const { name, sha256 } of sidecars) {
    yield* fs
      .link(layout.objectFile(sha256), path.join(building, name))
      .pipe(
        Effect.catchReason("PlatformError", "NotFound", () =>
          Effect.fail(new FoodFilesDamaged({ file: name, reason: "is missing" }))
        )
      )
  }
  yield* replace(building, folder)
})
