/**
 * Fills the tables of `ingestion.duckdb` with the records of all parts of `ingest`, in the order of their generations.
 * The records of a rebuild replace those of the runs that it repeated, and add runs that have no other records. If the
 * rebuild was rolled back, its records do not count.
 */
import { DataSetRow } from "@larder/schemas"
import { Effect, Schema } from "effect"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
import { generationId, generationIdSql, generationNumberSql, isLoaded, type Manifest } from "../generation/manifest.ts"
import { generationTable, leftOutTable, recordTables, runTable, stagedIngestTables } from "../tables/ingest-tables.ts"
import { sampleTexts } from "../tables/sample-marks.ts"
import type { About, DataSet, Table } from "../tables/tables.ts"
import type { IngestPartFile } from "./part.ts"
import { rebuiltRun } from "./records.ts"

type Db = DuckDb["Service"]

/** SQL for a table with the ranges of generations that were rolled back. The other statements here read it. */
export const createUndoneTable = ({ data_sets }: Manifest) => {
  const spans = Object.entries(data_sets).flatMap(([pipeline, entry]) =>
    entry.undone.map(({ by, first, last }) => `(${literal(pipeline)}, ${first}, ${last}, ${literal(generationId(by))})`)
  )
  return [
    `create or replace temp table undone
       (pipeline varchar, from_number integer, to_number integer, rolled_back_by varchar)`,
    ...(spans.length === 0 ? [] : [`insert into undone values ${spans.join(", ")}`])
  ].join(";\n")
}

/** The rollback that undid a generation of a pipeline; null if none did. */
const selectUndoneBy = (pipeline: string, number: string) => `(
  select min(rolled_back_by) from undone
  where undone.pipeline = ${pipeline} and ${number} between from_number and to_number)`
const numberOf = generationNumberSql("generation")

const selectChangedRebuilds = `
  select generation from ingest.generation
  where kind = 'rebuild' and (rolled_back_by is null) <> (${selectUndoneBy("generation.pipeline", numberOf)} is null) limit 1`

/** Whether a rebuild was rolled back, or became live again, since the rows were added. Then they are made again. */
export const hasRebuildChanged = (db: Db) =>
  Effect.map(db.rows(selectChangedRebuilds), (rebuilds) => rebuilds.length > 0)

/** Reads a column of a table from a line. A row has the generation of its line. */
const columnExpression = (table: Table, column: string) => {
  const id = generationIdSql("generation")
  if (table === generationTable && column === "generation") return id
  if (table === runTable && column === "generation") return `if((row->>'has_changed_data') = 'true', ${id}, null)`
  if (table === runTable && column === "recorded_in") return id
  return `(row->>${literal(column)})`
}

const insertStatement = (table: Table) => {
  const columns = Object.keys(table.record.fields)
  return `insert into ingest.${identifier(table.name)} (${columns.map(identifier).join(", ")})
    select ${columns.map((column) => columnExpression(table, column)).join(", ")} from line where "table" = ${literal(table.name)}`
}

/** In bytes: a row of a payload may be very long. */
const maxLineLength = 128 * 2 ** 20

/** SQL for a table of the lines, in the order of the parts and of the lines in each. */
const createLineTable = (parts: ReadonlyArray<IngestPartFile>, after: number) => {
  const files = parts.map(({ file }) => literal(file)).join(", ")
  const firsts = `map {${parts.map(({ file, first }) => `${literal(file)}: ${first}`).join(", ")}}`
  const generation = `coalesce(generation, ${firsts}[filename])`
  return `
   create or replace temp table line as
   select ${generation} as generation, "table", row
   from read_json([${files}], format = 'newline_delimited', compression = 'gzip', maximum_object_size = ${maxLineLength},
     filename = true, hive_partitioning = false, columns = {generation: 'INTEGER', "table": 'VARCHAR', row: 'JSON'})
   where ${generation} > ${after}`
}

/** Removes the lines of rebuilds that were rolled back, except the record of the generation itself. */
const removeUndoneRebuilds = `
  delete from line using line rebuild
  where rebuild."table" = '${generationTable.name}' and (rebuild.row->>'kind') = 'rebuild'
    and ${selectUndoneBy("(rebuild.row->>'pipeline')", "rebuild.generation")} is not null
    and line.generation = rebuild.generation and line."table" <> '${generationTable.name}'`

/**
 * The records of payloads that a rebuild read again, and of what it left out of them, replace those of the runs that read
 * them first. A feed that could not be reached then has no payload: its record stays.
 */
