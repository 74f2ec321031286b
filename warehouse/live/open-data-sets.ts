/**
 * Opens and loads the data sets of a generation. A data set whose parts did not change stays open, with everything loaded
 * from it; one that cannot be opened is a fault, and its earlier state stays open.
 */
import { Effect, Exit, type Scope } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { type DataSetEntry, isLoaded, type Manifest } from "../generation/manifest.ts"
import { verifyDataSet } from "../generation/parts.ts"
import type { DataSet } from "../tables/tables.ts"
import { findUnknown, requireKnown } from "../tables/versions.ts"
import { openRefCounted, type RefCounted, useInScope } from "./ref-counted.ts"
import type { Unserved, UnservedDataSet } from "./unserved.ts"

type Db = DuckDb["Service"]

export interface LiveData {
  readonly pipeline: string
  readonly entry: DataSetEntry
  readonly db: Db
}

/** This version's definition of a data set, and its loader, whose resources close with the data set. */
interface DataSetLoader<A, R> {
  readonly definition: DataSet
  readonly load: (data: LiveData) => Effect.Effect<A, unknown, R | Scope.Scope>
}

/** By pipeline. */
export type DataSetLoaders<Loaded, R> = { readonly [P in keyof Loaded]: DataSetLoader<Loaded[P], R> }

interface OpenDataSet<A> extends RefCounted {
  readonly db: Db
  readonly loaded: A
}

/** An open data set, and the entry under which it is served: a rollback may name the same parts again. */
export interface ServedDataSet<A> {
  readonly open: OpenDataSet<A>
  readonly entry: DataSetEntry
}

type Pipeline<Loaded> = keyof Loaded & string
export type ServedDataSets<Loaded> = ReadonlyMap<Pipeline<Loaded>, ServedDataSet<Loaded[Pipeline<Loaded>]>>

const hasSameParts = (a: DataSetEntry, b: DataSetEntry) =>
  a.parts.length === b.parts.length && a.parts.every(({ sha256 }, index) => sha256 === b.parts[index]?.sha256)

/** The loaded data sets of a manifest, each with what is open of it, and whether that has the same parts. */
export const compareDataSets = <P extends string, S extends { readonly entry: DataSetEntry }>(
  data_sets: Manifest["data_sets"],
  pipelines: ReadonlyArray<P>,
  open: ReadonlyMap<P, S>
) =>
  pipelines.flatMap((pipeline) => {
    const entry = data_sets[pipeline]
    const old = open.get(pipeline)
    return isLoaded(entry)
      ? [{ pipeline, entry, old, isOpen: old !== undefined && hasSameParts(old.entry, entry) }]
      : []
  })

/** Names of the data sets that were opened or closed. */
export const listChanged = <P, S extends { readonly open: unknown }>(
  before: ReadonlyMap<P, S>,
  after: ReadonlyMap<P, S>
) =>
  [...new Set([...before.keys(), ...after.keys()])].filter(
    (pipeline) => before.get(pipeline)?.open !== after.get(pipeline)?.open
  )

/** The caller's scope is the first user of the data set, so the data set closes if it is never served. */
const openDataSet = Effect.fnUntraced(function* <A, R>(
  layout: Layout,
  pipeline: string,
  entry: DataSetEntry,
  { definition, load }: DataSetLoader<A, R>
) {
  const opening = Effect.gen(function* () {
    yield* requireKnown(definition, entry)
    const db = yield* DuckDb.readOnly(yield* verifyDataSet(layout, pipeline, entry))
    return { db, loaded: yield* load({ pipeline, entry, db }) }
  })
  const open: OpenDataSet<A> = yield* openRefCounted(opening)
  yield* useInScope(open)
  return open
})

/**
 * Returns the data sets of a manifest that can be served, and the faults of the others. `before` are those that are open.
 * New ones close with the caller's scope, unless a generation uses them by then.
 */
export const openDataSets = Effect.fnUntraced(function* <Loaded, R>(
  layout: Layout,
  loaders: DataSetLoaders<Loaded, R>,
  unserved: Unserved,
  { data_sets }: Manifest,
  before: ServedDataSets<Loaded>
) {
  for (const [name, entry] of Object.entries(data_sets)) {
    if (!isLoaded(entry) || Object.hasOwn(loaders, name)) continue
    const warning = `${name} is not served: this data set is unknown to this version of Larder`
    yield* unserved.reportOnce(name, Effect.logWarning(warning))
  }
  const pipelines = Object.keys(loaders) as unknown as ReadonlyArray<Pipeline<Loaded>> // keys of a record, which TypeScript widens
  const served = new Map<Pipeline<Loaded>, ServedDataSet<Loaded[Pipeline<Loaded>]>>()
  const faults: Array<UnservedDataSet> = []
  for (const { entry, isOpen, old, pipeline } of compareDataSets(data_sets, pipelines, before)) {
    if (old !== undefined && isOpen) {
      served.set(pipeline, { ...old, entry })
      continue
    }
    const { changed_in } = entry
    const isRecent = yield* unserved.isRecent(pipeline, changed_in)
    const opened = isRecent ? undefined : yield* Effect.exit(openDataSet(layout, pipeline, entry, loaders[pipeline]))
    if (opened !== undefined && Exit.isSuccess(opened)) {
      served.set(pipeline, { open: opened.value, entry })
      continue
    }
    if (old !== undefined) served.set(pipeline, old)
    const otherVersion = findUnknown(loaders[pipeline].definition, entry)?.message
    faults.push({ pipeline, changed_in, served: old?.entry.changed_in, otherVersion, cause: opened?.cause })
  }
  return { served, faults }
})
