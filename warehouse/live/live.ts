/**
 * Serves the live data, and swaps in each new generation. Each changed data set is opened and loaded while the old one
 * is served; then the reference changes. The old one closes when its last reader is done. A data set whose parts did not
 * change stays open, with everything loaded from it. No request fails or mixes generations.
 */
import { type Cause, Effect, Exit, Option, Schedule, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type Layout, NoWarehouse, requireCurrentFormat } from "../generation/layout.ts"
import {
  type DataSetEntry,
  generationId,
  isLoaded,
  listNumbers,
  type Manifest,
  newestManifest
} from "../generation/manifest.ts"
import { verifyDataSet } from "../generation/parts.ts"
import type { DataSet } from "../tables/tables.ts"
import { openPublished, requireKnown } from "../tables/versions.ts"
import { mayHaveMoreRecords, type OpenRecords, openRecords, type RefCounted, releaseReference } from "./open-records.ts"
import { describeUnserved, makeUnserved, type UnservedDataSet } from "./unserved.ts"

type Db = DuckDb["Service"]

export interface LiveData {
  readonly pipeline: string
  readonly entry: DataSetEntry
  readonly db: Db
}

/** How each data set is loaded, and how the loaded data is assembled into the model. */
export interface Loading<Loaded, Model, R> {
  /** By pipeline: this version's definition of the data set, and its loader, whose resources close with the data set. */
  readonly dataSets: {
    readonly [P in keyof Loaded]: {
      readonly definition: DataSet
      readonly load: (data: LiveData) => Effect.Effect<Loaded[P], unknown, R | Scope.Scope>
    }
  }
  /** `ingest` has the tables of schema `ingest`. */
  readonly assemble: (
    loaded: Partial<Loaded>,
    entries: Readonly<Record<string, DataSetEntry>>,
    ingest: Db
  ) => Effect.Effect<Model, unknown, R>
}

export interface Generation<Model> {
  readonly id: string
  /** The data sets as they are served, including those that were rolled back to before their first run. */
  readonly entries: Readonly<Record<string, DataSetEntry>>
  /** Small data that stays in memory while the generation is live. */
  readonly model: Model
  readonly ingest: Db
  /** The database of a data set; undefined if it is not loaded. */
  readonly dataSet: (pipeline: string) => Db | undefined
}

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
const unreadable = "the newest generation cannot be read"

const hasSameParts = (a: DataSetEntry, b: DataSetEntry) =>
  a.parts.length === b.parts.length && a.parts.every(({ sha256 }, index) => sha256 === b.parts[index]?.sha256)

