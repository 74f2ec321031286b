/** Reads runs from `ingestion.duckdb`, which has all of them, including failed ones. What is late is in `ingest.freshness`. */
import { LeftOut, Run, RunRecord } from "@larder/schemas"
import { Effect, FileSystem, Schema, Struct } from "effect"
import { dataSets } from "../data-sets.ts"
import { listObjectTimes } from "../depot/depot.ts"
import { DuckDb, type Params } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { generationNumberSql, isLoaded, readKeptManifests } from "../generation/manifest.ts"
import { timestampToText } from "../read-models/json-expressions.ts"
import { refreshOpened } from "./opened-files.ts"

export const timestampColumn = (column: string) => `${timestampToText(column)} as ${column}`

/** Columns of `ingest.run`. */
export const runColumns = `
  run_id, pipeline, origin, outcome, ${timestampColumn("started_at")}, ${timestampColumn("finished_at")}, generation,
  window_from::varchar as window_from, window_to::varchar as window_to, rows_read::integer as rows_read,
  rows_loaded::integer as rows_loaded, rows_unchanged::integer as rows_unchanged,
  rows_rejected::integer as rows_rejected, message, recorded_in, rebuilt_in, rolled_back_by`

/** By the generation that recorded a run, because the id of a run depends on the clock of its machine. */
export const newestFirst = "recorded_in desc, run_id desc"

/** The newest runs of each pipeline: for each outcome, one that read rows and one that did not. */
const selectNewest = `
  select ${runColumns}
  from ingest.run
  qualify row_number() over (
    partition by pipeline, outcome, coalesce(rows_read, 0) > 0 order by ${newestFirst}
  ) = 1
  order by ${newestFirst}`

/** Whether a run failed, or skipped feeds and read nothing. */
export const hasFailed = ({ outcome, rows_read }: RunRecord): boolean =>
  outcome === "failed" || outcome === "checks_failed" || (outcome === "partial" && rows_read === 0)

const toStates = (runs: ReadonlyArray<typeof Run.Type>) =>
  dataSets.map(({ about: { pipeline, title } }) => {
    const runsOfPipeline = runs.filter((run) => run.pipeline === pipeline)
    const [newest] = runsOfPipeline
    const last_run = runsOfPipeline.find(({ outcome }) => outcome !== "interrupted") ?? newest
    return {
      pipeline,
      title,
      /** When the newest run started, even if it was interrupted. */
      last_started_at: newest?.started_at,
      /** The newest run that was not interrupted, because interruptions do not come from the source. Otherwise the newest. */
      last_run,
      /** The newest run that did not fail, even if it left something out or found nothing new. */
      last_success: runsOfPipeline.find((run) => run.outcome !== "interrupted" && !hasFailed(run))
    }
  })

export type PipelineState = Readonly<ReturnType<typeof toStates>[number]>

/** The state of every pipeline. `ingest` has the tables of schema `ingest`. */
export const readPipelineStates = (ingest: DuckDb["Service"]) => Effect.map(ingest.all(Run, selectNewest), toStates)

/** Selects from `ingestion.duckdb`; no rows if it does not exist yet. */
const selectFromIngestion = Effect.fnUntraced(function* <S extends Schema.Constraint>(
  layout: Layout,
  row: S,
  sql: string,
  params?: Params
) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(layout.ingestion))) return []
  const db = yield* DuckDb.readOnly(layout.ingestion)
  return yield* db.all(row, sql, params)
}, Effect.scoped)

/** Updates `ingestion.duckdb` first, because a run may have been killed before it did, and fails if that fails. */
const selectFresh = <S extends Schema.Constraint>(layout: Layout, row: S, sql: string, params?: Params) =>
  Effect.andThen(refreshOpened(layout), selectFromIngestion(layout, row, sql, params))

/** The current state of every pipeline. Updates `ingestion.duckdb`, because a run may have been killed before it did. */
export const readLiveStates = Effect.fnUntraced(function* (layout: Layout) {
  yield* refreshOpened(layout).pipe(
    Effect.catch((error) => Effect.logWarning(`the newest runs may be missing here: ${error.message}`))
  )
  return toStates(yield* selectFromIngestion(layout, Run, selectNewest))
})

const LiveLeftOut = LeftOut.mapFields(Struct.pick(["pipeline", "feed", "kind", "reason"]))

