/**
 * Rollback: a new generation that names the parts of an earlier one. Nothing is lost: the data of the undone generations
 * is kept like all other data, and the records of their runs stay in `ingest`. The next run builds on the earlier parts,
 * and reads the payloads of the undone runs again.
 */
import { randomUUID } from "node:crypto"
import { Effect, Option, Path, Schema } from "effect"
import { dataSets } from "../data-sets.ts"
import { datedObjects } from "../depot/depot.ts"
import { catchUp } from "../generation/catch-up.ts"
import { type Layout, NoWarehouse } from "../generation/layout.ts"
import { type LockUnusable, type WarehouseBusy, withLock } from "../generation/lock.ts"
import {
  type Change,
  type DataSetEntry,
  type Event,
  generationId,
  isLoaded,
  keptManifestsOf,
  type Manifest,
  newestManifest,
  readManifest
} from "../generation/manifest.ts"
import { verifiedPart } from "../generation/parts.ts"
import { pullParts } from "../generation/pull-parts.ts"
import { writeRecordsOfEvent } from "../ingestion/records.ts"
import { requireKnown, requireKnownIngest } from "../tables/newer-versions.ts"
import { addPart, promoteChange, putFile } from "./record.ts"
import { ownFolder } from "./staging.ts"

class NoSuchGeneration extends Schema.TaggedError<NoSuchGeneration>()("NoSuchGeneration", {
  wanted: Schema.String,
  kept: Schema.Array(Schema.String)
}) {
  override get message() {
    return `There is no generation ${this.wanted}. These are kept: ${this.kept.join(", ") || "none"}.`
  }
}

