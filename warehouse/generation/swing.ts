/** The steps that make a built file the live generation, and what is tidied up around them. */
import { Clock, Effect, FileSystem, Option, Path } from "effect"
import { generations, idOf, type Layout } from "./layout.ts"

/** Generations of one line that stay on disk, the live one included. */
const keptGenerations = 5

const syncFile = (file: string) =>
  Effect.scoped(FileSystem.FileSystem.use((fs) => Effect.flatMap(fs.open(file, { flag: "r+" }), (open) => open.sync)))

/** Makes new names in a folder survive a power cut. Windows has no such call. */
const syncFolder = (dir: string) =>
  process.platform === "win32"
    ? Effect.void
    : Effect.scoped(FileSystem.FileSystem.use((fs) => Effect.flatMap(fs.open(dir), (open) => open.sync)))

const linkTo = Effect.fnUntraced(function* (name: string, link: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.remove(link, { force: true })
  yield* fs.symlink(name, link) // relative: the folder can be moved
})

/**
 * Makes a built file a generation and points the link at it: one rename, seen whole or not at all. The next link is there
 * before the file has its name and goes with that rename, so a run that is killed between the two leaves no doubt that this
 * generation was never live.
 */
export const promote = Effect.fnUntraced(function* (layout: Layout, building: string, name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* syncFile(building)
  yield* fs.chmod(building, 0o444) // an analyst who forgets to open it read-only cannot change it
  yield* linkTo(name, layout.nextLink)
  yield* fs.rename(building, path.join(layout.dir, name))
  yield* syncFolder(layout.dir)
  yield* fs.rename(layout.nextLink, layout.link)
  // The new generation is live now. A power cut could still bring the old one back, which is whole, too.
  yield* Effect.ignore(syncFolder(layout.dir))
})

/** What is in the place of the link and is no link goes beside it: it may be the only copy of something. */
const setAside = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const isThere = yield* fs.exists(layout.link)
  if (!isThere || Option.isSome(yield* Effect.option(fs.readLink(layout.link)))) return
  const aside = `${layout.link}.${yield* Clock.currentTimeMillis}`
  yield* fs.rename(layout.link, aside)
  yield* Effect.logWarning(`${layout.link} was no link. It is ${aside} now; remove it if nobody needs it.`)
})

/** Points the link at a generation that was live before. */
export const promoteAgain = Effect.fnUntraced(function* (layout: Layout, name: string) {
  const fs = yield* FileSystem.FileSystem
  const link = `${layout.link}.part`
  yield* linkTo(name, link)
  yield* setAside(layout)
  yield* fs.rename(link, layout.link)
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
  const fs = yield* FileSystem.FileSystem
  const databases = new Set((yield* generations(layout)).map(({ name }) => name))
  /** A generation that was never live, and folders of one whose database is gone or never had its name. */
  const isOrphan = (name: string) => {
    const [, database] = /^(larder-\d{6,}\.duckdb)(\.[a-z]+)?$/.exec(name) ?? []
    return database !== undefined && !name.endsWith(".wal") && !databases.has(database)
  }
  yield* removeWhere(layout, (name) => name.includes(".building") || name.endsWith(".part") || isOrphan(name))
  yield* fs.remove(layout.nextLink, { force: true }) // last: it tells which generation was never live
})

interface Family {
  /** The live generation. */
  readonly id: string
  /** What it was built from. */
  readonly lineage: ReadonlyArray<string>
  /** Those, itself included, that hold what the one before held. */
  readonly repetitions: ReadonlyArray<string>
  /** What servers may still be reading. */
  readonly spared: ReadonlyArray<string>
}

/**
 * Removes all but the newest of those generations that `id` was built from, itself included, and never one of `spared`.
 * Repetitions go first and take no place of the others, so that a source that is away for days costs no generation with data.
 * Of generations that it was not built from, such as those that were rolled back from, it cannot know who needs them. A reader
 * that has one open keeps it.
 */
export const prune = Effect.fnUntraced(function* (layout: Layout, { id, lineage, repetitions, spared }: Family) {
  const ids = (yield* generations(layout)).map(({ name }) => idOf(name))
  const family = ids.filter((other) => other === id || lineage.includes(other))
  const newest = family.filter((other) => !repetitions.includes(other)).slice(-keptGenerations)
  const kept = new Set([...newest, ...spared, id])
  const old = family.filter((other) => !kept.has(other))
  yield* removeWhere(layout, (file) => old.some((generation) => file.startsWith(`${generation}.duckdb`))) // .tmp and .wal, too
  const others = ids.filter((other) => !family.includes(other))
  if (others.length === 0) return
  yield* Effect.logInfo(`${id} was not built from ${others.join(", ")}: they are kept until you remove their files`)
})
