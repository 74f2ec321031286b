/** Repeats archived runs of a pipeline, without the network. */
import { type Layout, requireWritableFolder } from "@larder/warehouse"
import { Effect, Result } from "effect"
import { type ArchivedRun, makeScratchFolder, repeatRun } from "./archive/archived-runs.ts"
import { rawFolderIn } from "./archive/raw-folder.ts"
import type { Pipeline } from "./pipeline.ts"
import { startRecord } from "./pipeline-run.ts"
import { readAndPublish } from "./read-and-publish.ts"

/** What happens if a run fails that succeeded originally: today's code may not trust what it read. */
export type FailedRepetition = "is an error" | "is left out with a warning"

/**
 * Repeats runs that read from the source. Their payloads come from the archive of the folder `from`; the data goes into the
 * empty warehouse `layout`. All of them succeeded originally, so shrinkage is accepted. Returns those that succeed again.
 */
export const repeatRuns = Effect.fn("Pipeline.repeat")(function* (
  pipeline: Pipeline,
  from: string,
  runs: ReadonlyArray<ArchivedRun>,
  layout: Layout,
  failure: FailedRepetition
) {
  yield* requireWritableFolder(layout.home)
  const archive = { folder: rawFolderIn(from), scratch: yield* makeScratchFolder(layout) }
  const repeat = (run: ArchivedRun) => {
    const { finished_at, origin, run_id, shrinkage_accepted: acceptShrinkage, started_at } = run
    const days = run.days ?? undefined
    const options = { home: layout.home, days, dryRun: false, acceptShrinkage, isRepeated: true } as const
    const started = startRecord(pipeline, { run_id, started_at, finished_at, origin }, options)
    return readAndPublish({ pipeline, layout, started, options }).pipe(Effect.provide(repeatRun(archive, run)))
  }
  if (failure === "is an error")
    return yield* Effect.forEach(runs, (run) => Effect.map(repeat(run), (ended) => ended.run))
  const repeated = yield* Effect.forEach(runs, (run) =>
    Effect.matchEffect(repeat(run), {
      onSuccess: (ended) => Effect.succeed(Result.succeed(ended.run)),
      onFailure: (error) => {
        if (error._tag !== "ReadFailed" && error._tag !== "NothingRead") return Effect.fail(error)
        const warning = `the run ${run.run_id} fails, and is left out of the rebuilt data set: ${error.message}`
        return Effect.as(Effect.logWarning(warning), Result.fail(error))
      }
    })
  )
  const succeeded = repeated.flatMap((result) => (Result.isSuccess(result) ? [result.success] : []))
  const last = repeated.at(-1)
  return succeeded.length === 0 && last !== undefined && Result.isFailure(last) ? yield* last.failure : succeeded
}, Effect.scoped)
