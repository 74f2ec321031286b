/** Whether the live database of a data set was built with this version's definitions, and if not, whether a run can publish to it. */
import { Effect } from "effect"
import { columnsToAdd } from "../columns-by-name.ts"
import { createTables, definitionHash } from "../dictionary.ts"
import { DuckDb } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import type { DataSetEntry } from "../generation/manifest.ts"
import { attachLiveData, liveData } from "../live/live-tables.ts"
import { liveOf } from "../live/previous.ts"
import type { DataSet } from "../tables.ts"

/** Fails where what is live is damaged, of a newer version, or has tables that this one cannot publish to: before a run fetches anything. */
export const requirePublishable = Effect.fn("Definitions.requirePublishable")(function* (
  layout: Layout,
  dataSet: DataSet
) {
  const { entry, file } = yield* liveOf(layout, dataSet)
  if (file === undefined || !isDefinedOtherwise(dataSet, entry)) return
  const db = yield* DuckDb.memory
  yield* createTables(db, dataSet.tables)
  yield* attachLiveData(db, file)
  yield* columnsToAdd(db, dataSet, liveData)
}, Effect.scoped)

/** Whether the live database has other tables, views or comments than this version defines. */
export const isDefinedOtherwise = (dataSet: DataSet, entry: DataSetEntry | undefined) =>
  entry?.definition !== definitionHash(dataSet)
