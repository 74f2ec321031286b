/**
 * Rollback: a new generation that names the parts of an earlier one. Nothing is lost: the data of the undone generations
 * is kept like all other data, and the records of their runs stay in `ingest`. The next run builds on the earlier parts,
 * and reads the payloads of the undone runs again.
 */
import { randomUUID } from "node:crypto"
import { Effect, Option, Path } from "effect"
import { dataSets } from "../data-sets.ts"
import { listObjectTimes } from "../depot/depot.ts"
import { type Layout, NoWarehouse } from "../generation/layout.ts"
import { type LockUnusable, type WarehouseBusy, withLock } from "../generation/lock.ts"
import {
  type Change,
  type DataSetEntry,
  generationId,
  isLoaded,
  type Manifest,
  newestManifest,
  readKeptManifests,
  readManifest
} from "../generation/manifest.ts"
import { verifyPart } from "../generation/parts.ts"
import { catchUp } from "../generation/pull.ts"
import { pullParts } from "../generation/pull-parts.ts"
import { eventWithoutRun, writeRecordsOfEvent } from "../ingestion/records.ts"
import { WarehouseProblem } from "../problem.ts"
import { requireKnown, requireKnownIngest } from "../tables/versions.ts"
import { addPart, promote, putFile } from "./promote.ts"
import { makeOwnFolder } from "./staging.ts"

interface Plan {
  /** Null if a data set is rolled back to before its first run. */
  readonly went_back_to: number | null
  /** The only data set of the rollback; null if it is for all data sets. */
  readonly pipeline: string | null
  /** By pipeline; `from` is the first generation that is undone. */
  readonly entries: ReadonlyMap<string, { readonly wanted: DataSetEntry | undefined; readonly from: number }>
}

const unknownDataSet = (only: string, base: Manifest) =>
  new WarehouseProblem({
    problem: `There is no data set ${only}. The data sets are: ${Object.keys(base.data_sets).join(", ") || "none"}.`
  })

const noSuchGeneration = Effect.fnUntraced(function* ({ depot }: Layout, number: number) {
  const kept = (yield* readKeptManifests(depot)).map((manifest) => generationId(manifest.number))
  return yield* new WarehouseProblem({
    problem: `There is no generation ${generationId(number)}. These are kept: ${kept.join(", ") || "none"}.`
  })
})

/** Plans to return a data set, by default the one published last, to its state before that publication. */
const planBefore = Effect.fnUntraced(function* (layout: Layout, base: Manifest, only: string | undefined) {
  const loaded = Object.entries(base.data_sets).filter(([, entry]) => isLoaded(entry))
  const [newest] = loaded
    .filter(([pipeline]) => only === undefined || pipeline === only)
    .sort(([, a], [, b]) => b.published_in - a.published_in)
  if (newest === undefined) {
    return yield* only === undefined ? new NoWarehouse({ dir: layout.dir }) : unknownDataSet(only, base)
  }
  const [pipeline, { built_on, published_in, undone }] = newest
  if (built_on === null && loaded.length === 1) {
    return yield* new WarehouseProblem({
      problem: `${generationId(published_in)} is the first generation of ${pipeline}, and there is no other data set, so there is nothing to go back to.`
    })
  }
  let wanted: DataSetEntry | undefined
  if (built_on !== null) {
    const manifest = yield* readManifest(layout.depot, built_on)
    const entry = manifest?.data_sets[pipeline]
    if (!isLoaded(entry)) return yield* noSuchGeneration(layout, built_on)
    wanted = { ...entry, undone }
  }
  const entries = new Map([[pipeline, { wanted, from: published_in }]])
  return { went_back_to: built_on, pipeline, entries } satisfies Plan
})

/** Plans to return the data sets to their state in a generation. */
const planTo = Effect.fnUntraced(function* (layout: Layout, base: Manifest, number: number, only: string | undefined) {
  const target = yield* readManifest(layout.depot, number)
  if (target === undefined) return yield* noSuchGeneration(layout, number)
  if (only !== undefined && base.data_sets[only] === undefined) return yield* unknownDataSet(only, base)
  const differing = Object.keys(base.data_sets).filter(
    (pipeline) =>
      (only === undefined || pipeline === only) &&
      target.data_sets[pipeline]?.published_in !== base.data_sets[pipeline]?.published_in
  )
  const entries = differing.map(
    (pipeline) => [pipeline, { wanted: target.data_sets[pipeline], from: number + 1 }] as const
  )
  return { went_back_to: number, pipeline: only ?? null, entries: new Map(entries) } satisfies Plan
})

/** The entry of a data set before its first run. It keeps the list of undone generations. */
const emptyEntry = (base: DataSetEntry): DataSetEntry => ({
  ...base,
  built_on: null,
  origins: [],
  newest_on: null,
  parts: []
})

