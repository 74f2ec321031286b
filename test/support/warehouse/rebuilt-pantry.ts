/** A rebuild of the pantry, as if these were its runs in the raw archive. */
import { type Layout, newestManifest, rebuildFrom } from "@larder/warehouse"
import { Effect, Option } from "effect"
import { aLayout, type Found, pantry, publishFound } from "./pantry.ts"

export const rebuildPantry = Effect.fnUntraced(function* (layout: Layout, runs: Readonly<Record<string, Found>>) {
  const since = Option.getOrUndefined(yield* newestManifest(layout.depot))?.data_sets.pantry
  const from = yield* aLayout
  for (const [run_id, found] of Object.entries(runs)) yield* publishFound(from, found, { run: { run_id } })
  return yield* rebuildFrom({ layout, dataSet: pantry.dataSet, from, since })
})
