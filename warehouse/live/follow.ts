/** A server beside a depot that machines share: what is published there comes here, and is served like what is published here. */
import { type Cause, Config, Duration, Effect, Schedule } from "effect"
import type { Layout } from "../generation/layout.ts"
import { listNumbers } from "../generation/manifest.ts"
import { pull } from "../generation/pull.ts"
import { pruneLocal } from "../generation/retention.ts"
import { refreshOpened } from "../opened/opened-files.ts"
import { makeUnserved } from "./unserved.ts"

/** How long after a look at the depot the next one comes. */
const pollSetting = Config.Duration("LARDER_DEPOT_POLL").pipe(Config.withDefault(Duration.seconds(2)))

/** A depot that is followed. */
export interface Followed {
  /** Why nothing newer comes; undefined where all is well. */
  readonly fault: () => string | undefined
}

/**
 * Pulls the newest generation, and from then on each one that follows, until the scope ends. A depot that is away stops nothing: what is
 * here goes on being served. Fails only where there is nothing here yet.
 */
export const followDepot = Effect.fn("Depot.follow")(function* (layout: Layout) {
  let fault: string | undefined
  const followed: Followed = { fault: () => fault }
  if (layout.depot === layout.local) return followed
  const poll = yield* pollSetting
  const reports = makeUnserved()
  const away = `nothing newer comes from ${layout.depot.location}`
  let mends = true // once: what is damaged is told where it is opened
  const look = Effect.gen(function* () {
    const pulled = yield* pull(layout, "server", { mends }).pipe(
      Effect.catchTag("WarehouseBusy", () => Effect.undefined) // another program pulls
    )
    mends = false
    fault = undefined
    if (pulled === undefined) return
    yield* refreshOpened(layout, "server")
    yield* pruneLocal(layout)
  })
  const report = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    fault = away
    yield* reports.report("depot", 0, Effect.logWarning(away, cause))
  })
  if ((yield* listNumbers(layout.local)).length === 0) yield* look // else there is something to serve meanwhile
  yield* Effect.forkScoped(Effect.repeat(Effect.catchCause(look, report), Schedule.spaced(poll)))
  return followed
})
