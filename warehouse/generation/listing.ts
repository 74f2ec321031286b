/** The list of kept generations for people: what each one was, and its present state. */
import { Effect, Option } from "effect"
import { type Depot, datedObjects } from "../depot/depot.ts"
import { generationId, listNumbers, type Manifest, type ManifestUnusable, readManifest } from "./manifest.ts"

export interface ListedGeneration {
  readonly generation: string
  readonly made_at: string
  readonly made_by: string
  readonly kind: Manifest["event"]["kind"]
  /** Null for a rollback of all data sets. */
  readonly pipeline: string | null
  readonly run_id: string | null
  readonly outcome: Manifest["event"]["outcome"]
  /** Rows that were new; null if unknown. */
  readonly rows: number | null
  /** Size of the parts that it made. */
  readonly bytes: number
  /** Whether parts that it made are live. */
  readonly live: boolean
  /** Whether a rollback to it is possible. */
  readonly kept: boolean
  /** The rollback that undid it; null if it still counts. */
  readonly rolled_back_by: string | null
  readonly went_back_to: string | null
  readonly note: string | null
}

const listed = (manifest: Manifest, newest: Manifest, objects: ReadonlyMap<string, number>): ListedGeneration => {
  const { data_sets, event, ingest, made_at, made_by, number } = manifest
  const made = Object.values(data_sets).filter(({ published_in }) => published_in === number)
  const parts = [...made.flatMap((entry) => entry.parts), ...ingest.parts.filter(({ last }) => last === number)]
  const undone = newest.data_sets[event.pipeline ?? ""]?.undone.find(
    ({ first, last }) => first <= number && number <= last
  )
  return {
    generation: generationId(number),
    made_at,
    made_by,
    kind: event.kind,
    pipeline: event.pipeline,
    run_id: event.run_id,
    outcome: event.outcome,
    rows: event.rows_loaded,
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    live: Object.values(newest.data_sets).some((entry) => entry.parts.length > 0 && entry.published_in === number),
    kept: made.some((entry) => entry.parts.length > 0 && entry.parts.every(({ sha256 }) => objects.has(sha256))),
    rolled_back_by: undone === undefined ? null : generationId(undone.by),
    went_back_to: event.went_back_to === null ? null : generationId(event.went_back_to),
    note: event.note
  }
}

interface Listing {
  /** Oldest first. If the newest manifest cannot be read, `live` refers to the newest readable one. */
  readonly generations: ReadonlyArray<ListedGeneration>
  /** Manifests that this version cannot read. */
  readonly unusable: ReadonlyArray<ManifestUnusable>
}

/** The kept generations, except those whose manifest is damaged or has the format of a newer version. */
export const listGenerations = Effect.fnUntraced(function* ({ depot }: { readonly depot: Depot }) {
  const all: Array<Manifest> = []
  const unusable: Array<ManifestUnusable> = []
  for (const number of yield* listNumbers(depot)) {
    const manifest = yield* Effect.catchTag(readManifest(depot, number), "ManifestUnusable", (error) => {
      unusable.push(error)
      return Effect.succeedNone
    })
    if (Option.isSome(manifest)) all.push(manifest.value)
  }
  const newest = all.at(-1)
  const objects = newest === undefined ? new Map<string, number>() : yield* datedObjects(depot)
  const generations = newest === undefined ? [] : all.map((manifest) => listed(manifest, newest, objects))
  return { generations, unusable } satisfies Listing as Listing
})
