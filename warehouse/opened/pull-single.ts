/** Pulls the database of one data set from a shared depot, without the other data sets and the records of runs. */
import { rm } from "node:fs/promises"
import { Effect, Option } from "effect"
import { listObjectTimes, objectName } from "../depot/depot.ts"
import { type Layout, requireWritableFolder } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import {
  generationId,
  isLoaded,
  listNumbers,
  type Manifest,
  manifestName,
  newestManifest
} from "../generation/manifest.ts"
import { findWanted, manifestText, notInDepot, pullWithFallback } from "../generation/pull.ts"
import { pullParts } from "../generation/pull-parts.ts"
import { newestSingleManifest, singleDataSetLayout } from "../generation/single-data-sets.ts"
import { WarehouseProblem } from "../problem.ts"
import { linkSingle } from "./opened-files.ts"

/** Removes the files of earlier pulls, including interrupted ones. */
const keepOnly = Effect.fnUntraced(function* ({ incoming, local }: Layout, number: number, sha256: string) {
  const objects = [...(yield* listObjectTimes(local)).keys()].filter((other) => other !== sha256)
  const earlier = (yield* listNumbers(local)).filter((other) => other < number)
  yield* local.remove([...earlier.map(manifestName), ...objects.map(objectName)])
  yield* local.removeUnfinished(Number.POSITIVE_INFINITY)
  yield* Effect.promise(() => rm(incoming, { recursive: true, force: true }))
})

/** Stores the manifest before the file is shown. Returns the number of bytes received. */
const pullDataSet = Effect.fnUntraced(function* (layout: Layout, pipeline: string, { data_sets, number }: Manifest) {
  const [database] = data_sets[pipeline]?.parts ?? []
  if (database === undefined) {
    const loaded = Object.keys(data_sets).filter((name) => isLoaded(data_sets[name]))
    return yield* notInDepot(layout.depot, `${pipeline} of ${generationId(number)}`, loaded)
  }
  const single = yield* singleDataSetLayout(layout, pipeline)
  const bytes = yield* pullParts(single, generationId(number), [database])
  yield* single.local.putText(manifestName(number), yield* manifestText(layout, number))
  yield* linkSingle(layout, single.objectFile(database.sha256), layout.dataSetFile(pipeline))
  yield* keepOnly(single, number, database.sha256)
  return bytes
})

/**
 * Brings the file of one data set to the newest generation of a shared depot, or to the one with number `to`. Undefined
 * if the depot has none. Fails if this machine has complete generations, or has had a newer one.
 */
export const pullSingle = Effect.fn("Generation.pullSingle")(function* (layout: Layout, pipeline: string, to?: number) {
  const { dir, local, pullLock } = layout
  const pulling = Effect.gen(function* () {
    const newest = yield* newestManifest(local)
    if (Option.isSome(newest)) {
      // in a complete generation, one data set cannot be newer than the others
      return yield* new WarehouseProblem({
        problem: `${dir} has complete generations, up to ${generationId(newest.value.number)}. Pull without --only, or into another folder with LARDER_HOME.`
      })
    }
    const wanted = yield* findWanted(layout, yield* newestSingleManifest(layout), to)
    if (wanted === undefined) return undefined
    return yield* pullWithFallback(layout, wanted, to, (manifest) => pullDataSet(layout, pipeline, manifest))
  })
  yield* requireWritableFolder(dir)
  return yield* withLock(pullLock, pulling)
})
