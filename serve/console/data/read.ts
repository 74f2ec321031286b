/** Metadata of the warehouse for the data engineer's pages: its generations, runs, feeds, checks and rejects. */
import { CheckResult, Run } from "@larder/schemas"
import {
  type DuckDb,
  type Generation,
  type Layout,
  type Live,
  listGenerations,
  newestFirst,
  pipelineStates,
  runColumns
} from "@larder/warehouse"
import { Context, Effect, type FileSystem, Layer, Option, type Path, Schema } from "effect"
import type { ReadModel } from "../../api/index.ts"
import { type DataSetFacts, type DataSetState, factsOf } from "./data-sets.ts"
import { type FeedsWanted, feeds, unknownFields } from "./feeds-read.ts"
import { feedsWithRejects, type ReasonsWanted, type RejectsWanted, reasonsOfRejects, rejects } from "./rejects-read.ts"
import { pageOf } from "./rows.ts"

const runsBefore = `
  select ${runColumns}
  from ingest.run
  where ($before::varchar is null
      or (recorded_in, run_id) < (select (recorded_in, run_id) from ingest.run where run_id = $before))
    and ($pipeline::varchar is null or pipeline = $pipeline)
    and ($outcome::varchar is null or outcome = $outcome)
  order by ${newestFirst}
  limit $limit`
const oneRun = `select ${runColumns} from ingest.run where run_id = $run_id`

const Check = Schema.Struct({ ...CheckResult.fields })
const checkColumns = "run_id, pipeline, name, severity, bad_rows::integer as bad_rows, examples, description"
const checksOfRun = `
  select ${checkColumns} from ingest.check_result
  where run_id = $run_id
  order by bad_rows = 0, severity, name`
/** The checks of the run whose data is live, for each pipeline; failed checks first. */
const checksOfGeneration = `
  with newest as (
    select pipeline, arg_max(run_id, (recorded_in, run_id)) as run_id
    from ingest.run where generation is not null and rolled_back_by is null group by pipeline
  )
  select ${checkColumns} from ingest.check_result
  where run_id in (select run_id from newest)
  order by bad_rows = 0, severity, pipeline, name`

export interface RunsWanted {
  readonly pipeline: string | undefined
  readonly outcome: string | undefined
  /** The last run on the previous page. */
  readonly before: string | undefined
  readonly limit: number
}
export type ShownCheck = typeof Check.Type

const makeDataRead = Effect.fnUntraced(function* (live: Live<ReadModel>, layout: Layout) {
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  /** Reads the tables of `ingest` in the live generation. */
  const using = <A, E>(
    read: (
      ingest: DuckDb["Service"],
      generation: Generation<ReadModel>
    ) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
  ): Effect.Effect<A, E> =>
    Effect.provideContext(
      live.use((generation) => read(generation.ingest, generation)),
      context
    )

  const runs = (wanted: RunsWanted) =>
    using((ingest) => {
      const { before, limit, outcome, pipeline } = wanted
      const params = { before: before ?? null, pipeline: pipeline ?? null, outcome: outcome ?? null }
      return Effect.map(ingest.all(Run, runsBefore, { ...params, limit: limit + 1 }), (rows) => pageOf(rows, limit))
    })

  const run = (run_id: string) =>
    using(
      Effect.fnUntraced(function* (ingest) {
        const [run] = yield* ingest.all(Run, oneRun, { run_id })
        if (run === undefined) return Option.none()
        return Option.some({ run, checks: yield* ingest.all(Check, checksOfRun, { run_id }) })
      })
    )

  /** Caches the facts of each generation, which never change. */
  const known = new WeakMap<ReadModel, ReadonlyArray<DataSetFacts>>()
  const factsOnce = Effect.fnUntraced(function* (generation: Generation<ReadModel>) {
    const facts = known.get(generation.model) ?? (yield* factsOf(generation))
    known.set(generation.model, facts)
    return facts
  })

  const dataSets = using(
    Effect.fnUntraced(function* (ingest, generation) {
      const states = yield* pipelineStates(ingest)
      return (yield* factsOnce(generation)).flatMap((facts): ReadonlyArray<DataSetState> => {
        const state = states.find(({ pipeline }) => pipeline === facts.pipeline)
        return state === undefined ? [] : [{ ...facts, ...state }]
      })
    })
  )

  return {
    generations: Effect.map(
      Effect.provideContext(listGenerations({ depot: layout.local }), context),
      ({ generations }) => generations.toReversed()
    ),
    dataSets,
    runs,
    run,
    checks: using((db) => db.all(Check, checksOfGeneration)),
    rejects: (wanted: RejectsWanted) => using((db) => rejects(db, wanted)),
    reasons: (wanted: ReasonsWanted) => using((db) => reasonsOfRejects(db, wanted)),
    feedsWithRejects: (pipeline: string | undefined) => using((db) => feedsWithRejects(db, pipeline)),
    feeds: (wanted: FeedsWanted) => using((db, { dataSet }) => feeds(db, wanted, dataSet("commodities"))),
    unknownFields: using(unknownFields),
    /** The catalog and all readings, which the live generation keeps in memory. */
    commodities: () => live.current().model.commodities,
    provenances: () => live.current().model.provenances,
    generation: () => live.current().id,
    /** Pipelines whose newest data cannot be served. */
    unserved: live.unserved
  }
})

/** The queries of the pages. Each query reads the generation that is live at that moment. */
export class DataRead extends Context.Service<DataRead, Effect.Success<ReturnType<typeof makeDataRead>>>()(
  "larder/serve/DataRead"
) {
  static readonly layer = (live: Live<ReadModel>, layout: Layout) => Layer.effect(DataRead, makeDataRead(live, layout))
}
