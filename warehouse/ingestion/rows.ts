/**
 * The rows of `ingestion.duckdb`: the records of all parts of `ingest`, in the order of their generations. The records
 * of a rebuild replace those of earlier runs that read the same payloads, and add runs that have no other records. If
 * the rebuild was rolled back, its records do not count.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier, literal } from "../duckdb.ts"
import { generationId, type Manifest } from "../generation/manifest.ts"
import { generationTable, recordTables, runTable, stagedIngestTables } from "../tables/ingest-tables.ts"
import type { Table } from "../tables/tables.ts"
import type { IngestPartFile } from "./part.ts"
import { rebuiltRun } from "./records.ts"

type Db = DuckDb["Service"]

/** Creates a table `undone` with the ranges of generations that were rolled back. The other statements here read it. */
export const showUndone = ({ data_sets }: Manifest) => {
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
const undoneBy = (pipeline: string, number: string) => `(
  select min(rolled_back_by) from undone
  where undone.pipeline = ${pipeline} and ${number} between from_number and to_number)`
const numberOf = "substr(generation, length('larder-') + 1)::integer"

const rebuildsOtherwise = `
  select generation from ingest.generation
  where kind = 'rebuild' and (rolled_back_by is null) <> (${undoneBy("generation.pipeline", numberOf)} is null) limit 1`

/**
 * Whether a rebuild was rolled back, or became live again, since the rows were added. Then these rows are not the ones
 * that count, and only the parts have those.
 */
export const areOfAnotherRebuild = (db: Db) => Effect.map(db.rows(rebuildsOtherwise), (rebuilds) => rebuilds.length > 0)

/** How a column of a table is read from a line. A row has the generation of its line. */
const cellOf = (table: Table, column: string) => {
  const id = "printf('larder-%06d', generation)"
  if (table === generationTable && column === "generation") return id
  if (table === runTable && column === "generation") return `if((row->>'has_changed_data') = 'true', ${id}, null)`
  if (table === runTable && column === "recorded_in") return id
  return `(row->>${literal(column)})`
}

const addRows = (table: Table) => {
  const columns = Object.keys(table.record.fields)
  return `insert into ingest.${identifier(table.name)} (${columns.map(identifier).join(", ")})
    select ${columns.map((column) => cellOf(table, column)).join(", ")} from line where "table" = ${literal(table.name)}`
}

/** Maximum line length in bytes: a row of a payload may be very long. */
const longestLine = 128 * 2 ** 20

/** Reads the lines, in the order of the parts and of the lines in each. */
const readParts = (parts: ReadonlyArray<IngestPartFile>, after: number) => {
  const files = parts.map(({ file }) => literal(file)).join(", ")
  const firsts = `map {${parts.map(({ file, first }) => `${literal(file)}: ${first}`).join(", ")}}`
  const generation = `coalesce(generation, ${firsts}[filename])`
  return `
   create or replace temp table line as
   select ${generation} as generation, "table", row
   from read_json([${files}], format = 'newline_delimited', compression = 'gzip', maximum_object_size = ${longestLine},
     filename = true, hive_partitioning = false, columns = {generation: 'INTEGER', "table": 'VARCHAR', row: 'JSON'})
   where ${generation} > ${after}`
}

/** Removes the lines of rebuilds that were rolled back, except the record of the generation itself. */
const leaveOutUndone = `
  delete from line using line rebuild
  where rebuild."table" = '${generationTable.name}' and (rebuild.row->>'kind') = 'rebuild'
    and ${undoneBy("(rebuild.row->>'pipeline')", "rebuild.generation")} is not null
    and line.generation = rebuild.generation and line."table" <> '${generationTable.name}'`

/** The records of payloads that a rebuild read again replace those of the runs that read them first. */
const replaceRebuilt = stagedIngestTables.flatMap(({ name }) => [
  `delete from ingest.${name} where run_id in (select (row->>'run_id') from line where "table" = '${rebuiltRun}')`,
  `delete from line earlier using line rebuilt
   where rebuilt."table" = '${rebuiltRun}' and earlier."table" = '${name}' and earlier.generation < rebuilt.generation
     and (earlier.row->>'run_id') = (rebuilt.row->>'run_id')`
])

const noteRebuilt = `
  update ingest.run set rebuilt_in = rebuilt.generation
  from (
    select (row->>'run_id') as run_id, printf('larder-%06d', max(generation)) as generation
    from line where "table" = '${rebuiltRun}' group by all
  ) rebuilt
  where rebuilt.run_id = run.run_id`

const Named = Schema.Struct({ table: Schema.String })
const tablesOfLines = 'select distinct "table" from line'

/**
 * Adds the records of the parts that belong to generations after `after`, in the order of the parts. Runs statements
 * only for the tables that have rows: in most parts these are few.
 */
export const addRecords = Effect.fnUntraced(function* (db: Db, parts: ReadonlyArray<IngestPartFile>, after: number) {
  yield* db.run(readParts(parts, after))
  const named = new Set((yield* db.all(Named, tablesOfLines)).map(({ table }) => table))
  const hasRebuilt = named.has(rebuiltRun)
  const statements = [
    ...(hasRebuilt ? [leaveOutUndone, ...replaceRebuilt] : []),
    ...recordTables.filter(({ name }) => named.has(name)).map(addRows),
    ...(hasRebuilt ? [noteRebuilt] : [])
  ]
  yield* db.run(["begin", ...statements, "drop table line", "commit"].join(";\n"))
})

/** Marks the generations and runs from which the live data does not descend. */
export const markRolledBack = [
  `update ingest.generation set rolled_back_by = now.rolled_back_by
   from (select generation, ${undoneBy("g.pipeline", numberOf)} as rolled_back_by from ingest.generation g) now
   where now.generation = generation.generation and now.rolled_back_by is distinct from generation.rolled_back_by`,
  `update ingest.run set rolled_back_by = g.rolled_back_by from ingest.generation g
   where g.generation = run.recorded_in and g.rolled_back_by is distinct from run.rolled_back_by`
]
