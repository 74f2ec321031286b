/** Lists the kept generations for people: what made each one, and whether its data is live or can become live again. */
import { Effect } from "effect"
import { type Depot, listObjectTimes } from "../depot/depot.ts"
import { generationId, isLoaded, listNumbers, type Manifest, type ManifestUnusable, readManifest } from "./manifest.ts"

const describeGeneration = (manifest: Manifest, newest: Manifest, objects: ReadonlyMap<string, number>) => {
  const { data_sets, event, ingest, made_at, made_by, number } = manifest
  const published = Object.values(data_sets).filter(({ published_in }) => published_in === number)
  const parts = [...published.flatMap((entry) => entry.parts), ...ingest.parts.filter(({ last }) => last === number)]
  const undone = newest.data_sets[event.pipeline ?? ""]?.undone.find(
    ({ first, last }) => first <= number && number <= last
  )
  return {
    generation: generationId(number),
    made_at,
    made_by,
    kind: event.kind,
    /** Null for a rollback of all data sets. */
    pipeline: event.pipeline,
    run_id: event.run_id,
    outcome: event.outcome,
    /** Rows that were new; null if unknown. */
    rows: event.rows_loaded,
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    /** Whether parts that it made are live. */
    live: Object.values(newest.data_sets).some((entry) => isLoaded(entry) && entry.published_in === number),
    /** Whether a rollback to it is possible. */
    kept: published.some((entry) => isLoaded(entry) && entry.parts.every(({ sha256 }) => objects.has(sha256))),
    /** The rollback that undid it; null if it is not undone. */
    rolled_back_by: undone === undefined ? null : generationId(undone.by),
    went_back_to: event.went_back_to === null ? null : generationId(event.went_back_to),
    note: event.note
  }
}

export type ListedGeneration = Readonly<ReturnType<typeof describeGeneration>>

/**
 * The kept generations, oldest first. `unusable` are those whose manifest is damaged or was written by a newer version.
 * If the newest is one of them, `live` refers to the newest readable one.
 */
export const listGenerations = Effect.fnUntraced(function* ({ depot }: { readonly depot: Depot }) {
  const manifests: Array<Manifest> = []
  const unusable: Array<ManifestUnusable> = []
  for (const number of yield* listNumbers(depot)) {
    const manifest = yield* Effect.catchTag(readManifest(depot, number), "ManifestUnusable", (error) => {
      unusable.push(error)
      return Effect.undefined
    })
    if (manifest !== undefined) manifests.push(manifest)
  }
  const newest = manifests.at(-1)
  const objects = newest === undefined ? new Map<string, number>() : yield* listObjectTimes(depot)
  const generations =
    newest === undefined ? [] : manifests.map((manifest) => describeGeneration(manifest, newest, objects))
  return { generations, unusable }
})
