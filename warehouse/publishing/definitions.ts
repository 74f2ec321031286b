/**
 * Whether the live database of a data set was built with the same definitions. Both are open: the staging file, which this version
 * has just defined, and the live one, attached as `live_data`.
 */
import { Effect, Schema } from "effect"
import { define } from "../dictionary.ts"
import { DuckDb, literal } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { type AddedColumn, attachLiveData } from "../live/live-tables.ts"
import { liveDatabase } from "../live/previous.ts"
import { sampleMark } from "../sample-marks.ts"
import type { DataSet } from "../tables.ts"

type Db = DuckDb["Service"]

/** The live tables have other columns, in a way that no publication can mend. */
export class TablesDiffer extends Schema.TaggedError<TablesDiffer>()("TablesDiffer", {
  pipeline: Schema.String,
  differences: Schema.Array(Schema.String)
}) {
  override get message() {
    const shown = this.differences.slice(0, 3).join("; ")
    return `What is live of ${this.pipeline} was published by another version of Larder: ${shown}. Nothing was published. Make it anew from the raw archive with: npx larder-ingest rebuild ${this.pipeline}`
  }
}

const columnsOf = (database: string, schema: string) => `
  select table_name as "table", column_name, column_index, data_type, is_nullable
  from duckdb_columns() semi join duckdb_tables() using (database_name, schema_name, table_name)
  where database_name = ${database} and schema_name = ${literal(schema)}`

const Difference = Schema.Struct({
  table: Schema.String,
  column_name: Schema.String,
  wanted: Schema.NullOr(Schema.String),
  found: Schema.NullOr(Schema.String),
  /** The column comes after those that are there, and may be null: the next publication adds it. */
  is_addable: Schema.Boolean
})
type Difference = typeof Difference.Type

/** A table that the live database lacks is made by the next publication. */
const differences = (schema: string) => `
  with wanted as (${columnsOf("current_database()", schema)}), found as (${columnsOf("'live_data'", schema)}),
  counted as (select "table", count(*) as columns from found group by "table")
  select "table", column_name,
    wanted.column_index || ': ' || wanted.data_type || if(wanted.is_nullable, '', ' not null') as wanted,
    found.column_index || ': ' || found.data_type || if(found.is_nullable, '', ' not null') as found,
    coalesce(found.data_type is null and wanted.is_nullable and wanted.column_index > columns, false) as is_addable
  from wanted full join found using ("table", column_name) join counted using ("table")
  where (wanted.column_index, wanted.data_type, wanted.is_nullable)
    is distinct from (found.column_index, found.data_type, found.is_nullable)
  order by "table", coalesce(wanted.column_index, found.column_index)`

const told = ({ column_name, found, table, wanted }: Difference, schema: string) =>
  `column ${schema}.${table}.${column_name} is ${found ?? "missing"} there, and ${wanted ?? "missing"} here`

/** Columns that the live database lacks. Fails where it differs otherwise. */
export const columnsToAdd = Effect.fnUntraced(function* (db: Db, { about, schema }: DataSet) {
  const all = yield* db.all(Difference, differences(schema))
  const others = all.filter(({ is_addable }) => !is_addable)
  if (others.length > 0) {
    return yield* new TablesDiffer({ pipeline: about.pipeline, differences: others.map((one) => told(one, schema)) })
  }
  return all.map(({ column_name, table, wanted }): AddedColumn => {
    return { table, column: column_name, type: wanted?.replace(/^\d+: /, "") ?? "varchar" }
  })
})

/** Fails where what is live is damaged, or has tables that this version cannot publish to: before a run fetches anything. */
export const requirePublishable = Effect.fn("Definitions.requirePublishable")(function* (
  layout: Layout,
  dataSet: DataSet
) {
  const live = yield* liveDatabase(layout, dataSet)
  if (live === undefined) return
  const db = yield* DuckDb.memory
  yield* define(db, dataSet)
  yield* attachLiveData(db, live)
  yield* columnsToAdd(db, dataSet)
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
