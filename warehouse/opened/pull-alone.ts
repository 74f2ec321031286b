/**
 * Pulls one data set without the others: its file is brought up to a generation of a shared depot, and nothing else is
 * fetched.
 */
import { rm } from "node:fs/promises"
import { Effect, Option, Schema } from "effect"
import { datedObjects, objectName } from "../depot/depot.ts"
import { aloneLayout, newestAlone } from "../generation/alone.ts"
import { type Layout, writableDirectory } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import {
  generationId,
  isLoaded,
  listNumbers,
  type Manifest,
  manifestName,
  newestManifest
} from "../generation/manifest.ts"
import { findWanted, manifestText, NotInDepot, pullOrNewer } from "../generation/pull.ts"
import { pullParts } from "../generation/pull-parts.ts"
import { showAlone } from "./opened-files.ts"

/** This machine has whole generations, in which one data set cannot be newer than the others. */
class WholeHere extends Schema.TaggedError<WholeHere>()("WholeHere", {
  dir: Schema.String,
  generation: Schema.String
}) {
  override get message() {
    return `${this.dir} has whole generations, of which ${this.generation} is the newest. Pull without --only, or into another folder with LARDER_HOME.`
  }
}

/** Removes what earlier pulls left, including interrupted ones. */
const keepOnly = Effect.fnUntraced(function* ({ incoming, local }: Layout, number: number, sha256: string) {
  const objects = [...(yield* datedObjects(local)).keys()].filter((other) => other !== sha256)
  const earlier = (yield* listNumbers(local)).filter((other) => other < number)
  yield* local.remove([...earlier.map(manifestName), ...objects.map(objectName)])
  yield* local.sweep(Number.POSITIVE_INFINITY)
  yield* Effect.promise(() => rm(incoming, { recursive: true, force: true }))
})

/**
 * Brings a data set to its state in a generation. The manifest is stored before the file is shown. Returns the number
 * of bytes fetched.
 */
const pullDataSet = Effect.fnUntraced(function* (layout: Layout, pipeline: string, { data_sets, number }: Manifest) {
  const { depot } = layout
  const [database] = data_sets[pipeline]?.parts ?? []
  if (database === undefined) {
    const kept = Object.keys(data_sets).filter((name) => isLoaded(data_sets[name]))
    return yield* new NotInDepot({ location: depot.location, what: `${pipeline} of ${generationId(number)}`, kept })
  }
  const alone = yield* aloneLayout(layout, pipeline)
  const bytes = yield* pullParts(alone, generationId(number), [database])
  yield* alone.local.putText(manifestName(number), yield* manifestText(layout, number))
  yield* showAlone(layout, alone.objectFile(database.sha256), layout.dataSetFile(pipeline))
  yield* keepOnly(alone, number, database.sha256)
  return bytes
})

/**
 * Brings the file of one data set up to the newest generation of a shared depot, or to the generation of a given
 * number. Undefined if the depot has none. Fails if this machine has whole generations, or has seen a newer one.
 */
export const pullAlone = Effect.fn("Generation.pullAlone")(function* (layout: Layout, pipeline: string, to?: number) {
  const { dir, local, pullLock } = layout
  const pulling = Effect.gen(function* () {
    const whole = yield* newestManifest(local)
    if (Option.isSome(whole)) return yield* new WholeHere({ dir, generation: generationId(whole.value.number) })
    const found = yield* findWanted(layout, yield* newestAlone(layout), to)
    if (found === undefined) return undefined
    return yield* pullOrNewer(layout, found, to, (manifest) => pullDataSet(layout, pipeline, manifest))
  })
  yield* writableDirectory(dir)
  return yield* withLock(pullLock, pulling)
})
