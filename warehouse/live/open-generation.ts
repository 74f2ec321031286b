/** A generation that is served: its data sets, its records, and the model that is assembled from them. */
import { Effect } from "effect"
import type { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { type DataSetEntry, generationId, isLoaded, type Manifest } from "../generation/manifest.ts"
import type { DataSetLoaders, ServedDataSets } from "./open-data-sets.ts"
import { openRecords, type ServedRecords } from "./open-records.ts"
import { openRefCounted, type RefCounted, useInScope } from "./ref-counted.ts"
import type { Unserved } from "./unserved.ts"

type Db = DuckDb["Service"]

/** How each data set is loaded, and how the loaded data is assembled into the model. */
export interface Loading<Loaded, Model, R> {
  readonly dataSets: DataSetLoaders<Loaded, R>
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

export interface ServedGeneration<Loaded, Model> extends Generation<Model>, RefCounted {
  readonly number: number
  readonly served: ServedDataSets<Loaded>
  readonly records: ServedRecords
}

const entriesOf = <Loaded>({ data_sets }: Manifest, served: ServedDataSets<Loaded>) => {
  const entries: Record<string, DataSetEntry> = {}
  for (const [name, entry] of Object.entries(data_sets)) if (!isLoaded(entry)) entries[name] = entry
  for (const [name, { entry }] of served) entries[name] = entry
  return entries
}

const loadedOf = <Loaded>(served: ServedDataSets<Loaded>) => {
  const loaded: Partial<Loaded> = {}
  for (const [pipeline, { open }] of served) loaded[pipeline] = open.loaded
  return loaded
}

/** Opens a generation over open data sets. They stay open with it, even if the next generation does not use them. */
export const openGeneration = Effect.fnUntraced(function* <Loaded, Model, R>(
  layout: Layout,
  { assemble }: Loading<Loaded, Model, R>,
  unserved: Unserved,
  manifest: Manifest,
  served: ServedDataSets<Loaded>,
  before?: ServedGeneration<Loaded, Model>
) {
  const { number } = manifest
  const opening = Effect.gen(function* () {
    const records = yield* openRecords(layout, number, unserved, before?.records.open)
    yield* useInScope(records.open)
    for (const { open } of served.values()) yield* useInScope(open)
    const entries = entriesOf(manifest, served)
    const ingest = records.open.db
    const databases = new Map<string, Db>([...served].map(([pipeline, { open }]) => [pipeline, open.db]))
    return {
      id: generationId(number),
      number,
      entries,
      model: yield* assemble(loadedOf(served), entries, ingest),
      ingest,
      records,
      dataSet: (pipeline: string) => databases.get(pipeline),
      served
    }
  })
  const generation: ServedGeneration<Loaded, Model> = yield* openRefCounted(opening)
  return generation
})
