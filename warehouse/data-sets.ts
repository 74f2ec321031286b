/**
 * What a generation says of its data sets in `ingest.data_set`: where their rows came from, and whether they are samples. It
 * is worked out from the runs of the generation, which also tells of generations from before there was such a table.
 */
import { DataSetRow } from "@larder/schemas/ingest.ts"
import { Effect, Schema } from "effect"
import { aboutSamples } from "./about.ts"
import { type DuckDb, identifier, literal } from "./duckdb.ts"
import { cellsOf, type DataSet, dataSets, dataSetTable } from "./tables.ts"

type Db = DuckDb["Service"]
type Row = typeof DataSetRow.Type

const name = `${dataSetTable.schema}.${dataSetTable.name}`

const OfRuns = Schema.Struct({
  pipeline: Schema.String,
  origin: DataSetRow.fields.origin,
  generation: Schema.String
})
/** Ids of generations are not ordered as texts beyond the millionth. */
const ofRuns = `
  select pipeline,
    case
      when bool_or(origin = 'sample' and rows_loaded > 0) then 'sample'
      when bool_or(origin = 'live' and rows_loaded > 0) then 'live'
      else coalesce(arg_max(origin, run_id) filter (where rows_loaded > 0), arg_max(origin, run_id))
    end as origin,
    arg_max(generation, regexp_extract(generation, '\\d+')::bigint) as generation
  from ingest.run
  where generation is not null
  group by pipeline`

const Newest = Schema.Struct({ pipeline: Schema.String, newest_on: DataSetRow.fields.newest_on })
const newestOf = (of: ReadonlyArray<DataSet>) =>
  of
    .map(
      ({ about: { newest, pipeline } }) =>
        `select ${literal(pipeline)} as pipeline, (${newest.day})::varchar as newest_on from ${newest.table}`
    )
    .join(" union all ")

/** The rows of these data sets, all of which the database has. */
const rowsOf = Effect.fnUntraced(function* (db: Db, of: ReadonlyArray<DataSet>) {
  const runs = yield* db.all(OfRuns, ofRuns)
  const newest = new Map((yield* db.all(Newest, newestOf(of))).map((row) => [row.pipeline, row.newest_on]))
  return of.flatMap(({ about, schema }): ReadonlyArray<Row> => {
    const { attribution, description, licence, pipeline, source_url, title } = about
    const run = runs.find((run) => run.pipeline === pipeline)
    if (run === undefined) return []
    const { generation, origin } = run
    const is_sample = origin === "sample"
    const told = is_sample
      ? {
          attribution: `${aboutSamples.attribution} ${attribution}`,
          description: `${description} ${aboutSamples.description}`,
          licence: `${aboutSamples.licence} ${licence}`
        }
      : { attribution, description, licence }
    const newest_on = newest.get(pipeline) ?? null
    return [{ pipeline, schema_name: schema, title, ...told, origin, is_sample, source_url, newest_on, generation }]
  })
})

const Named = Schema.Struct({ name: Schema.String })
const tablesIn = (db: Db) =>
  Effect.map(
    db.all(
      Named,
      "select schema_name || '.' || table_name as name from duckdb_tables() where database_name = current_database()"
    ),
    (tables) => new Set(tables.map(({ name }) => name))
  )
const presentIn = (tables: ReadonlySet<string>, of: ReadonlyArray<DataSet>) =>
  of.filter(
    ({ about, tables: own }) =>
      tables.has(about.newest.table) && own.some(({ name, schema }) => tables.has(`${schema}.${name}`))
  )

/** Said of everything in a schema of samples that can be read from, as DuckDB takes no comment on a schema. */
export const sampleMark = ` ${aboutSamples.description}`

const Unmarked = Schema.Struct({
  kind: Schema.Literals(["table", "view", "macro table"]),
  schema_name: Schema.String,
  name: Schema.String,
  comment: Schema.String
})
/** Tables, views and table macros of samples, whose comments do not say so yet. */
const unmarked = `
  with found as (
    select 'table' as kind, database_name, schema_name, table_name as name, comment from duckdb_tables()
    union all select 'view', database_name, schema_name, view_name, comment from duckdb_views()
    union all select 'macro table', database_name, schema_name, function_name, comment
      from duckdb_functions() where function_type = 'table_macro'
  )
  select kind, schema_name, name, comment
  from found
  semi join (from ingest.data_set where is_sample) using (schema_name)
  where database_name = current_database() and not ends_with(comment, ${literal(sampleMark)})`

const markSamples = Effect.fnUntraced(function* (db: Db) {
  const found = yield* db.all(Unmarked, unmarked)
  const comments = found.map(
    ({ comment, kind, name, schema_name }) =>
      `comment on ${kind} ${identifier(schema_name)}.${identifier(name)} is ${literal(comment + sampleMark)}`
  )
  yield* Effect.forEach(comments, (sql) => db.run(sql), { discard: true })
})

/** Writes the rows of all data sets that a generation has, and says in the comments of what they hold which are samples. */
export const describeDataSets = Effect.fnUntraced(function* (db: Db, published: DataSet) {
  const known = [published, ...dataSets.filter(({ schema }) => schema !== published.schema)]
  const of = presentIn(yield* tablesIn(db), known)
  if (of.length === 0) return
  const rows = yield* rowsOf(db, of)
  const pipelines = of.map(({ about }) => literal(about.pipeline)).join(", ")
  yield* db.run(`delete from ${name} where pipeline in (${pipelines})`)
  yield* db.append(dataSetTable.schema, dataSetTable.name, cellsOf(dataSetTable, rows))
  if (rows.some(({ is_sample }) => is_sample)) yield* markSamples(db)
})

const kept = `select * replace (newest_on::varchar as newest_on) from ${name}`

/** The rows of a generation, also of one that was published before there was a table of them. */
export const dataSetsOf = Effect.fnUntraced(function* (db: Db) {
  const tables = yield* tablesIn(db)
  if (tables.has(name)) return yield* db.all(DataSetRow, kept)
  const of = presentIn(tables, dataSets)
  return tables.has("ingest.run") && of.length > 0 ? yield* rowsOf(db, of) : []
})
