/** Promotes a generation: putting its manifest into the depot makes it live. */
import { Effect, Schema } from "effect"
import { Hint, hintName } from "../depot/depot.ts"
import type { Layout } from "./layout.ts"
import { withLock } from "./lock.ts"
import { type Change, generationId, type Manifest, makeGeneration, manifestName } from "./manifest.ts"
import { pullGeneration } from "./pull.ts"

const encodeHint = Schema.encodeSync(Schema.fromJsonString(Hint))

/** Pulls a generation that this machine published to a shared depot. */
const pullOwn = Effect.fnUntraced(function* (layout: Layout, manifest: Manifest) {
  const { depot, pullLock } = layout
  // if this fails, the next generation puts a newer hint
  yield* Effect.ignore(depot.putHint(hintName, encodeHint({ newest: manifestName(manifest.number) })))
  yield* withLock(pullLock, pullGeneration(layout, manifest)).pipe(
    Effect.catch((error) =>
      Effect.logWarning(
        `${generationId(manifest.number)} is live in ${depot.location}, and this machine gets it with its next run: ${error.message}`
      )
    )
  )
})

/** Makes the next generation, as `change` describes it. After its manifest is put, nothing can fail the promotion. */
export const promote = Effect.fn("Generation.promote")(function* <E, R>(
  layout: Layout,
  change: (base: Manifest | undefined, number: number) => Effect.Effect<Change, E, R>
) {
  const manifest = yield* makeGeneration(layout.depot, change)
  if (layout.depot !== layout.local) yield* pullOwn(layout, manifest)
  return manifest
})
