/**
 * Makes a generation of stored parts, and shows it in the files that people open. A change that was prepared for a state
 * which is no longer live is refused.
 */
import { Effect, Schema } from "effect"
import { Hint, hintName, type ObjectId, objectName, putObject } from "../depot/depot.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import {
  type Change,
  type DataSetEntry,
  generationId,
  type Manifest,
  makeGeneration,
  manifestName
} from "../generation/manifest.ts"
import { findFault, identifyWithStamp, markVerified } from "../generation/parts.ts"
import { pullGeneration } from "../generation/pull.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { ingestVersion } from "../tables/ingest-tables.ts"
import { requireKnownIngest } from "../tables/versions.ts"

/**
 * Another machine published the same data set, or rolled it back, after this run compared its rows with it. The payloads
 * must be read again, because rows that were known then were removed from the staging file.
 */
export class ConcurrentPublication extends Schema.TaggedError<ConcurrentPublication>()("ConcurrentPublication", {
  pipeline: Schema.String
}) {
  override get message() {
    return `Another machine has changed the live data of ${this.pipeline} in the meantime. Nothing was published; run again.`
  }
}

/** The data set was rolled back since the run began: payloads that the run skipped as loaded are no longer live. */
export class ConcurrentRollback extends Schema.TaggedError<ConcurrentRollback>()("ConcurrentRollback", {
  pipeline: Schema.String,
  by: Schema.String
}) {
  override get message() {
    return `${this.pipeline} was rolled back (${this.by}) while this run was reading or publishing: data that the run skipped as already known is no longer live. Nothing was published; run again.`
  }
}

/** Fails if live runs were rolled back since the generation `since`, which was live when this run began. */
export const requireNoRollback = (
  pipeline: string,
  since: Manifest | undefined,
  entry: DataSetEntry | undefined
): Effect.Effect<void, ConcurrentRollback> => {
  if (since === undefined) return Effect.void
  const before = new Set(since.data_sets[pipeline]?.undone.map(({ by }) => by))
  const undone = entry?.undone.find(({ by, first }) => first <= since.number && !before.has(by))
  return undone === undefined
    ? Effect.void
    : Effect.fail(new ConcurrentRollback({ pipeline, by: generationId(undone.by) }))
}

/** Whether both entries have the same parts, with no rollback in between. */
export const isUnchangedEntry = (a: DataSetEntry | undefined, b: DataSetEntry | undefined) =>
  a?.changed_in === b?.changed_in && a?.published_in === b?.published_in

/** Stores a file in the depot, replacing a damaged object, and records that the object was verified. */
export const putFile = Effect.fnUntraced(function* (layout: Layout, file: string) {
  const { id: object, stamp } = yield* identifyWithStamp(file)
  const { depot, local } = layout
  if ((yield* findFault(layout, object)) !== undefined) yield* local.remove([objectName(object.sha256)])
  yield* putObject(local, object, file)
  if (depot !== local) yield* putObject(depot, object, file)
  yield* markVerified(layout, object.sha256, stamp) // the file is a hard link to the object
  return object
})

export const addPart = (base: Manifest | undefined, object: ObjectId, number: number) =>
  Effect.as(requireKnownIngest(base), {
    schema: ingestVersion,
    parts: [...(base?.ingest.parts ?? []), { ...object, first: number, last: number }]
  } satisfies Manifest["ingest"])

const encodeHint = Schema.encodeSync(Schema.fromJsonString(Hint))

/** Pulls a generation that this machine published to a shared depot. */
const pullOwn = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  const { depot, pullLock } = layout
  // if this fails, the next generation writes a newer hint
  yield* Effect.ignore(depot.putHint(hintName, encodeHint({ newest: manifestName(manifest.number) })))
  yield* withLock(pullLock, pullGeneration(layout, manifest)).pipe(
    Effect.catch((error) =>
      Effect.logWarning(
        `${generationId(manifest.number)} is live in ${depot.location}, and this machine gets it with its next run: ${error.message}`
      )
    )
  )
})

/**
 * Makes the next generation, as `change` describes it, and shows it in the files that people open. It is live once its
 * manifest is stored: after that, a failure or an interrupt only logs a warning with `outcome`, which says what is done.
 */
export const promote = <E, R>(
  layout: Layout,
  outcome: string,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) =>
  Effect.suspend(() => {
    let live: Manifest | undefined
    const promoting = Effect.gen(function* () {
      live = yield* makeGeneration(layout.depot, change)
      if (layout.depot !== layout.local) yield* pullOwn(layout, live)
      yield* refreshOpened(layout).pipe(Effect.catch((error) => Effect.logWarning(`${outcome}, but: ${error.message}`)))
      return live
    })
    return Effect.uninterruptible(promoting).pipe(
      Effect.onInterrupt(() =>
        live === undefined
          ? Effect.void
          : Effect.logWarning(`the interrupt came too late: ${outcome}, and ${generationId(live.number)} is live`)
      )
    )
  }).pipe(Effect.withSpan("Generation.promote"))