/** The rollback would change nothing, or is impossible. */
class NothingToGoBackTo extends Schema.TaggedError<NothingToGoBackTo>()("NothingToGoBackTo", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

interface RollbackOptions {
  /** The number of a generation; without it, the one that the newest data was built from. */
  readonly to: Option.Option<number>
  /** The pipeline of the only data set to roll back. */
  readonly only: Option.Option<string>
  readonly note: Option.Option<string>
}

/** The data sets to roll back, and their targets. */
interface Plan {
  /** Null if a data set is rolled back to before its first run. */
  readonly went_back_to: number | null
  /** The only data set of the rollback; null if it is for all data sets. */
  readonly pipeline: string | null
  /** By pipeline; `from` is the first generation that is undone. */
  readonly entries: ReadonlyMap<string, { readonly wanted: DataSetEntry | undefined; readonly from: number }>
}

const unknownDataSet = (only: string, base: Manifest) =>
  new NothingToGoBackTo({
    problem: `There is no data set ${only}. The data sets are: ${Object.keys(base.data_sets).join(", ") || "none"}.`
  })

/** Plans to return a data set, by default the one published last, to its state before that publication. */
const planBefore = Effect.fnUntraced(function* (layout: Layout, base: Manifest, only: string | undefined) {
  const loaded = Object.entries(base.data_sets).filter(
    ([pipeline, entry]) => isLoaded(entry) && (only === undefined || pipeline === only)
  )
  const [newest] = loaded.sort(([, a], [, b]) => b.published_in - a.published_in)
  if (newest === undefined) {
    return yield* only === undefined ? new NoWarehouse({ dir: layout.dir }) : unknownDataSet(only, base)
  }
  const [pipeline, entry] = newest
  const { built_on, published_in } = entry
  if (built_on === null && Object.values(base.data_sets).filter(isLoaded).length === 1) {
    return yield* new NothingToGoBackTo({
      problem: `${generationId(published_in)} is the first generation of ${pipeline}, and there is no other data set, so there is nothing to go back to.`
    })
  }
  const before = built_on === null ? Option.none<Manifest>() : yield* readManifest(layout.depot, built_on)
  const wanted = Option.getOrUndefined(before)?.data_sets[pipeline]
  if (built_on !== null && !isLoaded(wanted)) {
    return yield* new NoSuchGeneration({ wanted: generationId(built_on), kept: yield* keptIds(layout) })
  }
  const kept = wanted && { ...wanted, undone: entry.undone }
  const plan: Plan = {
    went_back_to: built_on,
    pipeline,
    entries: new Map([[pipeline, { wanted: kept, from: published_in }]])
  }
  return plan
})

const keptIds = (layout: Layout) =>
  Effect.map(keptManifestsOf(layout.depot), (all) => all.map(({ number }) => generationId(number)))

/** Plans to return the data sets to their state in a generation. */
const planTo = Effect.fnUntraced(function* (layout: Layout, base: Manifest, number: number, only: string | undefined) {
  const found = yield* readManifest(layout.depot, number)
  if (Option.isNone(found)) {
    return yield* new NoSuchGeneration({ wanted: generationId(number), kept: yield* keptIds(layout) })
  }
  if (only !== undefined && base.data_sets[only] === undefined) return yield* unknownDataSet(only, base)
  const { data_sets } = found.value
  const asked = Object.keys(base.data_sets).filter((pipeline) => only === undefined || pipeline === only)
  const differing = asked.filter(
    (pipeline) => data_sets[pipeline]?.published_in !== base.data_sets[pipeline]?.published_in
  )
  const plan: Plan = {
    went_back_to: number,
    pipeline: only ?? null,
    entries: new Map(differing.map((pipeline) => [pipeline, { wanted: data_sets[pipeline], from: number + 1 }]))
  }
  return plan
})

/** The entry of a data set that did not exist yet. It keeps which runs were rolled back before. */
const absent = (base: DataSetEntry): DataSetEntry => ({
  ...base,
  built_on: null,
  origins: [],
  newest_on: null,
  parts: []
})

const entriesOf = ({ entries }: Plan, base: Manifest, number: number) => {
  const changed = [...entries].map(([pipeline, { from, wanted }]): readonly [string, DataSetEntry] => {
    const entry = wanted ?? absent(base.data_sets[pipeline] as DataSetEntry)
    const undone = [...entry.undone, { first: from, last: number - 1, by: number }]
    return [
      pipeline,
      { ...entry, changed_in: number, undone, ...(wanted === undefined ? { published_in: number } : {}) }
    ]
  })
  return { ...base.data_sets, ...Object.fromEntries(changed) }
}

/** Manifests are kept longer than the parts that they name. */
const noLongerKept = (pipeline: string, wanted: DataSetEntry | undefined) =>
  new NothingToGoBackTo({
    problem: `The data of ${pipeline} in ${generationId(wanted?.published_in ?? 0)} is no longer kept. Kept data is listed with its size by: npx larder-ingest generations`
  })

/** Runs an effect while no run publishes these data sets. Several locks are always taken in the same order. */
const whileNobodyPublishes = <A, E, R>(
  layout: Layout,
  pipelines: ReadonlyArray<string>,
  effect: Effect.Effect<A, E, R>
) => {
  let locked: Effect.Effect<A, E | WarehouseBusy | LockUnusable, R> = effect
  for (const pipeline of [...pipelines].sort().reverse()) locked = withLock(layout.lockOf(pipeline), locked)
  return locked
}

interface WentBack {
  /** The generation that is live now. */
  readonly generation: string
  /** By pipeline: the generation that published the data that is live now; null if the data set is no longer loaded. */
  readonly data_sets: Readonly<Record<string, string | null>>
}

/** Returns all data sets, or one, to an earlier generation, and records that in a new generation. */
export const rollback = Effect.fn("Generation.rollback")(function* (
  layout: Layout,
  { note, only, to }: RollbackOptions
) {
  const path = yield* Path.Path
  const pipeline = Option.getOrUndefined(only)
  const planFor = Effect.fnUntraced(function* (base: Manifest) {
    const plan = yield* Option.isSome(to)
      ? planTo(layout, base, to.value, pipeline)
      : planBefore(layout, base, pipeline)
    for (const dataSet of dataSets) yield* requireKnown(dataSet, plan.entries.get(dataSet.about.pipeline)?.wanted)
    yield* requireKnownIngest(base)
    return plan
  })
  yield* catchUp(layout)
  const newest = Option.getOrUndefined(yield* newestManifest(layout.depot))
  if (newest === undefined) return yield* new NoWarehouse({ dir: layout.dir })
  yield* planFor(newest) // fails early, before other runs have to wait
  const folder = yield* ownFolder(layout, `records-${randomUUID()}`)
  const records = path.join(folder, "records.gz")
  let changed: ReadonlyArray<string> = []
  const change = Effect.fnUntraced(function* (found: Manifest | undefined, number: number) {
    const base = found ?? newest
    const plan = yield* planFor(base)
    if (plan.entries.size === 0) {
      return yield* new NothingToGoBackTo({
        problem: `The live data${pipeline === undefined ? "" : ` of ${pipeline}`} is already that of ${plan.went_back_to === null ? "before the first run" : generationId(plan.went_back_to)}.`
      })
    }
    for (const [name, { wanted }] of plan.entries) {
      const [database] = wanted?.parts ?? [] // servers make its sidecar files again if they are damaged
      if (database === undefined) continue
      const isKept = yield* Effect.map(datedObjects(layout.depot), (objects) => objects.has(database.sha256))
      if (!isKept) return yield* noLongerKept(name, wanted)
      yield* pullParts(layout, generationId(wanted?.published_in ?? 0), wanted?.parts ?? [])
      yield* verifiedPart(layout, name, database)
    }
    changed = [...plan.entries.keys()]
    const event: Event = {
      kind: "rollback",
      pipeline: plan.pipeline,
      run_id: null,
      outcome: null,
      rows_loaded: null,
      went_back_to: plan.went_back_to,
      note: Option.getOrNull(note)
    }
    yield* writeRecordsOfEvent(records, event)
    const ingest = yield* addPart(base, yield* putFile(layout, records), number)
    return { event, data_sets: entriesOf(plan, base, number), ingest } satisfies Change as Change
  })
  const manifest = yield* whileNobodyPublishes(
    layout,
    pipeline === undefined ? Object.keys(newest.data_sets) : [pipeline],
    promoteChange(layout, "the rollback is done", change)
  )
  const data_sets = Object.fromEntries(
    changed.map((name) => {
      const entry = manifest.data_sets[name]
      return [name, isLoaded(entry) ? generationId(entry.published_in) : null]
    })
  )
  return { generation: generationId(manifest.number), data_sets } satisfies WentBack as WentBack
}, Effect.scoped)
