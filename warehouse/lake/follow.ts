/** Updates the lake after a publication. The publication stays valid whatever happens to the lake. */
import { Cause, Effect } from "effect"
import type { Layout } from "../generation/layout.ts"
import { lakeSetting } from "./setting.ts"

const textOf = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return error instanceof Error ? error.message : String(error)
}

/** Brings the lake up to what was published, if a lake is configured. Failures are logged. */
export const followWithLake = Effect.fnUntraced(function* (layout: Layout) {
  if ((yield* lakeSetting(layout)) === undefined) return
  const { updateLake } = yield* Effect.promise(() => import("./lake.ts")) // most warehouses have no lake
  yield* updateLake(layout).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logWarning(`the lake is not up to date, and the next run tries again: ${textOf(cause)}`)
    )
  )
})
