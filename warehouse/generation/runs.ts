/**
 * The newest runs of each pipeline, and whether its data is late. Runs that published are in the live generation, runs that
 * published nothing in the journal until the next generation takes them up.
 */
import { Run } from "@larder/schemas/ingest.ts"
import { Effect, Option } from "effect"
import type { DuckDb } from "../duckdb.ts"
import { dataSets } from "../tables.ts"
import { type RunRecord, readJournal } from "./journal.ts"
import { currentFile, type Layout, openGeneration } from "./layout.ts"

export const momentColumn = (column: string) => `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ') as ${column}`

/** Columns of a `RunRecord`. */
export const runColumns = `
  run_id, pipeline, origin, outcome, ${momentColumn("started_at")}, ${momentColumn("finished_at")}, generation,
  window_from::varchar as window_from, window_to::varchar as window_to, rows_read::integer as rows_read,
  rows_loaded::integer as rows_loaded, rows_unchanged::integer as rows_unchanged,
  rows_rejected::integer as rows_rejected, message`

/** Of each pipeline and outcome the newest: among them are its last run and the last one that read its source. */
const newest = `
  select ${runColumns}
  from ingest.run
  qualify row_number() over (partition by pipeline, outcome, rows_read > 0 order by run_id desc) = 1`

/**
 * Whether a run read its source. One that left feeds out did not, but a run of stores did: of a long list some are always away,
 * and each store has its own status.
 */
const hasRead = ({ outcome, pipeline, rows_read }: RunRecord) =>
  outcome === "published" ||
  outcome === "unchanged" ||
  (outcome === "partial" && pipeline === "storefronts" && (rows_read ?? 0) > 0)

/** Published nothing although it was not interrupted, or read nothing at all. */
export const hasFailed = ({ outcome, rows_read }: RunRecord): boolean =>
  outcome === "failed" || outcome === "checks_failed" || (outcome === "partial" && rows_read === 0)

const newestFirst = (a: RunRecord, b: RunRecord) => (a.run_id < b.run_id ? 1 : -1)

/** Runs of a generation and of the journal, newest first. A killed run may have left an entry that was taken up. */
export const together = (published: ReadonlyArray<RunRecord>, journaled: ReadonlyArray<RunRecord>) =>
  [...new Map([...journaled, ...published].map((run) => [run.run_id, run])).values()].toSorted(newestFirst)

export interface PipelineState {
  readonly pipeline: string
  readonly title: string
  /** Days after which a read of its source is late. */
  readonly late_after_days: number
  /** The newest one that was not interrupted, which says nothing of the source; or else the newest. */
  readonly last_run: RunRecord | undefined
  /** The newest run that read its source, new rows or not. */
  readonly last_read: RunRecord | undefined
}

/** The state of every pipeline, by what a generation has and the journal. */
export const pipelineStates = Effect.fnUntraced(function* (layout: Layout, db: DuckDb["Service"] | undefined) {
  const journaled = (yield* readJournal(layout)).map(({ run }) => run)
  const runs = together(db === undefined ? [] : yield* db.all(Run, newest), journaled)
  return dataSets.map(({ about: { late_after_days, pipeline, title } }): PipelineState => {
    const own = runs.filter((run) => run.pipeline === pipeline)
    const last_run = own.find(({ outcome }) => outcome !== "interrupted") ?? own[0]
    return { pipeline, title, late_after_days, last_run, last_read: own.find(hasRead) }
  })
})

/** The same of the live generation, or of runs that all failed before there was one. */
export const liveStates = Effect.fnUntraced(function* (layout: Layout) {
  return yield* Option.match(yield* currentFile(layout), {
    onNone: () => pipelineStates(layout, undefined),
    onSome: (live) => Effect.flatMap(openGeneration(live), (db) => pipelineStates(layout, db))
  })
}, Effect.scoped)

/** Bundled samples end where they were recorded: nothing newer is to come, and they are never late. */
export const isOfSamples = ({ last_read, last_run }: PipelineState): boolean =>
  (last_read ?? last_run)?.origin === "sample"

export const isLate = (on: string, days: number | null, now: number): boolean =>
  days !== null && now - Date.parse(on) >= days * 86_400_000
