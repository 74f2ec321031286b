/**
 * What the warehouse tells about itself, for the pages of the data engineer: its generations, runs, feeds, checks and rows
 * that were refused. Reads go to the live generation on its own connections, as calls of the API do; runs that
 * published nothing stand in the journal and are told beside those of the generation.
 */
import { CheckResult, Run } from "@larder/schemas/ingest.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { type RunRecord, readJournal } from "@larder/warehouse/generation/journal.ts"
import { generations, ifMissing, type Layout } from "@larder/warehouse/generation/layout.ts"
import type { Live } from "@larder/warehouse/generation/live.ts"
import { pipelineStates, runColumns, together } from "@larder/warehouse/generation/runs.ts"
import { Context, Effect, FileSystem, Layer, Option, Path, Schema } from "effect"
import type { ReadModel } from "../read-model.ts"
import { type FeedsWanted, feeds, unknownFields } from "./data-feeds-read.ts"
import { pageOf } from "./data-page.ts"
import {
  feedsWithRejects,
  type ReasonsWanted,
  type RejectsWanted,
  reasonsOfRejects,
  rejects
} from "./data-rejects-read.ts"
import { type DataSetFacts, type DataSetState, factsOf } from "./data-sets.ts"

const runsBefore = `
  select ${runColumns}
  from ingest.run
  where ($before::varchar is null or run_id < $before)
    and ($pipeline::varchar is null or pipeline = $pipeline)
    and ($outcome::varchar is null or outcome = $outcome)
  order by run_id desc
  limit $limit`
const oneRun = `select ${runColumns} from ingest.run where run_id = $run_id`
const publishingRuns = `select ${runColumns} from ingest.run where generation is not null order by run_id`

const Check = Schema.Struct({ ...CheckResult.fields })
const checkColumns = "run_id, pipeline, name, severity, bad_rows::integer as bad_rows, examples, description"
const checksOfRun = `
  select ${checkColumns} from ingest.check_result
  where run_id = $run_id
  order by bad_rows = 0, severity, name`
/** Of the newest run of each pipeline that went live; what fails is first. */
const checksOfGeneration = `
  with newest as (
    select pipeline, max(run_id) as run_id from ingest.run where generation is not null group by pipeline
  )
  select ${checkColumns} from ingest.check_result
  where run_id in (select run_id from newest)
  order by bad_rows = 0, severity, pipeline, name`

export interface GenerationFile {
  readonly id: string
  readonly bytes: number
  readonly isLive: boolean
  /** The run that published it; undefined where the live generation does not descend from it. */
  readonly run: RunRecord | undefined
}

export interface RunsWanted {
  readonly pipeline: string | undefined
  readonly outcome: string | undefined
  /** The run that a page ended with. */
  readonly before: string | undefined
  readonly limit: number
}
export type ShownCheck = typeof Check.Type

/** Bytes of a generation: its database, and what it carries beside it. */
const sizeOf = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const bytesOf = (name: string) =>
    Effect.map(fs.stat(name), ({ size, type }) => (type === "File" ? Number(size) : 0)).pipe(ifMissing(0))
  const folder = `${file}.foods`
  const beside = yield* fs.readDirectory(folder).pipe(ifMissing<ReadonlyArray<string>>([]))
  const sizes = yield* Effect.forEach([file, ...beside.map((name) => path.join(folder, name))], bytesOf)
  return sizes.reduce((sum, size) => sum + size, 0)
})

