/**
 * Marks bundled samples in the comments of a data set's tables, views and macros: DuckDB has no comments on schemas.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
import { aboutSamples } from "./about.ts"

/** Added to the comment of everything in a schema of samples that can be read from. */
const sampleMark = ` ${aboutSamples.description}`

const Unmarked = Schema.Struct({
  kind: Schema.Literals(["table", "view", "macro table"]),
  name: Schema.String,
  comment: Schema.String
})
/** Tables, views and table macros of samples whose comments do not have the mark yet. */
const unmarkedIn = (schema: string) => `
  with found as (
    select 'table' as kind, database_name, schema_name, table_name as name, comment from duckdb_tables()
    union all select 'view', database_name, schema_name, view_name, comment from duckdb_views()
    union all select 'macro table', database_name, schema_name, function_name, comment
      from duckdb_functions() where function_type = 'table_macro'
  )
  select kind, name, comment
  from found
  where schema_name = ${literal(schema)} and database_name = current_database()
    and not ends_with(comment, ${literal(sampleMark)})`

/** Adds the mark to the comments of this schema. */
export const markSamples = Effect.fnUntraced(function* (db: DuckDb["Service"], schema: string) {
  const found = yield* db.all(Unmarked, unmarkedIn(schema))
  const comments = found.map(
    ({ comment, kind, name }) =>
      `comment on ${kind} ${identifier(schema)}.${identifier(name)} is ${literal(comment + sampleMark)}`
  )
  yield* Effect.forEach(comments, (sql) => db.run(sql), { discard: true })
})

const SampleSchema = Schema.Struct({ schema_name: Schema.String })

/** Marks every data set of samples. `ingest.data_set` must exist, because it says which data sets these are. */
export const markAllSamples = Effect.fnUntraced(function* (db: DuckDb["Service"]) {
  const samples = yield* db.all(SampleSchema, "select schema_name from ingest.data_set where is_sample")
  yield* Effect.forEach(samples, ({ schema_name }) => markSamples(db, schema_name), { discard: true })
})