/** What is left out of the live data: what the last runs did not read, and the parts that are missing. */
export const readLiveLeftOut = (layout: Layout) =>
  selectFromIngestion(
    layout,
    LiveLeftOut,
    `select pipeline, feed, kind, reason from ingest.live_left_out
     order by pipeline, kind <> 'partial', feed, kind, run_id` // of a long list of stores, some are always unreachable
  )

const RunIds = Schema.Struct({
  run_id: Schema.String,
  has_published: Schema.Boolean,
  is_rolled_back: Schema.Boolean
})

/** Ids of runs, oldest first: published and not rolled back, rolled back, and all. */
export const listRunIds = Effect.fnUntraced(function* (layout: Layout) {
  const runs = yield* selectFresh(
    layout,
    RunIds,
    `select run_id, generation is not null as has_published, rolled_back_by is not null as is_rolled_back
     from ingest.run order by recorded_in, run_id`
  )
  const ids = (selected: typeof runs) => new Set(selected.map(({ run_id }) => run_id))
  return {
    published: ids(runs.filter(({ has_published, is_rolled_back }) => has_published && !is_rolled_back)),
    rolledBack: ids(runs.filter(({ is_rolled_back }) => is_rolled_back)),
    recorded: ids(runs)
  }
})

/** If the live data set was rebuilt, it has the rows of the runs that the rebuild repeated, and of later ones. */
const selectContributing = `
  with rebuild as (
    select max(generation) as generation from ingest.generation
    where kind = 'rebuild' and pipeline = $pipeline and rolled_back_by is null
  )
  select run_id from ingest.run, rebuild
  where pipeline = $pipeline and run.generation is not null and rolled_back_by is null
    and (rebuild.generation is null or rebuilt_in = rebuild.generation or recorded_in > rebuild.generation)
  order by recorded_in, run_id`

/** Ids of the runs that published rows from which the live data set descends, oldest first. */
export const listContributingRuns = Effect.fnUntraced(function* (layout: Layout, pipeline: string) {
  const row = Schema.Struct({ run_id: Schema.String })
  const runs = yield* selectFresh(layout, row, selectContributing, { pipeline })
  return runs.map(({ run_id }) => run_id)
})

const PastRun = Schema.Struct({
  run_id: Schema.String,
  pipeline: Schema.String,
  outcome: Run.fields.outcome,
  started_at: Schema.String,
  rolled_back_by: Schema.NullOr(Schema.Int)
})

/** A run that has ended. */
export interface PastRun extends Omit<typeof PastRun.Type, "rolled_back_by"> {
  /** Whether it was rolled back, and no rollback can return to it, because no data that descends from it is kept. */
  readonly is_undone: boolean
}

/** The oldest generation of each data set to which a rollback is possible. */
const findOldestKept = Effect.fnUntraced(function* ({ depot }: Layout) {
  const objects = yield* listObjectTimes(depot)
  const kept = (yield* readKeptManifests(depot)).flatMap(({ data_sets, number }) =>
    Object.entries(data_sets)
      .filter(([, entry]) => isLoaded(entry) && entry.parts.every(({ sha256 }) => objects.has(sha256)))
      .map(([pipeline]) => [pipeline, number] as const)
  )
  return new Map(kept.toReversed())
})

/** All runs that have ended, newest first. */
export const listPastRuns = Effect.fnUntraced(function* (layout: Layout) {
  const runs = yield* selectFresh(
    layout,
    PastRun,
    `select run_id, pipeline, outcome, ${timestampColumn("started_at")},
       ${generationNumberSql("rolled_back_by")} as rolled_back_by
     from ingest.run order by ${newestFirst}`
  )
  const oldestGenerations = yield* findOldestKept(layout)
  return runs.map(({ rolled_back_by, ...run }): PastRun => {
    const oldest = oldestGenerations.get(run.pipeline)
    return { ...run, is_undone: rolled_back_by !== null && (oldest === undefined || rolled_back_by <= oldest) }
  })
})

/** The SHA-256 of each payload that a recorded run has read. */
export const listRecordedPayloads = Effect.fnUntraced(function* (layout: Layout) {
  const row = Schema.Struct({ raw_sha256: Schema.String })
  const rows = yield* selectFresh(layout, row, "select distinct raw_sha256 from ingest.raw_file")
  return new Set(rows.map(({ raw_sha256 }) => raw_sha256))
})

export const readRecordedRun = Effect.fnUntraced(function* (layout: Layout, run_id: string) {
  const sql = `select ${runColumns} from ingest.run where run_id = $run_id`
  const [run] = yield* selectFresh(layout, RunRecord, sql, { run_id })
  return run
})
