/**
 * Whether the live database of a data set was built with the same definitions. Both are open: the staging file, which this version
 * has just defined, and the live one, attached as `live_data`.
 */
import { Effect } from "effect"
import { columnsToAdd } from "../columns-by-name.ts"
import { define } from "../dictionary.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { attachLiveData, liveData } from "../live/live-tables.ts"
import { liveOf } from "../live/previous.ts"
import { sampleMark } from "../sample-marks.ts"
import type { DataSet } from "../tables.ts"

type Db = DuckDb["Service"]

/** Fails where what is live is damaged, of a newer version, or has tables that this one cannot publish to: before a run fetches anything. */
export const requirePublishable = Effect.fn("Definitions.requirePublishable")(function* (
  layout: Layout,
  dataSet: DataSet
) {
  const { file } = yield* liveOf(layout, dataSet)
  if (file === undefined) return
  const db = yield* DuckDb.memory
  yield* define(db, dataSet)
  yield* attachLiveData(db, file)
  yield* columnsToAdd(db, dataSet, liveData)
}, Effect.scoped)

/** What a comment says of samples is of the data, not of the definition. */
const comment = `replace(comment, ${literal(sampleMark)}, '') as comment`

const macros = (ours: string) => `
  union all select database_name, schema_name, function_name, null, macro_definition, ${comment}
    from duckdb_functions() where ${ours}`

/** Each is listed once for both databases. DuckDB lists the thousands of functions that it brings along, too, in 20 ms. */
const definitions = (schema: string, hasMacros: boolean) => {
  const ours = `database_name in (current_database(), 'live_data') and schema_name = ${literal(schema)}`
  return `
  select database_name, schema_name, table_name as name, column_name as part, data_type as definition, ${comment}
    from duckdb_columns() where ${ours}
  union all select database_name, schema_name, table_name, null, 'table', ${comment} from duckdb_tables() where ${ours}
  union all select database_name, schema_name, view_name, null, sql, ${comment} from duckdb_views() where ${ours}
  ${hasMacros ? macros(ours) : ""}`
}

/** Whether this version defines a table, a view or a comment that the live database does not have. */
export const haveDefinitionsChanged = Effect.fnUntraced(function* (db: Db, { schema, views }: DataSet) {
  const hasMacros = views.some(({ record }) => record === undefined)
  const changed = yield* db.rows(
    `with defined as materialized (${definitions(schema, hasMacros)})
     select * exclude (database_name) from defined where database_name <> 'live_data'
     except select * exclude (database_name) from defined where database_name = 'live_data'
     limit 1`
  )
  return changed.length > 0
})
