/**
 * Rebuilds a data set from the raw archive, without the network: repeats every run that read its source and was not
 * rolled back, in the order in which the runs were recorded. Ids, first-seen times and histories stay the
 * same. The live data stays live until the rebuild is complete.
 */

import { randomUUID } from "node:crypto"
import path from "node:path"
import {
  catchUp,
  type DataSetEntry,
  isLoaded,
  type Layout,
  layoutOf,
  listRunIds,
  makeOwnFolder,
  newestManifest,
  openLayout,
  rebuildFrom,
  recordKilledRuns,
  requireKnown,
  requireKnownIngest,
  requireWritableFolder,
  withLock
} from "@larder/warehouse"
import { Effect, Option } from "effect"
import { type ArchivedRun, listArchivedRuns } from "./archive/archived-runs.ts"
import type { Pipeline } from "./pipeline.ts"
import { repeatRuns } from "./run.ts"

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
  const archived = yield* listArchivedRuns(path.join(layout.home, "raw"), pipeline.name, published)
  const isUndone = ({ generation, run_id }: ArchivedRun) =>
    rolledBack.has(run_id) ||
    (!recorded.has(run_id) &&
      live?.undone.some(({ first, last }) => generation !== null && first <= generation && generation <= last))
  return sortByRecord(archived, recorded).filter(
    (run) => (run.has_published || pipeline.rebuildRepeatsEmptyRuns === true) && !isUndone(run)
  )
})

export const rebuildDataSet = Effect.fn("Pipeline.rebuild")(function* (pipeline: Pipeline, home: string) {
  const layout = yield* openLayout(home)
  yield* requireWritableFolder(layout.dir)
  yield* catchUp(layout)
  const live = Option.getOrUndefined(yield* newestManifest(layout.local))
  yield* requireKnown(pipeline.dataSet, live?.data_sets[pipeline.name])
  yield* requireKnownIngest(live)
  yield* recordKilledRuns(layout)
  const rebuilding = Effect.gen(function* () {
    const since = Option.getOrUndefined(yield* newestManifest(layout.local))?.data_sets[pipeline.name]
    const scratch = yield* makeOwnFolder(layout, `rebuild-${pipeline.name}-${randomUUID()}`)
    const runs = yield* repeatRuns(pipeline, home, yield* selectRuns(pipeline, layout, since), { home: scratch })
    if (runs.length === 0) return { runs, generation: null, isLoaded: isLoaded(since) }
    const from = yield* layoutOf(scratch)
    const generation = yield* rebuildFrom({ layout, dataSet: pipeline.dataSet, from, since })
    return { runs, generation, isLoaded: true }
  })
  return yield* withLock(layout.lockOf(pipeline.name), rebuilding)
}, Effect.scoped)
