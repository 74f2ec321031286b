/** What a pipeline is: a data set, where its bundled samples lie, how it reads its source, and what must hold afterwards. */

import type { FeedLeftOut } from "@larder/schemas/ingest.ts"
import type { TablesDiffer } from "@larder/warehouse/columns-by-name.ts"
import type { DepotUnusable } from "@larder/warehouse/depot/depot.ts"
import type { DuckDbError, OpenError } from "@larder/warehouse/duckdb.ts"
import type { HomeUnwritable, Layout } from "@larder/warehouse/generation/layout.ts"
import type { ManifestUnusable } from "@larder/warehouse/generation/manifest.ts"
import type { PartDamaged } from "@larder/warehouse/generation/parts.ts"
import type { IngestionNotWritten } from "@larder/warehouse/ingestion/file.ts"
import type { NewerDataSet } from "@larder/warehouse/newer-versions.ts"
import type { Check } from "@larder/warehouse/publishing/check.ts"
import type { Staging } from "@larder/warehouse/staging.ts"
import type { DataSet } from "@larder/warehouse/tables.ts"
import { Effect, type FileSystem, type Path, Schema } from "effect"
import type { Archive } from "./archive.ts"
import type { BadLine } from "./hand-edited.ts"
import type { LivePolicy } from "./live-origin.ts"
import type { Origin } from "./origin.ts"
import type { PipelinePreflight } from "./preflight.ts"
import type { ArchiveUnwritable, RawFileDamaged } from "./raw-file.ts"

/** Days that were asked for with --from and --to. */
export interface DayRange {
  readonly from: string
  readonly to: string
}

export interface RunContext {
  readonly run_id: string
  /** When the run began, or began when it is repeated from the archive. */
  readonly started_at: string
  readonly layout: Layout
  readonly staging: Staging
  readonly days: DayRange | undefined
  /** The file that was given with `--stores`. */
  readonly stores?: string | undefined
  /** Whether it was said that a source may have lost what it had. */
  readonly acceptShrinkage: boolean
}

/** Every payload row is in exactly one of these, or stands behind a staged row. */
export interface ReadResult {
  readonly rows_read: number
  /** Rows that state nothing for this data set. */
  readonly rows_silent: number
  readonly rows_rejected: number
  /** Feeds that there were to read, those that were left out among them. */
  readonly feeds: number
  /** Feeds that were not read, not trusted, or read in part. The others are published without them. */
  readonly left_out: ReadonlyArray<FeedLeftOut>
  /** Whether every feed failed: what is published then says how, and nothing else. */
  readonly all_failed?: boolean
  /** Of a list of stores: how many there are, and how many were not asked because they hardly change. */
  readonly stores?: { readonly listed: number; readonly not_due: number }
}

export const LeftOut = Schema.Array(
  Schema.Struct({
    feed: Schema.String,
    kind: Schema.Literals(["untrusted", "unreachable", "partial"]),
    reason: Schema.String
  })
)

/** For a person: one line for each reason, after the feeds that it is of. */
export const reasonLines = (leftOut: ReadonlyArray<Pick<FeedLeftOut, "feed" | "reason">>): ReadonlyArray<string> =>
  [...Map.groupBy(leftOut, ({ reason }) => reason)].map(
    ([reason, of]) => `${of.map(({ feed }) => feed).join(", ")}: ${reason}`
  )

/** What came cannot be trusted: nothing of the run is published. */
export class ReadFailed extends Schema.TaggedError<ReadFailed>()("ReadFailed", {
  faults: Schema.Array(Schema.String),
  /** The feeds that these faults are of, where they are of feeds. */
  left_out: LeftOut.pipe(Schema.withConstructorDefault(Effect.succeed([])))
}) {
  override get message() {
    return this.faults.join("\n")
  }
}

/** No feed at all could be fetched. */
export class NothingRead extends Schema.TaggedError<NothingRead>()("NothingRead", {
  reasons: Schema.Array(Schema.String),
  /** The feeds that gave nothing, where it is known which. */
  left_out: LeftOut.pipe(Schema.withConstructorDefault(Effect.succeed([])))
}) {
  override get message() {
    return `Nothing could be read, so nothing was published.\n${this.reasons.join("\n")}`
  }
}

export interface Pipeline {
  readonly name: string
  readonly dataSet: DataSet
  /** What its rows are, in the plural, for people. */
  readonly holds: string
  readonly checks: ReadonlyArray<Check>
  /** Folder of the bundled samples, laid out as a replay folder. */
  readonly samples: URL
  /** Hosts that it reads, and the folders of a recording that concern it. */
  readonly hosts: ReadonlyArray<string>
  /** How its hosts are asked, where that differs from `livePolicy`. */
  readonly requests?: Partial<LivePolicy>
  /** Whether a run takes what one that was interrupted fetched within the last hours, instead of asking for it again. */
  readonly goesOn?: true
  /**
   * Whether a rebuild repeats runs that brought no new row, too, because later runs are judged by their reads. Those of branded foods
   * know a release by its name and fetch nothing of it.
   */
  readonly repeatsReads?: true
  /** Whether its source can be asked for the days of `--from` and `--to`. */
  readonly days?: true
  /** Whether a release of it can be given with `--file`. */
  readonly files?: true
  /** Whether its list of sources can be given with `--stores`. */
  readonly lists?: true
  /** What is wrong or missing is told before anything is fetched. */
  readonly preflight?: PipelinePreflight
  /** Loads the code that reads when it is called: most commands need none, and others that of one pipeline. */
  readonly read: (
    context: RunContext
  ) => Effect.Effect<
    ReadResult,
    | ReadFailed
    | NothingRead
    | BadLine
    | ArchiveUnwritable
    | RawFileDamaged
    | HomeUnwritable
    | DepotUnusable
    | ManifestUnusable
    | PartDamaged
    | NewerDataSet
    | TablesDiffer
    | IngestionNotWritten
    | DuckDbError
    | OpenError,
    Origin | Archive | FileSystem.FileSystem | Path.Path
  >
}
