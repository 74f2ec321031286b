/**
 * Pulls generations from a shared depot to this machine. A generation is present only when all its parts are. A
 * machine never pulls another history than its own, nor an older generation than it has.
 */
import { Effect, Option, Result, Schema } from "effect"
import { datedObjects, putObject } from "../depot/depot.ts"
import { newestAlone, removeAlone, takeFromAlone } from "./alone.ts"
import { type Layout, writableDirectory } from "./layout.ts"
import { patience, withLock } from "./lock.ts"
import { generationId, listNumbers, type Manifest, manifestName, newestManifest, readManifest } from "./manifest.ts"
import { concurrent, objectsOf, pullParts } from "./pull-parts.ts"

/** The depot does not have the history of this machine: it has another generation under a number, or is behind. */
class AnotherHistory extends Schema.TaggedError<AnotherHistory>()("AnotherHistory", {
  location: Schema.String,
  dir: Schema.String,
  generation: Schema.String,
  fault: Schema.String
}) {
  override get message() {
    return `${this.location} is not the depot of ${this.dir}: ${this.generation} of this machine ${this.fault}. Nothing was changed. Check LARDER_DEPOT, or set LARDER_HOME to another folder.`
  }
}

/** A generation that was requested by its number does not exist. */
export class NotInDepot extends Schema.TaggedError<NotInDepot>()("NotInDepot", {
  location: Schema.String,
  what: Schema.String,
  kept: Schema.Array(Schema.String)
}) {
  override get message() {
    return `There is no ${this.what} in ${this.location}. There is: ${this.kept.join(", ") || "nothing"}.`
  }
}

/** The requested generation is older than the one on this machine. */
class OlderThanHere extends Schema.TaggedError<OlderThanHere>()("OlderThanHere", {
  dir: Schema.String,
  generation: Schema.String,
  here: Schema.String
}) {
  override get message() {
    return `${this.dir} already has ${this.here}, and pulling never returns to an older generation. Pull ${this.generation} into another folder, with LARDER_HOME.`
  }
}

/** The text of a manifest, as it was published. Fails if the manifest was pruned meanwhile. */
export const manifestText = Effect.fnUntraced(function* ({ depot }: Layout, number: number) {
  const text = yield* depot.text(manifestName(number))
  if (Option.isSome(text)) return text.value
  return yield* new NotInDepot({ location: depot.location, what: generationId(number), kept: [] })
})

/** Pulls a generation from the depot, its parts first. Returns the number of bytes received. */
export const pullGeneration = Effect.fn("Generation.pullOne")(function* (layout: Layout, manifest: Manifest) {
  const name = manifestName(manifest.number)
  const received = yield* pullParts(layout, generationId(manifest.number), objectsOf(manifest))
  yield* layout.local.putText(name, yield* manifestText(layout, manifest.number))
  return received
})

/** Copies the generations of this machine, in their order, into a depot that has none yet. */
const copyAll = Effect.fnUntraced(function* ({ depot, local, objectFile }: Layout) {
  yield* Effect.logInfo(`${depot.location} is empty: the generations of ${local.location} are copied to it`)
  for (const number of yield* listNumbers(local)) {
    const [text, manifest] = yield* Effect.all([local.text(manifestName(number)), readManifest(local, number)])
    if (Option.isNone(text) || Option.isNone(manifest)) continue
    const there = yield* datedObjects(local)
    const objects = objectsOf(manifest.value).filter(({ sha256 }) => there.has(sha256)) // manifests outlive their parts
    yield* Effect.forEach(objects, (object) => putObject(depot, object, objectFile(object.sha256)), concurrent)
    yield* depot.putText(manifestName(number), text.value)
  }
})

const anotherHistory = ({ depot, local }: Layout, here: Manifest, fault: string) =>
  new AnotherHistory({ location: depot.location, dir: local.location, generation: generationId(here.number), fault })

/**
 * Fails if the depot has not had this machine's newest generation. If its manifest cannot be read there, it
 * is not compared: it may be unsigned, because it is older than the key.
 */
const requireSameHistory = Effect.fnUntraced(function* (layout: Layout, newest: Manifest, here: Manifest) {
  const { depot } = layout
  const there =
    newest.number === here.number
      ? Option.some(newest)
      : yield* readManifest(depot, here.number).pipe(Effect.catchTag("DepotUnusable", () => Effect.succeedNone))
  const isOther = Option.isSome(there) && there.value.id !== here.id
  if (newest.number >= here.number && !isOther) return // one that is missing there was pruned
  const fault = isOther ? "is a different one there" : `is newer than ${generationId(newest.number)}, the newest there`
  return yield* anotherHistory(layout, here, fault)
})

