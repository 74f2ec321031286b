/**
 * Rebuilds a data set from the raw archive, without the network: repeats every run that read its source and was not
 * rolled back, in the order in which the runs were recorded. Ids, first-seen times and histories stay the
 * same. The live data stays live until the rebuild is complete.
 */

import { randomUUID } from "node:crypto"
import {
  ConcurrentPublication,
  catchUp,
  type DataSetEntry,
  hasOlderMapping,
  isLoaded,
  type Layout,
  layoutOf,
  listContributingRuns,
  listRunIds,
  makeOwnFolder,
  newestManifest,
  OtherMapping,
  openLayout,
  readLiveLeftOut,
  rebuildFrom,
  recordKilledRuns,
  requireKnownIngest,
  requireNoNewerMapping,
  requireNotNewer,
  requireWritableFolder,
  withLock
} from "@larder/warehouse"
import { Effect } from "effect"
import { type ArchivedRun, listArchivedRuns } from "./archive/archived-runs.ts"
import { rawFolderIn } from "./archive/raw-folder.ts"
import type { Pipeline } from "./pipeline.ts"
import type { RunOptions } from "./pipeline-run.ts"
import { type FailedRepetition, repeatRuns } from "./repeat-runs.ts"
import { UsageError } from "./usage-error.ts"

/** If a clock was wrong, run ids sort in a different order from the records. Runs without a record keep their place. */
const sortByRecord = (runs: ReadonlyArray<ArchivedRun>, recorded: ReadonlySet<string>) => {
  const byId = new Map(runs.map((run) => [run.run_id, run]))
  const known = [...recorded].flatMap((run_id) => byId.get(run_id) ?? [])
  return runs.map((run) => (recorded.has(run.run_id) ? (known.shift() ?? run) : run))
}

/**
 * Selects the runs that published according to their lists, or according to `ingest` if a run was killed after its
 * manifest was written. If the record of a run is lost, the manifest shows whether the generation in its list was
 * rolled back.
 */
const selectRuns = Effect.fnUntraced(function* (pipeline: Pipeline, layout: Layout, live: DataSetEntry | undefined) {
  const { published, recorded, rolledBack } = yield* listRunIds(layout)
  const archived = yield* listArchivedRuns(rawFolderIn(layout.home), pipeline.name, published)
  const isUndone = ({ generation, run_id }: ArchivedRun) =>
    rolledBack.has(run_id) ||
    (!recorded.has(run_id) &&
      live?.undone.some(({ first, last }) => generation !== null && first <= generation && generation <= last))
  return sortByRecord(archived, recorded).filter(
    (run) => (run.has_published || pipeline.rebuildRepeatsEmptyRuns === true) && !isUndone(run)
  )
})

const maxNames = 3

/** Describes the runs that published live rows but are not in the archive; undefined if there are none. */
const describeMissing = Effect.fnUntraced(function* (
  { name }: Pipeline,
  layout: Layout,
  runs: ReadonlyArray<ArchivedRun>
) {
  const archived = new Set(runs.map(({ run_id }) => run_id))
  const contributing = yield* listContributingRuns(layout, name)
  const missing = contributing.filter((run_id) => !archived.has(run_id))
  if (missing.length === 0) return undefined
  const names = missing.slice(0, maxNames).join(", ") + (missing.length > maxNames ? ", …" : "")
  return `${rawFolderIn(layout.home)} lacks ${missing.length} of the ${contributing.length} runs that published the live data of ${name} (${names})`
})

const readEntry = (layout: Layout, { name }: Pipeline) =>
  Effect.map(newestManifest(layout.local), (newest) => newest?.data_sets[name])

/** Undefined if a rebuild with the settings of today leaves nothing out. */
const describeLoss = (pipeline: Pipeline, layout: Layout) => pipeline.describeRebuildLoss?.(layout) ?? Effect.undefined

/** Repeats the runs in a warehouse of their own, and makes the result live. The caller has the lock of the data set. */
const rebuildFromRuns = Effect.fnUntraced(function* (
  pipeline: Pipeline,
  layout: Layout,
  runs: ReadonlyArray<ArchivedRun>,
  since: DataSetEntry | undefined,
  failure: FailedRepetition
) {
  const from = yield* layoutOf(yield* makeOwnFolder(layout, `rebuild-${pipeline.name}-${randomUUID()}`))
  const repeated = yield* repeatRuns(pipeline, layout.home, runs, from, failure)
  const generation = yield* rebuildFrom({ layout, dataSet: pipeline.dataSet, from, since })
  return { runs: repeated, generation }
}, Effect.scoped)