const replaceRebuilt = [...stagedIngestTables, leftOutTable].flatMap(({ name }) => {
  const isLeftOut = name === leftOutTable.name
  return [
    `delete from ingest.${name} where run_id in (select (row->>'run_id') from line where "table" = '${rebuiltRun}')
     ${isLeftOut ? "and kind <> 'unreachable'" : ""}`,
    `delete from line earlier using line rebuilt
     where rebuilt."table" = '${rebuiltRun}' and earlier."table" = '${name}' and earlier.generation < rebuilt.generation
       and (earlier.row->>'run_id') = (rebuilt.row->>'run_id')
       ${isLeftOut ? "and (earlier.row->>'kind') <> 'unreachable'" : ""}`
  ]
})

const markRebuilt = `
  update ingest.run set rebuilt_in = rebuilt.generation
  from (
    select (row->>'run_id') as run_id, ${generationIdSql("max(generation)")} as generation
    from line where "table" = '${rebuiltRun}' group by all
  ) rebuilt
  where rebuilt.run_id = run.run_id`

const NonEmpty = Schema.Struct({ table: Schema.String })

/**
 * Adds the records of the parts that belong to generations after `after`, in the order of the parts. Runs statements
 * only for the tables that have rows: in most parts these are few.
 */
export const addRecords = Effect.fnUntraced(function* (db: Db, parts: ReadonlyArray<IngestPartFile>, after: number) {
  yield* db.run(createLineTable(parts, after))
  const nonEmpty = new Set((yield* db.all(NonEmpty, 'select distinct "table" from line')).map(({ table }) => table))
  const hasRebuilt = nonEmpty.has(rebuiltRun)
  const statements = [
    ...(hasRebuilt ? [removeUndoneRebuilds, ...replaceRebuilt] : []),
    ...recordTables.filter(({ name }) => nonEmpty.has(name)).map(insertStatement),
    ...(hasRebuilt ? [markRebuilt] : [])
  ]
  yield* db.run(["begin", ...statements, "drop table line", "commit"].join(";\n"))
})

/** Marks the generations and runs from which the live data does not descend. */
export const markRolledBack = [
  `update ingest.generation set rolled_back_by = m.rolled_back_by
   from (select generation, ${selectUndoneBy("g.pipeline", numberOf)} as rolled_back_by from ingest.generation g) m
   where m.generation = generation.generation and m.rolled_back_by is distinct from generation.rolled_back_by`,
  `update ingest.run set rolled_back_by = g.rolled_back_by from ingest.generation g
   where g.generation = run.recorded_in and g.rolled_back_by is distinct from run.rolled_back_by`
]

/** `sample` if any row is a sample, otherwise `live` if any row is from the network. */
const combineOrigins = (origins: ReadonlyArray<(typeof DataSetRow.Type)["origin"]>) =>
  (["sample", "live", "replay"] as const).find((origin) => origins.includes(origin)) ?? "replay"

const Newest = Schema.Struct({ newest_on: DataSetRow.fields.newest_on })
/** The newest day of a data set, from a database that has its table; null if there is none. */
export const selectNewest = Effect.fnUntraced(function* (db: Db, { day, table }: About["newest"]) {
  const [row] = yield* db.all(Newest, `select (${day})::varchar as newest_on from ${table}`)
  return row?.newest_on ?? null
})

/** Rows of `ingest.data_set`, one for each live data set. Some newest days come from the reads in `db`. */
export const dataSetRows = Effect.fnUntraced(function* (
  db: Db,
  { data_sets }: Manifest,
  dataSets: ReadonlyArray<DataSet>
) {
  const rows: Array<typeof DataSetRow.Type> = []
  for (const { about, schema } of dataSets) {
    const { attribution, description, licence, newest, pipeline, source_url, title } = about
    const entry = data_sets[pipeline]
    if (!isLoaded(entry)) continue
    const origin = combineOrigins(entry.origins)
    const is_sample = origin === "sample"
    const sampleAbout = {
      attribution: `${sampleTexts.attribution} ${attribution}`,
      description: `${description} ${sampleTexts.description}`,
      licence: `${sampleTexts.licence} ${licence}`
    }
    rows.push({
      pipeline,
      schema_name: schema,
      title,
      ...(is_sample ? sampleAbout : { attribution, description, licence }),
      origin,
      is_sample,
      source_url,
      newest_on: newest.in === "data" ? entry.newest_on : yield* selectNewest(db, newest),
      generation: generationId(entry.changed_in)
    })
  }
  return rows
})
