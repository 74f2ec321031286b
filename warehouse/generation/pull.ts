/**
 * Pulls generations from a shared depot to this machine. The manifest is stored after all its parts. A machine never
 * pulls another history, or a generation older than its newest.
 */
import { Effect, Option, Result } from "effect"
import { type Depot, listObjectTimes, putObject } from "../depot/depot.ts"
import { WarehouseProblem } from "../problem.ts"
import { type Layout, requireWritableFolder } from "./layout.ts"
import { type waitLimits, withLock } from "./lock.ts"
import { generationId, listNumbers, type Manifest, manifestName, newestManifest, readManifest } from "./manifest.ts"
import { isMarked, writeMarker } from "./markers.ts"
import { objectsInManifest, pullParts, transferLimit } from "./pull-parts.ts"

/** The depot does not have the requested generation. */
const notInDepot = ({ location }: Depot, number: number, existing: ReadonlyArray<number> = []) =>
  new WarehouseProblem({
    problem: `There is no ${generationId(number)} in ${location}. There is: ${existing.map(generationId).join(", ") || "nothing"}.`
  })

/** Returns the text of a manifest, as it was published. Fails if it has been pruned. */
const manifestText = Effect.fnUntraced(function* ({ depot }: Layout, number: number) {
  const text = yield* depot.readText(manifestName(number))
  if (Option.isSome(text)) return text.value
  return yield* notInDepot(depot, number)
})

/** Pulls a generation from the depot, its parts first. Returns the number of bytes received. */
export const pullGeneration = Effect.fn("Generation.pullOne")(function* (layout: Layout, manifest: Manifest) {
  const name = manifestName(manifest.number)
  const received = yield* pullParts(layout, generationId(manifest.number), objectsInManifest(manifest))
  yield* layout.local.putText(name, yield* manifestText(layout, manifest.number))
  return received
})

/** Copies the generations of this machine, in their order, into a depot that has none yet. */
const copyAll = Effect.fnUntraced(function* ({ depot, local, objectFile }: Layout) {
  yield* Effect.logInfo(`${depot.location} is empty: the generations of ${local.location} are copied to it`)
  for (const number of yield* listNumbers(local)) {
    const [text, manifest] = yield* Effect.all([local.readText(manifestName(number)), readManifest(local, number)])
    if (Option.isNone(text) || manifest === undefined) continue
    const stored = yield* listObjectTimes(local)
    const objects = objectsInManifest(manifest).filter(({ sha256 }) => stored.has(sha256)) // manifests outlive their parts
    yield* Effect.forEach(objects, (object) => putObject(depot, object, objectFile(object.sha256)), transferLimit)
    yield* depot.putText(manifestName(number), text.value)
  }
})

/**
 * Fails if the newest generation of the depot is older than this machine's, or if the depot has a different one under
 * that number. A manifest that cannot be read is not compared: if it is older than the key, it is unsigned.
 */
const requireSameHistory = Effect.fnUntraced(function* (layout: Layout, newest: Manifest, localNewest: Manifest) {
  const { depot, local } = layout
  const sameNumber =
    newest.number === localNewest.number
      ? newest
      : yield* readManifest(depot, localNewest.number).pipe(Effect.catchTag("DepotUnusable", () => Effect.undefined))
  const isOther = sameNumber !== undefined && sameNumber.id !== localNewest.id
  if (newest.number >= localNewest.number && !isOther) return // a missing one was pruned
  const fault = isOther ? "is a different one there" : `is newer than ${generationId(newest.number)}, the newest there`
  return yield* new WarehouseProblem({
    problem: `${depot.location} is not the depot of ${local.location}: ${generationId(localNewest.number)} of this machine ${fault}. Nothing was changed. Check LARDER_DEPOT, or set LARDER_HOME to another folder.`
  })
})

/** The newest generation in the depot, or the one with number `to`. Undefined if the depot has none. */
const findInDepot = Effect.fnUntraced(function* ({ depot }: Layout, localNewest: Manifest | undefined, to?: number) {
  const found = yield* to === undefined ? newestManifest(depot, localNewest?.number) : readManifest(depot, to)
  if (found !== undefined) return found
  if (to === undefined && localNewest === undefined) return undefined
  if (to === undefined) return yield* newestManifest(depot) // the depot may be behind
  return yield* notInDepot(depot, to, yield* listNumbers(depot))
})