export const rebuildDataSet = Effect.fn("Pipeline.rebuild")(function* (
  pipeline: Pipeline,
  { home, onKilled }: Pick<RunOptions, "home" | "onKilled">
) {
  const layout = yield* openLayout(home)
  yield* requireWritableFolder(layout.dir)
  yield* catchUp(layout)
  const newest = yield* newestManifest(layout.local)
  const live = newest?.data_sets[pipeline.name]
  yield* requireNotNewer(pipeline.dataSet, live)
  yield* requireKnownIngest(newest)
  yield* requireNoNewerMapping(pipeline.dataSet, pipeline.mappingVersion, live)
  const killed = yield* recordKilledRuns(layout)
  yield* onKilled?.(killed) ?? Effect.void
  const rebuilding = Effect.gen(function* () {
    const since = yield* readEntry(layout, pipeline)
    const runs = yield* selectRuns(pipeline, layout, since)
    if (runs.length === 0) return { runs: [], generation: null, isLoaded: isLoaded(since) }
    const missing = yield* describeMissing(pipeline, layout, runs)
    if (missing !== undefined) {
      yield* Effect.logWarning(`${missing}: the rebuilt data set is without the rows that only they have`)
    }
    const loss = yield* describeLoss(pipeline, layout).pipe(
      // a rebuild also repairs live data that cannot be read
      Effect.catchIf(
        (error) => !(error instanceof UsageError),
        ({ message }) => Effect.succeed(`whether the rebuilt data set lacks something is unknown: ${message}`)
      )
    )
    if (loss !== undefined) yield* Effect.logWarning(loss)
    const failure = "is left out with a warning" // a person asked for it
    return { ...(yield* rebuildFromRuns(pipeline, layout, runs, since, failure)), isLoaded: true }
  })
  return yield* withLock(layout.lockOf(pipeline.name), rebuilding)
})

/** Why a run must not rebuild the data set by itself; undefined if it may. Whether rows are lost is for a person to decide. */
const findObstacle = Effect.fnUntraced(function* (
  pipeline: Pipeline,
  layout: Layout,
  runs: ReadonlyArray<ArchivedRun>
) {
  const missing = yield* describeMissing(pipeline, layout, runs)
  if (missing !== undefined) {
    if (runs.length === 0) {
      return `${rawFolderIn(layout.home)} has no run of it. Restore the archive from a backup, and run again. If no backup has it, move the folder warehouse aside: the next runs load what the sources have today, and the data sets whose runs are in the archive can be rebuilt.`
    }
    return `${missing}. Copy these runs into it from a backup, or from the machine that fetched them, and run again. A rebuild without them loses the rows that only they have.`
  }
  return yield* describeLoss(pipeline, layout)
})

/** The runs before knew nothing of these parts, and the next ones know their rejects: nothing else tells of them once. */
const warnOfParts = Effect.fnUntraced(function* (layout: Layout, pipeline: string) {
  const parts = (yield* readLiveLeftOut(layout)).filter((left) => left.pipeline === pipeline && left.kind === "partial")
  if (parts.length === 0) return
  const reasons = parts.slice(0, maxNames).map(({ feed, reason }) => `${feed}: ${reason}`)
  yield* Effect.logWarning(
    `the rebuilt ${pipeline} lacks a part of ${parts.length} ${parts.length === 1 ? "feed" : "feeds"}; larder-ingest status names them`
  ).pipe(Effect.annotateLogs({ reasons }))
})

/**
 * Before a run reads: rebuilds a data set that an earlier version of the mapping made. Fails if the archive does not have
 * all of its runs; then nothing has changed. If another machine publishes the data set meanwhile, looks again.
 */
export const rebuildOlderMapping = Effect.fn("Pipeline.rebuildOlderMapping")(function* (
  pipeline: Pipeline,
  layout: Layout
) {
  const { mappingVersion: supported, name } = pipeline
  const rebuilding = Effect.gen(function* () {
    yield* catchUp(layout)
    const since = yield* readEntry(layout, pipeline)
    if (!hasOlderMapping(since, supported)) return
    const found = since.mapping
    const refuse = (obstacle: string) => Effect.fail(new OtherMapping({ pipeline: name, found, supported, obstacle }))
    const runs = yield* selectRuns(pipeline, layout, since)
    const obstacle = yield* findObstacle(pipeline, layout, runs)
    if (obstacle !== undefined) return yield* refuse(obstacle)
    yield* Effect.logInfo(
      `${name} was made with version ${found} of its mapping, and is rebuilt with version ${supported} from the raw archive: ${runs.length} ${runs.length === 1 ? "run" : "runs"}`
    )
    const { generation } = yield* rebuildFromRuns(pipeline, layout, runs, since, "is an error").pipe(
      Effect.catchTag("RawFileDamaged", ({ file, problem }) =>
        refuse(`The archived payload ${file} ${problem}. Restore that file from a backup first.`)
      ),
      Effect.catchTag(["ReadFailed", "NothingRead"], ({ message }) =>
        refuse(`A run that it repeats fails: ${message.replace(/\.$/, "")}. A rebuild leaves that run out.`)
      )
    )
    yield* Effect.logInfo(`${name} is rebuilt, and live in ${generation}`)
    yield* warnOfParts(layout, name)
  })
  if (!hasOlderMapping(yield* readEntry(layout, pipeline), supported)) return
  yield* withLock(layout.lockOf(name), rebuilding).pipe(
    Effect.retry({ while: (error) => error instanceof ConcurrentPublication })
  )
})
