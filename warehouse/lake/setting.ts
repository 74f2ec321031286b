/** When the lake is written: after publications if it is enabled, and by `larder-ingest lake` in any case. */
import { yesOrNoSetting } from "@larder/schemas"
import { Cause, Effect } from "effect"
import { causeText } from "../disk.ts"
import type { Layout } from "../generation/layout.ts"

/** A run reads this setting before it fetches anything, because it fails if the value is invalid. */
export const isLakeEnabled = yesOrNoSetting("LARDER_LAKE")

/** Most commands do not load what writes the lake. */
export const writeLake = Effect.fnUntraced(function* (layout: Layout) {
  const { writeNewest } = yield* Effect.promise(() => import("./lake.ts"))
  return yield* writeNewest(layout)
})

/** Writes the lake after a publication, if it is enabled. A failure is logged: the publication stays valid. */
export const writeLakeIfEnabled = Effect.fnUntraced(function* (layout: Layout) {
  if (!(yield* isLakeEnabled)) return
  yield* writeLake(layout).pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.logWarning(
            `the lake is not up to date, and the next run tries again: ${causeText(Cause.squash(cause))}`
          )
    )
  )
})