const makeDataRead = Effect.fnUntraced(function* (live: Live<ReadModel>, layout: Layout) {
  const context = yield* Effect.context<FileSystem.FileSystem | Path.Path>()
  const path = yield* Path.Path
  const using = <A, E>(
    read: (db: DuckDb["Service"], model: ReadModel) => Effect.Effect<A, E, FileSystem.FileSystem | Path.Path>
  ): Effect.Effect<A, E> =>
    Effect.provideContext(
      live.use(({ db, model }) => read(db, model)),
      context
    )
  const journaled = Effect.map(readJournal(layout), (entries) => entries.map(({ run }) => run))

  const listGenerations = using(
    Effect.fnUntraced(function* (db) {
      const runs = new Map((yield* db.all(Run, publishingRuns)).map((run) => [run.generation, run]))
      const served = live.current().id
      const files = yield* generations(layout)
      return yield* Effect.forEach(files.toReversed(), ({ name }) => {
        const id = path.basename(name, ".duckdb")
        const told = (bytes: number): GenerationFile => ({ id, bytes, isLive: id === served, run: runs.get(id) })
        return Effect.map(sizeOf(path.join(layout.dir, name)), told)
      })
    })
  )

  const runs = (wanted: RunsWanted) =>
    using(
      Effect.fnUntraced(function* (db) {
        const { before, limit, outcome, pipeline } = wanted
        const params = { before: before ?? null, pipeline: pipeline ?? null, outcome: outcome ?? null }
        const published = yield* db.all(Run, runsBefore, { ...params, limit: limit + 1 })
        const waiting = (yield* journaled).filter(
          (run) =>
            (before === undefined || run.run_id < before) &&
            (pipeline === undefined || run.pipeline === pipeline) &&
            (outcome === undefined || run.outcome === outcome)
        )
        return pageOf(together(published, waiting), limit)
      })
    )

  const run = (run_id: string) =>
    using(
      Effect.fnUntraced(function* (db) {
        const [published] = yield* db.all(Run, oneRun, { run_id })
        if (published !== undefined) {
          return Option.some({ run: published, checks: yield* db.all(Check, checksOfRun, { run_id }) })
        }
        const entry = (yield* readJournal(layout)).find((waiting) => waiting.run.run_id === run_id)
        if (entry === undefined) return Option.none()
        const { pipeline } = entry.run
        return Option.some({ run: entry.run, checks: entry.checks.map((check) => ({ run_id, pipeline, ...check })) })
      })
    )

  /** What a generation holds never changes. */
  const known = new WeakMap<ReadModel, ReadonlyArray<DataSetFacts>>()
  const factsOnce = Effect.fnUntraced(function* (db: DuckDb["Service"], model: ReadModel) {
    const facts = known.get(model) ?? (yield* factsOf(db, model.dataSets))
    known.set(model, facts)
    return facts
  })

  const dataSets = using(
    Effect.fnUntraced(function* (db, model) {
      const states = yield* pipelineStates(layout, db)
      return (yield* factsOnce(db, model)).flatMap((facts): ReadonlyArray<DataSetState> => {
        const state = states.find(({ pipeline }) => pipeline === facts.pipeline)
        return state === undefined ? [] : [{ ...facts, ...state }]
      })
    })
  )

  return {
    generations: listGenerations,
    dataSets,
    runs,
    run,
    checks: using((db) => db.all(Check, checksOfGeneration)),
    rejects: (wanted: RejectsWanted) => using((db) => rejects(db, wanted)),
    reasons: (wanted: ReasonsWanted) => using((db) => reasonsOfRejects(db, wanted)),
    feedsWithRejects: (pipeline: string | undefined) => using((db) => feedsWithRejects(db, pipeline)),
    feeds: (wanted: FeedsWanted) => using((db, { commodities }) => feeds(db, wanted, commodities.loaded)),
    unknownFields: using(unknownFields),
    /** The catalog and all readings, which the live generation holds in memory. */
    commodities: () => live.current().model.commodities,
    provenances: () => live.current().model.provenances,
    generation: () => live.current().id
  }
})

/** What the pages ask. Everything is of the generation of that moment. */
export class DataRead extends Context.Service<DataRead, Effect.Success<ReturnType<typeof makeDataRead>>>()(
  "larder/serve/DataRead"
) {
  static readonly layer = (live: Live<ReadModel>, layout: Layout) => Layer.effect(DataRead, makeDataRead(live, layout))
}
