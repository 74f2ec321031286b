/** Killed runs leave no record: the next run records them. */
import { Effect } from "effect"
import type { Layout } from "../generation/layout.ts"
import { recordedRun } from "../live/runs.ts"
import { recordEnd } from "./record.ts"
import { removeAbandoned } from "./staging.ts"

const message = "The program was killed, or its machine stopped, before the run ended. When is not known."

/**
 * Records killed runs that have no record yet, and removes their files. A run that was killed after it put its manifest
 * has a record.
 */
export const recordKilledRuns = (layout: Layout) =>
  removeAbandoned(
    layout,
    Effect.fn("KilledRuns.record")(function* (run) {
      if ((yield* recordedRun(layout, run.run_id)) !== undefined) return
      yield* recordEnd(layout, { run: { ...run, outcome: "interrupted", message }, checks: [], leftOut: [] })
    })
  )
