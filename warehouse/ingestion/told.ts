/** What a generation tells, as a part of `ingest`: that it was made, by whom and why, and what its run went through. */
import type { CheckOutcome, FeedLeftOut, RunRecord } from "@larder/schemas/ingest.ts"
import { Clock, Effect } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { type Event, generationId, madeBy } from "../generation/manifest.ts"
import { checkResultTable, generationTable, leftOutTable, runTable, stagedIngestTables } from "../tables.ts"
import { type Staged, type Told, writeIngestPart } from "./part.ts"

export interface RunTold {
  readonly run: RunRecord
  readonly checks: ReadonlyArray<CheckOutcome>
  readonly leftOut: ReadonlyArray<FeedLeftOut>
  /** Whether it made new parts of its data set. */
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

const generationTold = ({ kind, note, pipeline, run_id, went_back_to }: Event) =>
  Effect.map(Clock.currentTimeMillis, (now): Told => {
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

/** Writes the part of a generation that no run made. */
export const tellOfEvent = (file: string, event: Event) =>
  Effect.flatMap(generationTold(event), (told) => writeIngestPart(file, [told]))

/** Rows of this name tell which runs a rebuild read again: what they told of payloads before does not count any more. */
export const rebuiltRun = "rebuilt_run"

/** Writes the part of a rebuild: what its runs told of payloads is in a database of `ingest` that is attached. */
export const tellOfRebuild = Effect.fnUntraced(function* (
  file: string,
  event: Event,
  db: DuckDb["Service"],
  database: string
) {
  const runs = yield* db.rows(`select run_id from ${database}.ingest.run order by run_id`)
  const rebuilt: Told = {
    table: { ...runTable, name: rebuiltRun },
    rows: runs.map(({ run_id }) => ({ run_id: String(run_id) }))
  }
  yield* writeIngestPart(file, [yield* generationTold(event), rebuilt], { db, database, tables: stagedIngestTables })
})

/** Writes the part of a run. What it staged is in it, where it came that far. */
export const tellOfRun = Effect.fnUntraced(function* (
  file: string,
  { checks, hasChangedData, leftOut, run }: RunTold,
  staged?: Staged
) {
  const { pipeline, run_id } = run
  const told = [
    yield* generationTold(eventOf(run)),
    { table: runTable, rows: [{ ...run, generation: null, has_changed_data: hasChangedData }] },
    { table: checkResultTable, rows: checks.map((check) => ({ run_id, pipeline, ...check })) },
    { table: leftOutTable, rows: leftOut.map((feed) => ({ run_id, pipeline, ...feed })) }
  ]
  yield* writeIngestPart(file, told, staged)
})
