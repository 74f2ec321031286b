/** The steps that make a built file the live generation, and what is tidied up around them. */
import { Effect, FileSystem, Path } from "effect"
import { generations, type Layout } from "./layout.ts"

/** Generations that stay on disk, the live one included. */
const keptGenerations = 5

const nextLink = ".larder.duckdb.next"

const syncFile = (file: string) =>
  Effect.scoped(FileSystem.FileSystem.use((fs) => Effect.flatMap(fs.open(file, { flag: "r+" }), (open) => open.sync)))

/** Makes new names in a folder survive a power cut. Windows has no such call. */
const syncFolder = (dir: string) =>
  process.platform === "win32"
    ? Effect.void
    : Effect.scoped(FileSystem.FileSystem.use((fs) => Effect.flatMap(fs.open(dir), (open) => open.sync)))

/** Gives a built file its name, on the disk for good, so that the link can be swung to it. */
export const finish = Effect.fnUntraced(function* (layout: Layout, building: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* syncFile(building)
  yield* fs.chmod(building, 0o444) // an analyst who forgets to open it read-only cannot change it
  yield* fs.rename(building, path.join(layout.dir, name))
  yield* syncFolder(layout.dir)
})

/** Points the link at a generation file of the same folder: one rename, seen whole or not at all. */
export const swing = Effect.fnUntraced(function* (layout: Layout, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const next = path.join(layout.dir, nextLink)
  yield* fs.remove(next, { force: true })
  yield* fs.symlink(name, next) // relative: the folder can be moved
  yield* fs.rename(next, layout.link)
  // The new generation is live now. A power cut could still bring the old one back, which is whole, too.
  yield* Effect.ignore(syncFolder(layout.dir))
})

const removeWhere = Effect.fnUntraced(function* (layout: Layout, isLeft: (name: string) => boolean) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const left = (yield* fs.readDirectory(layout.dir)).filter(isLeft)
  yield* Effect.forEach(left, (name) => fs.remove(path.join(layout.dir, name), { force: true, recursive: true }), {
    discard: true
  })
})

/** What was being made when a run was killed. Only the holder of the publish lock may say so. */
export const removeLeftovers = Effect.fnUntraced(function* (layout: Layout) {
  const databases = new Set((yield* generations(layout)).map(({ name }) => name))
  /** A folder of a generation that was killed before its database had its name. */
  const isOrphan = (name: string) => {
    const [, database] = /^(larder-\d+\.duckdb)\.[a-z]+$/.exec(name) ?? []
    return database !== undefined && !name.endsWith(".wal") && !databases.has(database)
  }
  yield* removeWhere(
    layout,
    (name) => name.includes(".building") || name.endsWith(".part") || name === nextLink || isOrphan(name)
  )
})

/** Removes all but the newest generations, never one of `spared`. A reader that has one open keeps it. */
export const prune = Effect.fnUntraced(function* (layout: Layout, spared: ReadonlyArray<string>) {
  const old = (yield* generations(layout))
    .map(({ name }) => name)
    .filter((name, position, all) => position < all.length - keptGenerations && !spared.includes(name))
  yield* removeWhere(layout, (name) => old.some((generation) => name.startsWith(generation))) // .tmp and .wal, too
})
