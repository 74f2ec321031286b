/**
 * Which data sets of a generation this version can read: not those that a newer version published, or that an earlier
 * version published with incompatible tables.
 */
import { Effect } from "effect"
import { dataSets } from "../data-sets.ts"
import type { Layout } from "../generation/layout.ts"
import type { DataSetEntry, Manifest } from "../generation/manifest.ts"
import { openPublished } from "../tables/earlier-versions.ts"
import { requireKnown } from "../tables/newer-versions.ts"

const requireReadable = Effect.fnUntraced(function* (layout: Layout, pipeline: string, entry: DataSetEntry) {
  const dataSet = dataSets.find(({ about }) => about.pipeline === pipeline)
  const [database] = entry.parts
  if (dataSet === undefined || database === undefined) return
  yield* requireKnown(dataSet, entry)
  if (entry.schema === dataSet.version) return
  yield* Effect.scoped(openPublished(layout.objectFile(database.sha256), dataSet, entry))
})

/** Of the data sets whose databases are intact, those that this version can read, and why it cannot read the others. */
export const readableOf = Effect.fnUntraced(function* (layout: Layout, data_sets: Manifest["data_sets"]) {
  const readable: Record<string, DataSetEntry> = {}
  const others: Array<Effect.Error<ReturnType<typeof requireReadable>>> = []
  for (const [pipeline, entry] of Object.entries(data_sets)) {
    const found = yield* Effect.result(requireReadable(layout, pipeline, entry))
    if (found._tag === "Success") readable[pipeline] = entry
    else others.push(found.failure)
  }
  return { readable, others }
})