/**
 * The generation to pull: the newest, or the one with number `to`. `localNewest` is the newest on this machine: the
 * result has the same history and is not older. Undefined if the depot has no generation.
 */
const findWanted = Effect.fnUntraced(function* (
  layout: Layout,
  localNewest: Manifest | undefined,
  to: number | undefined
) {
  const found = yield* findInDepot(layout, localNewest, to)
  if (found === undefined || localNewest === undefined) return found
  if (to !== undefined && localNewest.number > found.number) {
    return yield* new WarehouseProblem({
      problem: `${layout.dir} already has ${generationId(localNewest.number)}, and pulling never returns to an older generation. Pull ${generationId(found.number)} into another folder, with LARDER_HOME.`
    })
  }
  yield* requireSameHistory(layout, found, localNewest)
  return found
})

/**
 * Pulls a generation, and returns its number and the bytes received. If this fails and no number was requested, it
 * tries the newest generation, because the first may have been pruned by then.
 */
const pullWithFallback = Effect.fnUntraced(function* (layout: Layout, wanted: Manifest, to: number | undefined) {
  for (let next = wanted; ; ) {
    const result = yield* Effect.result(pullGeneration(layout, next))
    if (Result.isSuccess(result)) return { generation: next.number, bytes: result.success }
    if (to !== undefined) return yield* Effect.fail(result.failure)
    const newest = yield* newestManifest(layout.depot, next.number)
    if (newest === undefined || newest.number === next.number) return yield* Effect.fail(result.failure)
    next = newest
  }
})

interface PullOptions {
  /** Number of the generation; the newest by default. */
  readonly to?: number | undefined
  /** Whether damaged or missing parts are pulled again, even if no generation is newer. */
  readonly shouldRepair?: boolean
}

const repair = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  const bytes = yield* pullParts(layout, generationId(manifest.number), objectsInManifest(manifest))
  return bytes === 0 ? undefined : { generation: manifest.number, bytes }
})

/** Pulls the requested generation. The caller has the lock, so the newest local generation does not change. */
const pullWanted = Effect.fnUntraced(function* (layout: Layout, { shouldRepair = true, to }: PullOptions) {
  const localNewest = yield* newestManifest(layout.local)
  const wanted = yield* findWanted(layout, localNewest, to)
  if (wanted === undefined) return localNewest === undefined ? undefined : yield* copyAll(layout)
  if (wanted.number !== localNewest?.number) return yield* pullWithFallback(layout, wanted, to)
  return yield* shouldRepair ? repair(layout, localNewest) : Effect.undefined
})

/**
 * Pulls the newest generation of a shared depot, or the one with a given number. Undefined if there was nothing to
 * pull. To an empty depot, it copies the generations of this machine. Checking a hundred parts takes milliseconds.
 */
export const pull = Effect.fn("Generation.pull")(function* (
  layout: Layout,
  waitLimit: keyof typeof waitLimits = "run",
  options: PullOptions = {}
) {
  const { depot, dir, local, pullLock } = layout
  if (depot === local) return undefined
  yield* requireWritableFolder(dir)
  return yield* withLock(pullLock, pullWanted(layout, options), waitLimit)
})

/** A proof takes a few seconds and more than a hundred requests, so a machine proves its depot only once. */
const requireProof = Effect.fnUntraced(function* (layout: Layout) {
  const { depot } = layout
  const proven = { location: depot.location }
  if (yield* isMarked(layout, "depot", proven)) return
  const { proveDepot } = yield* Effect.promise(() => import("../depot/prove-depot.ts"))
  yield* proveDepot(depot)
  yield* writeMarker(layout, "depot", proven)
})

/** Pulls what other machines published to a shared depot. */
export const catchUp = Effect.fn("Generation.catchUp")(function* (layout: Layout) {
  if (layout.depot === layout.local) return
  yield* requireProof(layout)
  yield* pull(layout)
})
