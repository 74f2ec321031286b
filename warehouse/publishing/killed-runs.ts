/** Runs that were killed could not tell of themselves: the next run does it for them. */
import { Effect } from "effect"
import type { Layout } from "../generation/layout.ts"
import { isRecorded } from "../live/runs.ts"
import { removeAbandoned } from "../staging.ts"
import { recordEnd } from "./record.ts"

const message = "The program was killed, or its machine stopped, before the run ended. When is not known."

/** Removes what killed runs left, and records those that nothing tells of: one may have been killed behind its manifest. */
export const recordKilledRuns = Effect.fn("KilledRuns.record")(function* (layout: Layout) {
  for (const run of yield* removeAbandoned(layout)) {
    if (yield* isRecorded(layout, run.run_id)) continue
    yield* recordEnd(layout, { run: { ...run, outcome: "interrupted", message }, checks: [], leftOut: [] }).pipe(
      Effect.catch((error) => Effect.logWarning(`the record of the killed run ${run.run_id} is lost: ${error.message}`))
    )
  }
})
