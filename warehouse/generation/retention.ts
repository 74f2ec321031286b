/**
 * Removes outdated generations and their parts. The newest states of each data set are kept, even if other data sets were
 * published many times since. The records of all runs are kept. Parts of records that a kept manifest names stay even
 * after they were merged, because a copy or a reader of that manifest needs them.
 */
import { settingOf } from "@larder/schemas"
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { type Depot, listObjectTimes, type ObjectId, objectName, oldestKeptTime } from "../depot/depot.ts"
import { ifMissing } from "../disk.ts"
import type { Layout } from "./layout.ts"
import { isLoaded, type Manifest, manifestName, readKeptManifests } from "./manifest.ts"
import { sidecarsMarker } from "./markers.ts"
import { objectsInManifest } from "./pull-parts.ts"

const Count = Schema.FiniteFromString.check(
  Schema.makeFilter((n) => (Number.isInteger(n) && n >= 1) || "expected a whole number of at least 1")
)
/** Number of kept states of each data set, including the live one. A run checks it before it fetches anything. */
export const keptSetting = settingOf("LARDER_KEPT_GENERATIONS", Count)

/** The newest manifests are kept even without changes, because a reader may still read them one by one. */
const minKeptManifests = 100

/** The generations that published the kept states of a data set, and the live one. `manifests` are in ascending order. */
const findKeptStates = (manifests: ReadonlyArray<Manifest>, newest: Manifest, pipeline: string, count: number) => {
  const published = manifests
    .filter(({ data_sets: { [pipeline]: entry }, number }) => entry?.published_in === number && isLoaded(entry))
    .map(({ number }) => number)
  const live = newest.data_sets[pipeline]?.published_in
  return new Set([...published.slice(-count), ...(live === undefined ? [] : [live])])
}

const hashesOf = (objects: ReadonlyArray<ObjectId> = []) => objects.map(({ sha256 }) => sha256)

const removeOld = Effect.fnUntraced(function* (folder: string, isCandidate: (name: string) => boolean, before: number) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* fs.readDirectory(folder).pipe(ifMissing<ReadonlyArray<string>>([]))
  for (const file of names.filter(isCandidate).map((name) => path.join(folder, name))) {
    const mtime = yield* fs.stat(file).pipe(
      Effect.map((stats) => stats.mtime),
      ifMissing(Option.none<Date>())
    )
    if (Option.isSome(mtime) && mtime.value.getTime() < before) yield* fs.remove(file, { force: true })
  }
})

/** Returns the removed objects, and the time after which stored objects are kept even without a manifest. */
const pruneDepot = Effect.fnUntraced(function* (depot: Depot) {
  const count = yield* keptSetting
  // listed once: a data set that is published for the first time meanwhile is in none of them, so its parts are kept
  const manifests = yield* readKeptManifests(depot)
  const newest = manifests.at(-1)
  if (newest === undefined) return undefined
  const pipelines = Object.keys(newest.data_sets)
  const kept = new Map(pipelines.map((pipeline) => [pipeline, findKeptStates(manifests, newest, pipeline, count)]))
  const isNeeded = ({ number }: Manifest) =>
    number > newest.number - minKeptManifests || [...kept.values()].some((states) => states.has(number))
  const needed = new Set([
    ...hashesOf(objectsInManifest(newest)),
    ...manifests
      .filter(isNeeded)
      .flatMap(({ data_sets, ingest, number }) => [
        ...hashesOf(ingest.parts),
        ...pipelines.flatMap((pipeline) =>
          kept.get(pipeline)?.has(number) ? hashesOf(data_sets[pipeline]?.parts) : []
        )
      ])
  ])
  const known = new Set(manifests.flatMap((manifest) => hashesOf(objectsInManifest(manifest))))
  const objects = yield* listObjectTimes(depot)
  const earliest = yield* oldestKeptTime(objects)
  const removed = [...objects]
    .filter(([sha256, storedAt]) => !needed.has(sha256) && (known.has(sha256) || storedAt < earliest))
    .map(([sha256]) => sha256)
  yield* depot.remove(removed.map(objectName))
  yield* depot.remove(manifests.filter((manifest) => !isNeeded(manifest)).map(({ number }) => manifestName(number)))
  yield* depot.removeUnfinished(earliest)
  return { removed, earliest }
})

export const pruneLocal = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const pruned = yield* pruneDepot(layout.local)
  if (pruned === undefined) return
  for (const sha256 of pruned.removed) {
    const markers = [sha256, sidecarsMarker(sha256)].map((name) => path.join(layout.markers, name))
    const folders = [sha256, `${sha256}.building`].map((name) => path.join(layout.sidecars, name))
    for (const file of [...markers, ...folders]) yield* fs.remove(file, { recursive: true, force: true })
  }
  // files of programs that were killed while they created a lock
  yield* removeOld(layout.dir, (name) => /\.[0-9a-f-]{36}\.part$/.test(name), pruned.earliest)
  yield* removeOld(layout.incoming, () => true, pruned.earliest) // a killed pull can be resumed for that long
})

export const prune = Effect.fn("Generation.prune")(function* (layout: Layout) {
  if (layout.depot !== layout.local) yield* pruneDepot(layout.depot)
  yield* pruneLocal(layout)
})
