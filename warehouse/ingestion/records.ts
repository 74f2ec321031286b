/** Writes a part of `ingest`: when, why and by whom a generation was made, and the records of its run. */
import type { CheckOutcome, FeedLeftOut, RunRecord } from "@larder/schemas"
import { Clock, Effect } from "effect"
import { type DuckDb, identifier } from "../duckdb.ts"
import { currentMaker, type GenerationEvent, generationId } from "../generation/manifest.ts"
import {
  checkResultTable,
  generationTable,
  leftOutTable,
  rejectTable,
  runTable,
  stagedIngestTables
} from "../tables/ingest-tables.ts"
import { type QueriedRecords, type TableRecords, writeIngestPart } from "./part.ts"

export interface RecordsOfRun {
  readonly run: RunRecord
  readonly checks: ReadonlyArray<CheckOutcome>
  readonly leftOut: ReadonlyArray<FeedLeftOut>
  readonly hasChangedData: boolean
}

export const eventOf = ({ outcome, pipeline, rows_loaded, run_id }: RunRecord): GenerationEvent => ({
  kind: "run",
  pipeline,
  run_id,
  outcome,
  rows_loaded,
  went_back_to: null,
  note: null
})

/** The event of a rollback or a rebuild, which no single run made. */
export const eventWithoutRun = (
  event: Pick<GenerationEvent, "kind" | "pipeline" | "went_back_to" | "note">
): GenerationEvent => ({ run_id: null, outcome: null, rows_loaded: null, ...event })

const recordsOfGeneration = ({ kind, note, pipeline, run_id, went_back_to }: GenerationEvent) =>
  Effect.map(Clock.currentTimeMillis, (now): TableRecords => {
    const wentBackTo = went_back_to === null ? null : generationId(went_back_to)
    const maker = { made_at: new Date(now).toISOString(), made_by: currentMaker() }
    return { table: generationTable, rows: [{ ...maker, kind, pipeline, run_id, went_back_to: wentBackTo, note }] }
  })

export const writeRecordsOfEvent = (file: string, event: GenerationEvent) =>
  Effect.flatMap(recordsOfGeneration(event), (records) => writeIngestPart(file, [records]))

/** Queries for the rows that runs staged for `ingest`, in the attached `database` if one is named. */
export const stagedRecords = (db: DuckDb["Service"], database?: string): QueriedRecords => {
  const prefix = database === undefined ? "" : `${identifier(database)}.`
  const queries = stagedIngestTables.map(({ name }) => [name, `from ${prefix}ingest.${identifier(name)}`])
  return { db, queries: Object.fromEntries(queries) }
}

/** For a failed run. The first rejects show the cause; without a limit, each attempt could record millions again. */
const maxRejects = 10_000

/** The rows of a run that was not published. Nothing has removed those that it staged twice. */
export const stagedByFailedRun = (db: DuckDb["Service"]): QueriedRecords => {
  const queries = stagedIngestTables.map(({ key, merge, name }) => {
    const kept = `select ${merge.by === "append" ? "min" : "max"}(rowid) from ingest.${name} group by ${key.map(identifier).join(", ")}`
    const limit = name === rejectTable.name ? `limit ${maxRejects}` : ""
    return [name, `from ingest.${name} where rowid in (${kept}) order by rowid ${limit}`]
  })
  return { db, queries: Object.fromEntries(queries) }
}

/** Records under this name list the runs that a rebuild repeated: their new records replace the earlier ones. */
export const rebuiltRun = "rebuilt_run"

/** Queries for the runs that `ingest.run` lacks: only the raw archive still had them. */
const missingRuns = (rebuilt: string, known: string | undefined) => {
  const missing = (table: string) =>
    `from ${rebuilt}.ingest.${table} ${known === undefined ? "" : `where run_id not in (select run_id from ${known}.ingest.run)`}`
  return {
    [runTable.name]: `
      select * exclude (recorded_in, rebuilt_in, rolled_back_by) replace (null as generation),
        generation is not null as has_changed_data
      ${missing("run")} order by run_id`,
    [checkResultTable.name]: `select * replace (examples::varchar as examples) ${missing("check_result")}`
  }
}

/**
 * Queries for what the repeated runs left out. A feed that a run could not reach has no payload to repeat: its record stays
 * as it is.
 */
const repeatedLeftOut = (rebuilt: string, known: string | undefined) => {
  const rows = `from ${rebuilt}.ingest.left_out repeated`
  const unreachable = `from ${known}.ingest.left_out k where k.kind = 'unreachable'`
  return known === undefined
    ? rows
    : `${rows} where not exists (${unreachable} and k.run_id = repeated.run_id and k.feed = repeated.feed)`
}

/**
 * Writes the part of a rebuild: the records of the payloads that it read again, what it left out of them, and the repeated
 * runs that have no record yet. `rebuilt` and `known` are attached databases with the records of the repeated runs, and of
 * all known runs if there are any.
 */
export const writeRecordsOfRebuild = Effect.fnUntraced(function* (
  file: string,
  event: GenerationEvent,
  db: DuckDb["Service"],
  rebuilt: string,
  known: string | undefined
) {
  const queries = {
    [rebuiltRun]: `select run_id from ${rebuilt}.ingest.run order by run_id`,
    ...missingRuns(rebuilt, known),
    [leftOutTable.name]: repeatedLeftOut(rebuilt, known),
    ...stagedRecords(db, rebuilt).queries
  }
  yield* writeIngestPart(file, [yield* recordsOfGeneration(event)], { db, queries })
})

/** Writes the part of a run, with the rows that it staged, if it staged any. */
export const writeRecordsOfRun = Effect.fnUntraced(function* (
  file: string,
  { checks, hasChangedData, leftOut, run }: RecordsOfRun,
  staged?: QueriedRecords
) {
  const { pipeline, run_id } = run
  const records = [
    yield* recordsOfGeneration(eventOf(run)),
    { table: runTable, rows: [{ ...run, generation: null, has_changed_data: hasChangedData }] },
    { table: checkResultTable, rows: checks.map((check) => ({ run_id, pipeline, ...check })) },
    { table: leftOutTable, rows: leftOut.map(({ feed, kind, reason }) => ({ run_id, pipeline, feed, kind, reason })) }
  ]
  yield* writeIngestPart(file, records, staged)
})
