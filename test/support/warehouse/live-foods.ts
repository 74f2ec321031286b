/** Opens the foods of a home as a server does. */
import { DuckDb, isLoaded, layoutOf, newestManifest, openServedFoods, verifyDataSet } from "@larder/warehouse"
import { readManifest } from "@larder/warehouse/generation/manifest.ts"
import { Effect } from "effect"

/** The foods of a generation (default: the live one), until the scope ends. Damaged sidecar files are rebuilt. */
export const openLiveFoods = Effect.fnUntraced(function* (home: string, generation?: number) {
  const layout = yield* layoutOf(home)
  const { depot } = layout
  const manifest = yield* generation === undefined ? newestManifest(depot) : readManifest(depot, generation)
  const entry = manifest?.data_sets["branded-foods"]
  if (!isLoaded(entry)) return yield* Effect.die(new Error(`${home} has no branded foods`))
  const db = yield* DuckDb.readOnly(yield* verifyDataSet(layout, "branded-foods", entry))
  return yield* openServedFoods(layout, entry, db)
})
