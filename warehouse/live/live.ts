/**
 * What is live, as a server reads it. Each changed data set is opened and loaded while the old one is served; then the
 * reference changes. A data set that is no longer named closes when its last reader is done. A data set whose parts did
 * not change stays open, with everything loaded from it. No request fails or mixes generations.
 */
import { type Cause, Effect, Exit, Option, Schedule, Scope } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type Layout, NoWarehouse, requirePresentForm } from "../generation/layout.ts"
import {
  type DataSetEntry,
  generationId,
  isLoaded,
  listNumbers,
  type Manifest,
  newestManifest
} from "../generation/manifest.ts"
import { verifiedDatabase } from "../generation/parts.ts"
import { openPublished } from "../tables/earlier-versions.ts"
import { requireKnown } from "../tables/newer-versions.ts"
import type { DataSet } from "../tables/tables.ts"
import { hasMoreRecords, type OpenRecords, openRecords, type RefCounted, release } from "./open-records.ts"
import { type Fault, faultText, makeUnserved } from "./unserved.ts"

type Db = DuckDb["Service"]

/** An open data set. */
export interface LiveData {
  readonly pipeline: string
  readonly entry: DataSetEntry
  readonly db: Db
}

/** How each data set is loaded, and how the loaded data is assembled into the model. */
export interface Loading<Loaded, Model, R> {
  /**
   * By pipeline: the data set as this version knows it, and its loader. What the loader opens closes with the data set.
   */
  readonly dataSets: {
    readonly [P in keyof Loaded]: {
      readonly of: DataSet
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
  /** Small data that is held in memory while the generation is live. */
  readonly model: Model
  readonly ingest: Db
  /** The database of a data set; undefined if it is not loaded. */
  readonly dataSet: (pipeline: string) => Db | undefined
}

export interface Live<Model> {
  /** The current generation, for reads that need only its model. */
  readonly current: () => Generation<Model>
  /** Runs a read on the current generation, which stays open until the read is done. */
  readonly use: <A, E, R>(read: (generation: Generation<Model>) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Number of swaps since the start, each of which exchanged at least one data set. */
  readonly swaps: () => number
  /** Why not everything that is live is served; undefined if it is. */
  readonly fault: () => string | undefined
  /** Data sets of the newest generation that cannot be served. An older state is served instead, or nothing. */
  readonly unserved: () => ReadonlySet<string>
}

const pollInterval = "250 millis"
const unreadable = "the newest generation cannot be read"

const isSame = (a: DataSetEntry, b: DataSetEntry) =>
  a.parts.length === b.parts.length && a.parts.every(({ sha256 }, at) => sha256 === b.parts[at]?.sha256)

/**
 * Opens what is live, and follows it. A generation or data set that cannot be opened or loaded is skipped and logged.
 */
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

  /** The scope of the opener is its first user, so it closes if it is never served. */
  const openDataSet = Effect.fnUntraced(function* (pipeline: Pipeline, entry: DataSetEntry) {
    const { load, of } = dataSets[pipeline]
    yield* requireKnown(of, entry)
    const opener = yield* Effect.scope
    const scope = yield* Scope.make()
    return yield* Effect.gen(function* () {
      const db = yield* openPublished(yield* verifiedDatabase(layout, pipeline, entry), of, entry)
      const loaded = yield* load({ pipeline, entry, db })
      const open: Open = { db, loaded, scope, users: 1 }
      yield* Scope.addFinalizer(opener, release(open))
      return open
    }).pipe(
      Scope.provide(scope),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
  })

  const unserved = makeUnserved()

  /**
   * A data set of a manifest: the open one if it is unchanged, a newly opened one, or the old one if the new one cannot
   * be served.
   */
  const serveDataSet = Effect.fnUntraced(function* (pipeline: Pipeline, entry: DataSetEntry, was: Served | undefined) {
    if (was !== undefined && isSame(was.entry, entry)) return { served: { ...was, entry }, fault: undefined }
    const about = { pipeline, of: entry.changed_in, stays: was?.entry.changed_in }
    if (yield* unserved.isRecent(pipeline, entry.changed_in))
      return { served: was, fault: { ...about, why: undefined } }
    const opened = yield* Effect.exit(openDataSet(pipeline, entry))
    return Exit.isSuccess(opened)
      ? { served: { open: opened.value, entry }, fault: undefined }
      : { served: was, fault: { ...about, why: opened.cause } }
  })

  /** Data sets that another version of Larder publishes into this warehouse. Each is reported once. */
  const told = new Set<string>(pipelines)
  const reportStrangers = Effect.fnUntraced(function* ({ data_sets }: Manifest) {
    for (const [name, entry] of Object.entries(data_sets)) {
      if (!isLoaded(entry) || told.has(name)) continue
      told.add(name)
      yield* Effect.logWarning(`${name} is left aside: this version of Larder does not know this data set`)
    }
  })

  /** The data sets of a manifest that can be served, and the faults of the others. */
  const serveDataSets = Effect.fnUntraced(function* (manifest: Manifest, before: ReadonlyMap<Pipeline, Served>) {
    yield* reportStrangers(manifest)
    const served = new Map<Pipeline, Served>()
    const faults: Array<Fault> = []
    for (const pipeline of pipelines) {
      const entry = manifest.data_sets[pipeline]
      if (!isLoaded(entry)) continue
      const found = yield* serveDataSet(pipeline, entry, before.get(pipeline))
      if (found.served !== undefined) served.set(pipeline, found.served)
      if (found.fault !== undefined) faults.push(found.fault)
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
      for (const open of [records, ...[...served.values()].map((one) => one.open)]) {
        open.users++
        yield* Scope.addFinalizer(scope, release(open))
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
  let faults: ReadonlyArray<Fault> = []
  let isUnreadable = false
  /** The newest generation that has been served in full; undefined if none has. */
  let seen: number | undefined

  const start = Effect.gen(function* () {
    yield* requirePresentForm(layout)
    const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
    if (manifest === undefined) return yield* new NoWarehouse({ dir: layout.dir })
    const found = yield* serveDataSets(manifest, new Map())
    if (found.served.size === 0) {
      const why = found.faults[0]?.why
      return yield* why === undefined ? Effect.fail(new NoWarehouse({ dir: layout.dir })) : Effect.failCause(why)
    }
    yield* Effect.forEach(found.faults, unserved.reportDataSet, { discard: true })
    faults = found.faults
    const serving = yield* serve(manifest, found.served)
    if (faults.length === 0 && serving.records.isWhole) seen = manifest.number
    return serving
  }).pipe(Effect.scoped)

  let current = yield* start
  yield* Effect.addFinalizer(() => release(current)) // before the watcher is forked, so it runs after the watcher ends

  const take = Effect.fnUntraced(function* (manifest: Manifest) {
    const before = current
    const { faults: found, served } = yield* serveDataSets(manifest, before.served)
    yield* Effect.forEach(found, unserved.reportDataSet, { discard: true })
    if (found.length > 0) faults = found // reported immediately, and withdrawn when all is served
    const changed = pipelines.filter((pipeline) => served.get(pipeline)?.open !== before.served.get(pipeline)?.open)
    const hasMore = yield* hasMoreRecords(layout, manifest.number, unserved, before.records)
    if (manifest.number !== before.number || changed.length > 0 || hasMore) {
      current = yield* serve(manifest, served, before) // no request waits: the old one answers until here
      yield* release(before)
    }
    faults = found
    isUnreadable = false
    if (faults.length === 0 && current.records.isWhole) seen = manifest.number
    if (changed.length === 0) return
    swaps++
    yield* Effect.annotateLogs(Effect.logInfo("generation swapped"), { from: before.id, to: current.id, changed })
  }, Effect.scoped)

  const leaveUnread = (what: string, of: number) => (why: Cause.Cause<unknown>) => {
    isUnreadable = true
    return unserved.report(what, of, Effect.logError(`${unreadable}; ${current.id} stays`, why))
  }

  const poll = Effect.gen(function* () {
    const newest = (yield* listNumbers(layout.local)).at(-1)
    if (newest === seen) isUnreadable = false // the unreadable one may be gone
    if (newest === undefined || newest === seen) return
    const manifest = Option.getOrUndefined(yield* newestManifest(layout.local))
    if (manifest === undefined || (yield* unserved.isRecent("generation", manifest.number))) return
    yield* Effect.catchCause(take(manifest), leaveUnread("generation", manifest.number))
  }).pipe(Effect.catchCause(leaveUnread("manifest", 0)))
  yield* Effect.forkScoped(Effect.repeat(Effect.uninterruptible(poll), Schedule.spaced(pollInterval)))
  const live: Live<Model> = {
    current: () => current,
    swaps: () => swaps,
    fault: () => {
      const all = [...(isUnreadable ? [unreadable] : []), ...faults.map(faultText)]
      return all.length === 0 ? undefined : all.join("; ")
    },
    unserved: () => new Set(faults.map(({ pipeline }) => pipeline)),
    use: (read) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          current.users++
          return current
        }),
        read,
        release
      )
  }
  return live
})
