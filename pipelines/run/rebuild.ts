/**
 * Making a data set anew from the raw archive, without the network: every run that read its source, again, in the order in which they
 * ran. Ids, times of first sight and histories come out as they were. Runs that were rolled back stay out. What is live stays
 * live until all of it is there.
 */
import { randomUUID } from "node:crypto"
import { layoutOf } from "@larder/warehouse/generation/layout.ts"
import { newestManifest } from "@larder/warehouse/generation/manifest.ts"
import { rolledBackRuns } from "@larder/warehouse/live/runs.ts"
import { recordKilledRuns } from "@larder/warehouse/publishing/killed-runs.ts"
import { rebuildFrom } from "@larder/warehouse/publishing/rebuild.ts"
import { ownFolder } from "@larder/warehouse/staging.ts"
import { Effect, Option, Path } from "effect"
import { archivedRuns } from "./archived-runs.ts"
import type { Pipeline } from "./pipeline.ts"
import { repeatRuns } from "./run.ts"

export const rebuildDataSet = Effect.fn("Pipeline.rebuild")(function* (pipeline: Pipeline, home: string) {
  const path = yield* Path.Path
  const layout = yield* layoutOf(home)
  const archived = yield* archivedRuns(path.join(layout.home, "raw"), pipeline.name)
  const undone = yield* rolledBackRuns(layout)
  const wanted = archived.filter(
    ({ has_published, run_id }) => (has_published || pipeline.repeatsReads === true) && !undone.has(run_id)
  )
  const live = Option.getOrUndefined(yield* newestManifest(layout.depot))
  if (live?.data_sets[pipeline.name] === undefined) {
    const runs = yield* repeatRuns(pipeline, home, wanted, { home })
    return { runs, generation: runs.findLast((run) => run.generation !== null)?.generation ?? null }
  }
  yield* recordKilledRuns(layout)
  const scratch = yield* ownFolder(layout, `rebuild-${pipeline.name}-${randomUUID()}`)
  const runs = yield* repeatRuns(pipeline, home, wanted, { home: scratch })
  const generation = runs.length === 0 ? null : yield* rebuildFrom(layout, yield* layoutOf(scratch), pipeline.dataSet)
  return { runs, generation }
}, Effect.scoped)