/** Opens the live data, and polls for new generations. What cannot be opened is skipped and logged. */
export const watchLive = Effect.fnUntraced(function* <Loaded, Model, R>(
  layout: Layout,
  { assemble, dataSets }: Loading<Loaded, Model, R>
) {
  type Pipeline = keyof Loaded & string
  interface Open extends RefCounted {
    readonly db: Db
    readonly loaded: Loaded[Pipeline]
  }
  /** An open data set, and the entry under which it is served: a rollback may name the same parts again. */
  interface Served {
    readonly open: Open
    readonly entry: DataSetEntry
  }
  interface Serving extends Generation<Model>, RefCounted {
    readonly number: number
    readonly served: ReadonlyMap<Pipeline, Served>
    readonly records: OpenRecords
  }
  const pipelines = Object.keys(dataSets) as unknown as ReadonlyArray<Pipeline> // keys of a record, which TypeScript widens

  /** The caller's scope is the first user of the data set, so the data set closes if it is never served. */
  const openDataSet = Effect.fnUntraced(function* (pipeline: Pipeline, entry: DataSetEntry) {
    const { definition, load } = dataSets[pipeline]
    yield* requireKnown(definition, entry)
    const callerScope = yield* Effect.scope
    const scope = yield* Scope.make()
    return yield* Effect.gen(function* () {
      const db = yield* openPublished(yield* verifyDataSet(layout, pipeline, entry), definition, entry)
      const loaded = yield* load({ pipeline, entry, db })
      const open: Open = { db, loaded, scope, users: 1 }
      yield* Scope.addFinalizer(callerScope, releaseReference(open))
      return open
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  })

  const unserved = makeUnserved()

  /** Data sets that another version of Larder publishes into this warehouse. Each is reported once. */
  const knownOrReported = new Set<string>(pipelines)
  const reportUnknown = Effect.fnUntraced(function* ({ data_sets }: Manifest) {
    for (const [name, entry] of Object.entries(data_sets)) {
      if (!isLoaded(entry) || knownOrReported.has(name)) continue
      knownOrReported.add(name)
      yield* Effect.logWarning(`${name} is not served: this data set is unknown to this version of Larder`)
    }
  })

  /**
   * The data sets of a manifest that can be served, and the faults of the others. An unchanged data set stays open, and
   * an old one is served if the new one cannot be.
   */
  const serveDataSets = Effect.fnUntraced(function* (manifest: Manifest, before: ReadonlyMap<Pipeline, Served>) {
    yield* reportUnknown(manifest)
    const served = new Map<Pipeline, Served>()
    const faults: Array<UnservedDataSet> = []
    for (const pipeline of pipelines) {
      const entry = manifest.data_sets[pipeline]
      if (!isLoaded(entry)) continue
      const old = before.get(pipeline)
      if (old !== undefined && hasSameParts(old.entry, entry)) {
        served.set(pipeline, { ...old, entry })
        continue
      }
      const { changed_in } = entry
      const isRecent = yield* unserved.isRecent(pipeline, changed_in)
      const opened = isRecent ? undefined : yield* Effect.exit(openDataSet(pipeline, entry))
      if (opened !== undefined && Exit.isSuccess(opened)) {
        served.set(pipeline, { open: opened.value, entry })
        continue
      }
      if (old !== undefined) served.set(pipeline, old)
      faults.push({ pipeline, changed_in, served: old?.entry.changed_in, cause: opened?.cause })
    }
    return { served, faults }
  })

  const serve = Effect.fnUntraced(function* (
    { data_sets, number }: Manifest,
    served: ReadonlyMap<Pipeline, Served>,
    before?: Serving
  ) {
    const scope = yield* Scope.make()
    return yield* Effect.gen(function* () {
      const records = yield* openRecords(layout, number, unserved, before?.records)
      for (const resource of [records, ...[...served.values()].map(({ open }) => open)]) {
        resource.users++
        yield* Scope.addFinalizer(scope, releaseReference(resource))
      }
      const unloaded = Object.entries(data_sets).filter(([, entry]) => !isLoaded(entry))
      const entries = Object.fromEntries([
        ...unloaded,
        ...[...served].map(([name, { entry }]) => [name, entry] as const)
      ])
      const loaded: Partial<Loaded> = {}
      for (const [pipeline, { open }] of served) loaded[pipeline] = open.loaded
      const serving: Serving = {
        id: generationId(number),
        number,
        entries,
        model: yield* assemble(loaded, entries, records.db),
        ingest: records.db,
        records,
        dataSet: (pipeline) => served.get(pipeline as Pipeline)?.open.db,
        served,
        scope,
        users: 1
      }
      return serving
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  })

  let swaps = 0
  let faults: ReadonlyArray<UnservedDataSet> = []
  let isUnreadable = false
  /** The newest generation that has been served completely; undefined if none has. */
  let completed: number | undefined

  const start = Effect.gen(function* () {
    yield* requireCurrentFormat(layout)
    const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
    if (manifest === undefined) return yield* new NoWarehouse({ dir: layout.dir })
    const result = yield* serveDataSets(manifest, new Map())
    faults = result.faults
    if (result.served.size === 0) {
      const cause = faults[0]?.cause
      return yield* cause === undefined ? Effect.fail(new NoWarehouse({ dir: layout.dir })) : Effect.failCause(cause)
    }
    yield* Effect.forEach(faults, unserved.reportDataSet, { discard: true })
    const serving = yield* serve(manifest, result.served)
    if (faults.length === 0 && serving.records.isComplete) completed = manifest.number
    return serving
  }).pipe(Effect.scoped)

  let current = yield* start
  yield* Effect.addFinalizer(() => releaseReference(current)) // before the watcher is forked, so it runs after the watcher ends

  const swap = Effect.fnUntraced(function* (manifest: Manifest) {
    const before = current
    const { faults: newFaults, served } = yield* serveDataSets(manifest, before.served)
    yield* Effect.forEach(newFaults, unserved.reportDataSet, { discard: true })
    if (newFaults.length > 0) faults = newFaults // reported immediately, and cleared when all data sets are served
    const changed = pipelines.filter((pipeline) => served.get(pipeline)?.open !== before.served.get(pipeline)?.open)
    const hasMore = yield* mayHaveMoreRecords(layout, manifest.number, unserved, before.records)
    if (manifest.number !== before.number || changed.length > 0 || hasMore) {
      current = yield* serve(manifest, served, before) // the old generation is served until here, so no request waits
      yield* releaseReference(before)
    }
    faults = newFaults
    isUnreadable = false
    if (faults.length === 0 && current.records.isComplete) completed = manifest.number
    if (changed.length === 0) return
    swaps++
    yield* Effect.annotateLogs(Effect.logInfo("generation swapped"), { from: before.id, to: current.id, changed })
  }, Effect.scoped)

  const reportUnreadable = (subject: string, generation: number) => (cause: Cause.Cause<unknown>) => {
    isUnreadable = true
    return unserved.report(subject, generation, Effect.logError(`${unreadable}; ${current.id} is still served`, cause))
  }

  const poll = Effect.gen(function* () {
    const newest = (yield* listNumbers(layout.local)).at(-1)
    if (newest === completed) isUnreadable = false // the unreadable generation was removed
    if (newest === undefined || newest === completed) return
    const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
    if (manifest === undefined || (yield* unserved.isRecent("generation", manifest.number))) return
    yield* Effect.catchCause(swap(manifest), reportUnreadable("generation", manifest.number))
  }).pipe(Effect.catchCause(reportUnreadable("manifest", 0)))
  yield* Effect.forkScoped(Effect.repeat(Effect.uninterruptible(poll), Schedule.spaced(pollInterval)))
  const live: Live<Model> = {
    current: () => current,
    swaps: () => swaps,
    fault: () => {
      const problems = [...(isUnreadable ? [unreadable] : []), ...faults.map(describeUnserved)]
      return problems.length === 0 ? undefined : problems.join("; ")
    },
    unserved: () => new Set(faults.map(({ pipeline }) => pipeline)),
    use: (read) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          current.users++
          return current
        }),
        read,
        releaseReference
      )
  }
  return live
})
