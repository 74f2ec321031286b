/** Lets a server follow a shared depot: generations published there are pulled, and served like local ones. */
import { type Cause, type Duration, Effect, Schedule } from "effect"
import type { Layout } from "../generation/layout.ts"
import { listNumbers } from "../generation/manifest.ts"
import { pull } from "../generation/pull.ts"
import { pruneLocal } from "../generation/retention.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { makeUnserved } from "./unserved.ts"

/**
 * Pulls the newest generation, and then each one that follows, until the scope ends. If the depot is unreachable, the
 * server keeps serving what it has. Fails only if this machine has no generation yet. `fault` returns why no newer
 * generation arrives; undefined if all is well. `pulls` counts the looks; undefined without a shared depot. `poll` is the pause between two looks.
 */
export const followDepot = Effect.fn("Depot.follow")(function* (layout: Layout, poll: Duration.Duration) {
  let fault: string | undefined
  let pulls: { readonly succeeded: number; readonly failed: number } | undefined
  const state = { fault: () => fault, pulls: () => pulls }
  if (layout.depot === layout.local) return state
  const reports = makeUnserved()
  const count = (outcome: "failed" | "succeeded") => {
    const before = pulls ?? { succeeded: 0, failed: 0 }
    pulls = { ...before, [outcome]: before[outcome] + 1 }
  }
  const unreachable = `no newer generation arrives from ${layout.depot.location}`
  let shouldRepair = true // only once: later damage is reported where the file is opened
  let isTidy = true
  const tidy = Effect.gen(function* () {
    yield* refreshOpened(layout, "server")
    yield* pruneLocal(layout)
    isTidy = true
  })
  /** The generation has arrived, and is served: the pull has not failed. */
  const reportUntidy = (cause: Cause.Cause<unknown>) =>
    reports.report(
      "opened files",
      0,
      Effect.logWarning(
        "a generation was pulled and is served, but the files that people open are not updated, or older generations not removed. The next look tries again",
        cause
      )
    )
  const pullNewest = Effect.gen(function* () {
    const pulled = yield* pull(layout, "server", { shouldRepair }).pipe(
      Effect.catchTag("WarehouseBusy", () => Effect.undefined) // another program is pulling
    )
    shouldRepair = false
    fault = undefined
    count("succeeded")
    isTidy &&= pulled === undefined
    if (!isTidy) yield* Effect.catchCause(tidy, reportUntidy)
  })
  const report = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    fault = unreachable
    count("failed")
    yield* reports.report("depot", 0, Effect.logWarning(unreachable, cause))
  })
  if ((yield* listNumbers(layout.local)).length === 0) yield* pullNewest // otherwise there is something to serve
  yield* Effect.forkScoped(Effect.repeat(Effect.catchCause(pullNewest, report), Schedule.spaced(poll)))
  return state
})