/** The newest generation of the depot, also if the depot is behind this machine. */
const newestThere = Effect.fnUntraced(function* ({ depot }: Layout, here: Manifest | undefined) {
  const newest = yield* newestManifest(depot, here?.number)
  return Option.getOrUndefined(Option.isSome(newest) || here === undefined ? newest : yield* newestManifest(depot))
})

/** The requested generation: the newest, or the one with this number. Undefined if the depot has none at all. */
const wantedThere = Effect.fnUntraced(function* (layout: Layout, here: Manifest | undefined, to: number | undefined) {
  const { depot } = layout
  if (to === undefined) return yield* newestThere(layout, here)
  const found = Option.getOrUndefined(yield* readManifest(depot, to))
  if (found !== undefined) return found
  const kept = (yield* listNumbers(depot)).map(generationId)
  return yield* new NotInDepot({ location: depot.location, what: generationId(to), kept })
})

/**
 * The generation to pull. `here` is the newest that this machine has seen: the result has the same history and is not
 * older. Undefined if the depot has no generation at all.
 */
export const findWanted = Effect.fnUntraced(function* (
  layout: Layout,
  here: Manifest | undefined,
  to: number | undefined
) {
  const found = yield* wantedThere(layout, here, to)
  if (found === undefined || here === undefined) return found
  if (to !== undefined && here.number > found.number) {
    const [generation, newer] = [generationId(found.number), generationId(here.number)]
    return yield* new OlderThanHere({ dir: layout.dir, generation, here: newer })
  }
  yield* requireSameHistory(layout, found, here)
  return found
})

interface Pulled {
  readonly generation: number
  /** Bytes received over the network. */
  readonly bytes: number
}

/**
 * Runs `pullOne` for a generation. If that fails and no number was requested, it tries the newest one, because the
 * first may have been pruned meanwhile.
 */
export const pullOrNewer = Effect.fnUntraced(function* <E, R>(
  { depot }: Layout,
  found: Manifest,
  to: number | undefined,
  pullOne: (manifest: Manifest) => Effect.Effect<number, E, R>
) {
  for (let next = found; ; ) {
    const brought = yield* Effect.result(pullOne(next))
    if (Result.isSuccess(brought)) return { generation: next.number, bytes: brought.success } satisfies Pulled as Pulled
    if (to !== undefined) return yield* Effect.fail(brought.failure)
    const newest = yield* newestManifest(depot, next.number)
    if (Option.isNone(newest) || newest.value.number === next.number) return yield* Effect.fail(brought.failure)
    next = newest.value
  }
})

interface Pulling {
  /** Number of the generation; the newest by default. */
  readonly to?: number | undefined
  /** Whether damaged or missing parts are pulled again, even if no generation is newer. */
  readonly mends?: boolean
}

/** Pulls the damaged or missing parts of a generation that is here. */
const mend = Effect.fnUntraced(function* (layout: Layout, here: Manifest) {
  const bytes = yield* pullParts(layout, generationId(here.number), objectsOf(here))
  return bytes === 0 ? undefined : ({ generation: here.number, bytes } satisfies Pulled as Pulled)
})

/** Pulls the requested generation. The caller holds the lock, so the newest generation here does not change. */
const pullWanted = Effect.fnUntraced(function* (layout: Layout, { mends = true, to }: Pulling) {
  const here = Option.getOrUndefined(yield* newestManifest(layout.local))
  const alone = here === undefined ? yield* newestAlone(layout) : undefined
  const found = yield* findWanted(layout, here ?? alone, to)
  if (found === undefined && alone !== undefined) {
    return yield* anotherHistory(layout, alone, "is not there, and neither is any other")
  }
  if (found === undefined) return here === undefined ? undefined : yield* copyAll(layout)
  const pulled =
    found.number === here?.number
      ? yield* mends ? mend(layout, here) : Effect.undefined
      : yield* pullOrNewer(layout, found, to, (manifest) =>
          Effect.andThen(takeFromAlone(layout, manifest), pullGeneration(layout, manifest))
        )
  yield* removeAlone(layout)
  return pulled
})

/**
 * Pulls the newest generation of a shared depot, or the one with a given number. Undefined if there was nothing to
 * pull. If the depot is empty and this machine has generations, they are copied to the depot. Checking a hundred parts
 * for damage takes some milliseconds.
 */
export const pull = Effect.fn("Generation.pull")(function* (
  layout: Layout,
  by: keyof typeof patience = "run",
  pulling: Pulling = {}
) {
  const { depot, dir, local, pullLock } = layout
  if (depot === local) return undefined
  yield* writableDirectory(dir)
  return yield* withLock(pullLock, pullWanted(layout, pulling), patience[by])
})
