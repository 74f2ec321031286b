import { newestManifest } from "@larder/warehouse"
import type { Depot } from "@larder/warehouse/depot/depot.ts"
import { Effect } from "effect"

/** The newest generation of a depot that has one. */
export const requireNewest = Effect.fnUntraced(function* (depot: Depot) {
  return (yield* newestManifest(depot)) ?? (yield* Effect.die(`${depot.location} has no generation`))
})
