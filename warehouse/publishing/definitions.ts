import { Effect } from "effect"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { attachLiveData, liveData } from "../live/live-tables.ts"
import { liveDataSetOf } from "../live/previous.ts"
import { createTables } from "../tables/dictionary.ts"
import { columnsToAdd, isDefinedOtherwise } from "../tables/earlier-versions.ts"
import type { DataSet } from "../tables/tables.ts"

/**
 * Fails before a run fetches anything, if the live data set is damaged, was published by a newer version, or has tables
 * to which this version cannot publish.
 */
export const requirePublishable = Effect.fn("Definitions.requirePublishable")(function* (
  layout: Layout,
  dataSet: DataSet
) {
  const { entry, file } = yield* liveDataSetOf(layout, dataSet)
  if (entry === undefined || file === undefined || !isDefinedOtherwise(dataSet, entry)) return
  const db = yield* DuckDb.memory
  yield* createTables(db, dataSet.tables)
  yield* attachLiveData(db, file)
  yield* columnsToAdd(db, dataSet, liveData)
}, Effect.scoped)
