/** A run of a pipeline: what was requested, and its record as it begins. */
import type { FeedLeftOut, RunRecord } from "@larder/schemas"
import type { Layout } from "@larder/warehouse"
import type { Effect } from "effect"
import type { DayRange, Pipeline } from "./pipeline.ts"

/** What is known of a run that failed, or that was interrupted after its data went live. */
export interface FailedRun {
  readonly run: RunRecord
  readonly left_out: ReadonlyArray<FeedLeftOut>
}

export interface RunOptions {
  readonly home: string
  readonly days: DayRange | undefined
  readonly dryRun: boolean
  readonly acceptShrinkage?: boolean | undefined
  /** Repeated from the archive. It succeeded originally, so shrinkage was accepted or follows from a rollback. */
  readonly isRepeated?: true
  readonly stores?: string | undefined
  /** Called once for a run that fails, also by an interrupt: no error could carry it then. */
  readonly onFailed?: (run: FailedRun) => void
  /** Earlier runs that were killed, of any pipeline, each once: this run or rebuild has recorded them. */
  readonly onKilled?: (runs: ReadonlyArray<RunRecord>) => Effect.Effect<void>
}

/** A run that is repeated from the archive keeps its identity. */
export type RunIdentity = Pick<RunRecord, "run_id" | "started_at" | "origin"> & Partial<Pick<RunRecord, "finished_at">>

/** The record of a run as it begins. Counts are unknown until everything is read, or compared with what is live. */
export const startRecord = (pipeline: Pipeline, identity: RunIdentity, { days }: RunOptions): RunRecord => ({
  finished_at: identity.started_at,
  ...identity,
  pipeline: pipeline.name,
  outcome: "failed",
  generation: null,
  window_from: days?.from ?? null,
  window_to: days?.to ?? null,
  rows_read: null,
  rows_loaded: null,
  rows_unchanged: null,
  rows_rejected: null,
  message: null
})

export interface PipelineRun {
  readonly pipeline: Pipeline
  readonly layout: Layout
  /** The run as it begins. */
  readonly started: RunRecord
  readonly options: RunOptions
}

export const formatTime = (now: number) => new Date(now).toISOString()
