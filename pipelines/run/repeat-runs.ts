/** Repeats archived runs of a pipeline, without the network. */
import path from "node:path"
import { type Layout, requireWritableFolder } from "@larder/warehouse"
import { Effect } from "effect"
import { type ArchivedRun, makeUnpackingFolder, openArchive, repeatRun } from "./archive/archived-runs.ts"
import type { Pipeline } from "./pipeline.ts"
import { readAndPublish, startRecord } from "./read-and-publish.ts"

/**
 * Repeats runs that read from the source. Their payloads come from the archive of the folder `from`; the data goes into the
 * empty warehouse `layout`. All of them succeeded originally. So shrinkage is accepted, and a run that fails now is an
 * error.
 */
export const repeatRuns = Effect.fn("Pipeline.repeat")(function* (
  pipeline: Pipeline,
  from: string,
  runs: ReadonlyArray<ArchivedRun>,
  layout: Layout
) {
  yield* requireWritableFolder(layout.home)
  const archive = yield* openArchive(path.join(from, "raw"), yield* makeUnpackingFolder(layout))
  return yield* Effect.forEach(runs, (run) => {
    const { finished_at, origin, run_id, shrinkage_accepted: acceptShrinkage, started_at } = run
    const days = run.days ?? undefined
    const options = { home: layout.home, days, dryRun: false, acceptShrinkage, isRepeated: true } as const
    const started = startRecord(pipeline, { run_id, started_at, finished_at, origin }, options)
    return readAndPublish({ pipeline, layout, started, options }).pipe(
      Effect.provide(repeatRun(archive, run)),
      Effect.map((result) => result.run)
    )
  })
}, Effect.scoped)
