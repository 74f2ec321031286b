/**
 * Serves the live data, and swaps in each new generation. Each changed data set is opened and loaded while the old one
 * is served; then the reference changes. The old one closes when its last reader is done. A data set whose parts did not
 * change stays open, with everything loaded from it. No request fails or mixes generations.
 */
import { type Cause, Effect, Ref, Schedule } from "effect"
import { type Layout, NoWarehouse, requireCurrentFormat } from "../generation/layout.ts"
import { listNumbers, type Manifest, newestManifest } from "../generation/manifest.ts"
import { listChanged, openDataSets } from "./open-data-sets.ts"
import { type Generation, type Loading, openGeneration, type ServedGeneration } from "./open-generation.ts"
import { mayHaveMoreRecords } from "./open-records.ts"
import { addUser, removeUser } from "./ref-counted.ts"
import { afterListing, afterServing, describeFaults, isToBeServed, type LiveState, unreadable } from "./state.ts"
import { makeUnserved, type Unserved } from "./unserved.ts"

export interface Live<Model> {
  readonly current: () => Generation<Model>
  /** Runs a read on the current generation, which stays open until the read is done. */
  readonly use: <A, E, R>(read: (generation: Generation<Model>) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Number of swaps since the start, each of which exchanged at least one data set. */
  readonly swaps: () => number
  /** Why part of the live data is not served; undefined if all of it is. */
  readonly fault: () => string | undefined
  /** Data sets of the newest generation that cannot be served. An older state is served instead, or nothing. */
  readonly unserved: () => ReadonlySet<string>
}

const pollInterval = "250 millis"

type State<Loaded, Model> = LiveState<ServedGeneration<Loaded, Model>>

/** Opens the newest generation. Fails if nothing of it can be served. */
const start = Effect.fnUntraced(function* <Loaded, Model, R>(
  layout: Layout,
  loading: Loading<Loaded, Model, R>,
  unserved: Unserved
) {
  yield* requireCurrentFormat(layout)
  const manifest = yield* newestManifest(layout.local)
  if (manifest === undefined) return yield* new NoWarehouse({ dir: layout.dir })
  const { faults, served } = yield* openDataSets(layout, loading.dataSets, unserved, manifest, new Map())
  if (served.size === 0) {
    const cause = faults[0]?.cause
    return yield* cause === undefined ? Effect.fail(new NoWarehouse({ dir: layout.dir })) : Effect.failCause(cause)
  }
  yield* Effect.forEach(faults, unserved.reportDataSet, { discard: true })
  const first = yield* openGeneration(layout, loading, unserved, manifest, served)
  return afterServing(yield* addUser(first), faults)
}, Effect.scoped)

/** Serves the newest generation instead of the current one, as far as it differs and can be opened. */
const swap = Effect.fnUntraced(function* <Loaded, Model, R>(
  layout: Layout,
  loading: Loading<Loaded, Model, R>,
  unserved: Unserved,
  state: Ref.Ref<State<Loaded, Model>>,
  manifest: Manifest
) {
  const before = (yield* Ref.get(state)).current
  const { faults, served } = yield* openDataSets(layout, loading.dataSets, unserved, manifest, before.served)
  yield* Effect.forEach(faults, unserved.reportDataSet, { discard: true })
  // shown immediately, and cleared when all data sets are served
  if (faults.length > 0) yield* Ref.update(state, (now) => ({ ...now, faults }))
  const changed = listChanged(before.served, served)
  const hasMore = yield* mayHaveMoreRecords(layout, manifest.number, unserved, before.records)
  const isNew = manifest.number !== before.number || changed.length > 0 || hasMore
  const current = isNew ? yield* openGeneration(layout, loading, unserved, manifest, served, before) : before
  if (isNew) yield* addUser(current)
  yield* Ref.update(state, (now) => afterServing(current, faults, now, changed))
  if (isNew) yield* removeUser(before) // it was served until here, so no request waited
  if (changed.length === 0) return
  yield* Effect.annotateLogs(Effect.logInfo("generation swapped"), { from: before.id, to: current.id, changed })
}, Effect.scoped)

/** Opens the live data, and polls for new generations. What cannot be opened is skipped and logged. */
export const watchLive = Effect.fnUntraced(function* <Loaded, Model, R>(
  layout: Layout,
  loading: Loading<Loaded, Model, R>
) {
  const unserved = makeUnserved()
  const state = yield* Ref.make(yield* start(layout, loading, unserved))
  const peek = () => Ref.getUnsafe(state)
  yield* Effect.addFinalizer(() => removeUser(peek().current)) // before the watcher is forked, so it runs after the watcher ends

  const reportUnreadable = (subject: string, generation: number) => (cause: Cause.Cause<unknown>) => {
    const error = Effect.logError(`${unreadable}; ${peek().current.id} is still served`, cause)
    return Effect.andThen(
      Ref.update(state, (before) => ({ ...before, isUnreadable: true })),
      unserved.report(subject, generation, error)
    )
  }
  const poll = Effect.gen(function* () {
    const newest = (yield* listNumbers(layout.local)).at(-1)
    yield* Ref.update(state, (before) => afterListing(before, newest))
    if (!isToBeServed(peek(), newest)) return
    const manifest = yield* newestManifest(layout.local)
    if (manifest === undefined || (yield* unserved.isRecent("generation", manifest.number))) return
    yield* Effect.catchCause(
      swap(layout, loading, unserved, state, manifest),
      reportUnreadable("generation", manifest.number)
    )
  }).pipe(Effect.catchCause(reportUnreadable("manifest", 0)))
  yield* Effect.forkScoped(Effect.repeat(Effect.uninterruptible(poll), Schedule.spaced(pollInterval)))

  const live: Live<Model> = {
    current: () => peek().current,
    swaps: () => peek().swaps,
    fault: () => describeFaults(peek()),
    unserved: () => new Set(peek().faults.map(({ pipeline }) => pipeline)),
    use: (read) =>
      Effect.acquireUseRelease(
        Effect.suspend(() => addUser(peek().current)),
        read,
        removeUser
      )
  }
  return live
})
