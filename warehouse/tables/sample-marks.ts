/** Marks bundled samples in the comments of a data set's tables, views and macros: DuckDB has no comments on schemas. */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier, literal } from "../duckdb.ts"

/** Texts for a data set with samples. The source's own licence and attribution follow, for values that are not generated. */
export const sampleTexts = {
  description: "Bundled samples: most values are generated. Use none as market data.",
  licence: "Generated values: MIT. All others:",
  attribution: "Generated values: Larder's bundled samples, in the format of the source. All others:"
}

const mark = ` ${sampleTexts.description}`

const Unmarked = Schema.Struct({
  kind: Schema.Literals(["table", "view", "macro table"]),
  name: Schema.String,
  comment: Schema.String
})
const selectUnmarked = (schema: string) => `
  with commented as (
    select 'table' as kind, database_name, schema_name, table_name as name, comment from duckdb_tables()
    union all select 'view', database_name, schema_name, view_name, comment from duckdb_views()
    union all select 'macro table', database_name, schema_name, function_name, comment
      from duckdb_functions() where function_type = 'table_macro'
  )
  select kind, name, comment
  from commented
  where schema_name = ${literal(schema)} and database_name = current_database()
    and not ends_with(comment, ${literal(mark)})`

export const markSamples = Effect.fnUntraced(function* (db: DuckDb["Service"], schema: string) {
  for (const { comment, kind, name } of yield* db.all(Unmarked, selectUnmarked(schema))) {
    yield* db.run(`comment on ${kind} ${identifier(schema)}.${identifier(name)} is ${literal(comment + mark)}`)
  }
})

const SampleSchema = Schema.Struct({ schema_name: Schema.String })

/** Marks every data set that `ingest.data_set`, which must exist, lists as samples. */
export const markAllSamples = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  const samples = yield* db.all(SampleSchema, "select schema_name from ingest.data_set where is_sample")
  for (const { schema_name } of samples) yield* markSamples(db, schema_name)
})
