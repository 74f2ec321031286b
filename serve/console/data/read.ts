/** Queries of the pages about the warehouse: its generations, runs, feeds, checks and rejects. */
import { CheckResult, Run } from "@larder/schemas"
import {
  type DuckDb,
  type Generation,
  type Layout,
  type Live,
  listGenerations,
  newestFirst,
  readPipelineStates,
  runColumns
} from "@larder/warehouse"
import { Context, Effect, type FileSystem, Layer, Option, type Path, Schema } from "effect"
import type { ReadModel } from "../../api/index.ts"
import type { WarehouseState } from "../../monitoring/index.ts"
import { type Filters, type PageLimit, readPage, toParameters } from "../web/query.ts"
import { type DataSetContents, type DataSetState, readContents } from "./data-sets.ts"
import { type FeedsQuery, readFeeds, readUnknownFields } from "./feeds-read.ts"
import { readLeftOut, readOddValues } from "./left-out-read.ts"
import {
  type ReasonsFilters,
  type RejectsFilters,
  readFeedsWithRejects,
  readReasons,
  readRejects
} from "./rejects-read.ts"

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
/** The checks of the newest published run of each pipeline; failed checks first. */
const checksOfGeneration = `
  with newest as (
    select pipeline, arg_max(run_id, (recorded_in, run_id)) as run_id
    from ingest.run where generation is not null and rolled_back_by is null group by pipeline
  )
  select ${checkColumns} from ingest.check_result
  where run_id in (select run_id from newest)
  order by bad_rows = 0, severity, pipeline, name`

export type CheckRow = typeof Check.Type

/** `before` is the last run on the previous page. */
type RunsFilters = Filters<"before" | "outcome" | "pipeline">

const makeDataRead = Effect.fnUntraced(function* (
  live: Live<ReadModel>,
  layout: Layout,
  warehouse: () => WarehouseState
) {
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  /** `ingest` is the connection to the tables of `ingest` in the live generation. */
  const readLive = <A, E>(
    read: (ingest: DuckDb["Service"], generation: Generation<ReadModel>) => Effect.Effect<A, E>
  ) => live.use((generation) => read(generation.ingest, generation))

  const runs = ({ before, limit, outcome, pipeline }: RunsFilters & PageLimit) =>
    readLive((ingest) =>
      readPage(limit, (limit) => ingest.all(Run, runsBefore, { ...toParameters({ before, outcome, pipeline }), limit }))
    )

  const run = (run_id: string) =>
    readLive(
      Effect.fnUntraced(function* (ingest) {
        const [run] = yield* ingest.all(Run, oneRun, { run_id })
        if (run === undefined) return Option.none()
        return Option.some({ run, checks: yield* ingest.all(Check, checksOfRun, { run_id }) })
      })
    )

  /** The contents of a generation never change. */
  const contentsByModel = new WeakMap<ReadModel, ReadonlyArray<DataSetContents>>()
  const readContentsOnce = Effect.fnUntraced(function* (generation: Generation<ReadModel>) {
    const contents = contentsByModel.get(generation.model) ?? (yield* readContents(generation))
    contentsByModel.set(generation.model, contents)
    return contents
  })

  const dataSets = readLive(
    Effect.fnUntraced(function* (ingest, generation) {
      const states = yield* readPipelineStates(ingest)
      return (yield* readContentsOnce(generation)).flatMap((contents): ReadonlyArray<DataSetState> => {
        const state = states.find(({ pipeline }) => pipeline === contents.pipeline)
        const freshness = warehouse().freshness.filter(({ pipeline }) => pipeline === contents.pipeline)
        return state === undefined ? [] : [{ ...contents, ...state, freshness }]
      })
    })
  )

  return {
    generations: Effect.map(
      Effect.provideContext(listGenerations({ depot: layout.local }), context),
      ({ generations }) => generations.toReversed()
    ),
    dataSets,
    /** What `ingest.freshness` said at the last read, and whether that was the newest. */
    freshness: warehouse,
    runs,
    run,
    checks: readLive((db) => db.all(Check, checksOfGeneration)),
    rejects: (query: RejectsFilters & PageLimit) => readLive((db) => readRejects(db, query)),
    reasons: (filters: ReasonsFilters) => readLive((db) => readReasons(db, filters)),
    feedsWithRejects: (pipeline: string | undefined) => readLive((db) => readFeedsWithRejects(db, pipeline)),
    feeds: (query: FeedsQuery) =>
      readLive((db, { dataSet }) => readFeeds(db, query, dataSet("commodities"), warehouse().freshness)),
    unknownFields: readLive(readUnknownFields),
    oddValues: readLive(readOddValues),
    leftOut: readLive((db) => readLeftOut(db, warehouse().freshness)),
    /** The catalog and all readings, which the live generation keeps in memory. */
    commodities: () => live.current().model.commodities,
    provenances: () => live.current().model.provenances,
    generation: () => live.current().id,
    /** Pipelines with newer data that cannot be served. */
    unserved: live.unserved
  }
})

/** Each query reads the generation that is live at that time. */
export class DataRead extends Context.Service<DataRead, Effect.Success<ReturnType<typeof makeDataRead>>>()(
  "larder/serve/DataRead"
) {
  static readonly layer = (live: Live<ReadModel>, layout: Layout, warehouse: () => WarehouseState) =>
    Layer.effect(DataRead, makeDataRead(live, layout, warehouse))
}
