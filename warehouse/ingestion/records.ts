/**
 * The records of a generation, as a part of `ingest`: when, why and by which user it was made, and the records of its
 * run.
 */
import type { CheckOutcome, FeedLeftOut, RunRecord } from "@larder/schemas"
import { Clock, Effect } from "effect"
import { type DuckDb, identifier } from "../duckdb.ts"
import { type Event, generationId, madeBy } from "../generation/manifest.ts"
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
  /** Whether the run made new parts of its data set. */
  readonly hasChangedData: boolean
}

export const eventOf = ({ outcome, pipeline, rows_loaded, run_id }: RunRecord): Event => ({
  kind: "run",
  pipeline,
  run_id,
  outcome,
  rows_loaded,
  went_back_to: null,
  note: null
})

const recordsOfGeneration = ({ kind, note, pipeline, run_id, went_back_to }: Event) =>
  Effect.map(Clock.currentTimeMillis, (now): TableRecords => {
    const row = {
      made_at: new Date(now).toISOString(),
      made_by: madeBy(),
      kind,
      pipeline,
      run_id,
      went_back_to: went_back_to === null ? null : generationId(went_back_to),
      note
    }
    return { table: generationTable, rows: [row] }
  })

/** Writes the part of a generation that no run made, such as that of a rollback. */
export const writeRecordsOfEvent = (file: string, event: Event) =>
  Effect.flatMap(recordsOfGeneration(event), (records) => writeIngestPart(file, [records]))

/** The rows that runs staged for `ingest`. `database` names their database if it is attached beside another. */
export const stagedIn = (db: DuckDb["Service"], database?: string): QueriedRecords => {
  const prefix = database === undefined ? "" : `${identifier(database)}.`
  return {
    db,
    rows: Object.fromEntries(stagedIngestTables.map(({ name }) => [name, `from ${prefix}ingest.${identifier(name)}`]))
  }
}

/**
 * Maximum number of rejects that are recorded for a failed run. The first ones show the cause; without a limit, every
 * further attempt could record millions again.
 */
const maxRejects = 10_000

/** The rows that a failed run had staged. */
export const stagedByFailed = (db: DuckDb["Service"]): QueriedRecords => {
  const { rows } = stagedIn(db)
  return { db, rows: { ...rows, [rejectTable.name]: `${rows[rejectTable.name]} limit ${maxRejects}` } }
}

/**
 * Records of this name list the runs whose payloads a rebuild read again: their new records replace the earlier ones.
 */
export const rebuiltRun = "rebuilt_run"

/** Records of the runs that `ingest.run` lacks: only their lines in the raw archive were left. */
const lackedRuns = (made: string, known: string | undefined) => {
  const lacked = (table: string) =>
    `from ${made}.ingest.${table} ${known === undefined ? "" : `where run_id not in (select run_id from ${known}.ingest.run)`}`
  return {
    [runTable.name]: `
      select * exclude (recorded_in, rebuilt_in, rolled_back_by) replace (null as generation),
        generation is not null as has_changed_data
      ${lacked("run")} order by run_id`,
    [checkResultTable.name]: `select * replace (examples::varchar as examples) ${lacked("check_result")}`,
    [leftOutTable.name]: lacked("left_out")
  }
}

/**
 * Attached databases of `ingest`: that of the repeated runs, and that of the known runs, which is undefined if there
 * are none.
 */
interface Rebuilt {
  readonly db: DuckDb["Service"]
  readonly made: string
  readonly known: string | undefined
}

/**
 * Writes the part of a rebuild: the records of the payloads that it read again, and those of its runs that have none
 * yet.
 */
export const writeRecordsOfRebuild = Effect.fnUntraced(function* (
  file: string,
  event: Event,
  { db, known, made }: Rebuilt
) {
  yield* writeIngestPart(file, [yield* recordsOfGeneration(event)], {
    db,
    rows: {
      [rebuiltRun]: `select run_id from ${made}.ingest.run order by run_id`,
      ...lackedRuns(made, known),
      ...stagedIn(db, made).rows
    }
  })
})

/** Writes the part of a run, with the rows that it staged, if it got that far. */
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
    { table: leftOutTable, rows: leftOut.map((feed) => ({ run_id, pipeline, ...feed })) }
  ]
  yield* writeIngestPart(file, records, staged)
})