const applyPlan = ({ entries }: Plan, base: Manifest, number: number) => {
  const changed = [...entries].map(([pipeline, { from, wanted }]): readonly [string, DataSetEntry] => {
    const entry = wanted ?? emptyEntry(base.data_sets[pipeline] as DataSetEntry)
    const undone = [...entry.undone, { first: from, last: number - 1, by: number }]
    const published_in = wanted === undefined ? number : entry.published_in
    return [pipeline, { ...entry, changed_in: number, undone, published_in }]
  })
  return { ...base.data_sets, ...Object.fromEntries(changed) }
}

/** Pulls and verifies the parts of a plan: manifests are kept longer than the parts that they name. */
const requireParts = Effect.fnUntraced(function* (layout: Layout, { entries }: Plan) {
  for (const [pipeline, { wanted }] of entries) {
    const [database] = wanted?.parts ?? [] // servers make its sidecar files again if they are damaged
    if (wanted === undefined || database === undefined) continue
    const generation = generationId(wanted.published_in)
    if (!(yield* listObjectTimes(layout.depot)).has(database.sha256)) {
      return yield* new WarehouseProblem({
        problem: `The data of ${pipeline} in ${generation} is no longer kept. List the kept data with: npx larder-ingest generations`
      })
    }
    yield* pullParts(layout, generation, wanted.parts)
    yield* verifyPart(layout, pipeline, database)
  }
})

/** Runs an effect while no run publishes these data sets. Several locks are always acquired in the same order. */
const whileNoRunPublishes = <A, E, R>(
  layout: Layout,
  pipelines: ReadonlyArray<string>,
  effect: Effect.Effect<A, E, R>
) => {
  let locked: Effect.Effect<A, E | WarehouseBusy | LockUnusable, R> = effect
  for (const pipeline of [...pipelines].sort().reverse()) locked = withLock(layout.lockOf(pipeline), locked)
  return locked
}

interface RollbackOptions {
  /** The number of a generation; by default the one that the newest data was built from. */
  readonly to: Option.Option<number>
  /** The pipeline of the only data set to roll back. */
  readonly only: Option.Option<string>
  readonly note: Option.Option<string>
}

/**
 * Returns all data sets, or one, to an earlier generation, and records that in a new generation. The result names the
 * live generation and, by pipeline, the one that published the data; null if the data set is no longer loaded.
 */
export const rollback = Effect.fn("Generation.rollback")(function* (
  layout: Layout,
  { note, only, to }: RollbackOptions
) {
  const path = yield* Path.Path
  const pipeline = Option.getOrUndefined(only)
  const makePlan = Effect.fnUntraced(function* (base: Manifest) {
    const plan: Plan = yield* Option.isSome(to)
      ? planTo(layout, base, to.value, pipeline)
      : planBefore(layout, base, pipeline)
    for (const dataSet of dataSets) yield* requireKnown(dataSet, plan.entries.get(dataSet.about.pipeline)?.wanted)
    yield* requireKnownIngest(base)
    return plan
  })
  yield* catchUp(layout)
  const newest = yield* newestManifest(layout.depot)
  if (newest === undefined) return yield* new NoWarehouse({ dir: layout.dir })
  yield* makePlan(newest) // fails early, before other runs have to wait
  const folder = yield* makeOwnFolder(layout, `records-${randomUUID()}`)
  const records = path.join(folder, "records.gz")
  let changed: ReadonlyArray<string> = []
  const change = Effect.fnUntraced(function* (base = newest, number: number) {
    const plan = yield* makePlan(base)
    if (plan.entries.size === 0) {
      const data = pipeline === undefined ? "data" : `data of ${pipeline}`
      return yield* new WarehouseProblem({
        problem: `The live ${data} is already that of ${generationId(plan.went_back_to ?? 0)}.`
      })
    }
    yield* requireParts(layout, plan)
    changed = [...plan.entries.keys()]
    const { pipeline: planned, went_back_to } = plan
    const event = eventWithoutRun({ kind: "rollback", pipeline: planned, went_back_to, note: Option.getOrNull(note) })
    yield* writeRecordsOfEvent(records, event)
    const ingest = yield* addPart(base, yield* putFile(layout, records), number)
    return { event, data_sets: applyPlan(plan, base, number), ingest } satisfies Change
  })
  const manifest = yield* whileNoRunPublishes(
    layout,
    pipeline === undefined ? Object.keys(newest.data_sets) : [pipeline],
    promote(layout, "the rollback is done", change)
  )
  const data_sets: Readonly<Record<string, string | null>> = Object.fromEntries(
    changed.map((name) => {
      const entry = manifest.data_sets[name]
      return [name, isLoaded(entry) ? generationId(entry.published_in) : null]
    })
  )
  return { generation: generationId(manifest.number), data_sets }
}, Effect.scoped)
