/** Makes a generation that does not come from a run, and brings the files that users open up to it. */
import { Effect } from "effect"
import type { Layout } from "../generation/layout.ts"
import { type Change, generationId, type Manifest } from "../generation/manifest.ts"
import { promote } from "../generation/promote.ts"
import { refreshOpened } from "../opened/opened-files.ts"

/**
 * Makes the generation that `change` describes. It is live as soon as its manifest is put: a later interrupt only logs
 * a warning, with the text of `done`.
 */
export const makeLive = <E, R>(
  layout: Layout,
  done: string,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) =>
  Effect.suspend(() => {
    let made: Manifest | undefined
    const making = Effect.tap(promote(layout, change), (manifest) => {
      made = manifest
      return refreshOpened(layout).pipe(Effect.catch((error) => Effect.logWarning(`${done}, but: ${error.message}`)))
    })
    return Effect.uninterruptible(making).pipe(
      Effect.onInterrupt(() =>
        made === undefined
          ? Effect.void
          : Effect.logWarning(`interrupted too late: ${done}, and ${generationId(made.number)} is live`)
      )
    )
  })
