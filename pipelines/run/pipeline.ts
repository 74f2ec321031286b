/** A pipeline: a data set, where its bundled samples are, how it reads its source, and what must hold afterwards. */

import type { FeedLeftOut } from "@larder/schemas"
import type {
  Check,
  DataSet,
  DepotUnusable,
  DuckDbError,
  FileOperationFailed,
  HomeUnwritable,
  Layout,
  ManifestUnusable,
  NewerDataSet,
  OpenError,
  PartDamaged,
  Staging,
  TablesDiffer
} from "@larder/warehouse"
import { Effect, type FileSystem, type Path, Schema } from "effect"
import type { Archive } from "./archive/archive.ts"
import type { ArchiveUnwritable, RawFileDamaged } from "./archive/fetch-list.ts"
import type { BadLine } from "./files/hand-edited.ts"
import type { LivePolicy } from "./origins/live.ts"
import type { Origin } from "./origins/origin.ts"
import type { PipelinePreflight } from "./preflight.ts"

/** Days requested with --from and --to. */
export interface DayRange {
  readonly from: string
  readonly to: string
}

export interface RunContext {
  readonly run_id: string
  /** When the run began. For a run that is repeated from the archive: when it originally began. */
  readonly started_at: string
  readonly layout: Layout
  readonly staging: Staging
  readonly days: DayRange | undefined
  /** The file that was given with `--stores`. */
  readonly stores?: string | undefined
  /** Whether the operator accepts that a source has lost data. */
  readonly acceptShrinkage: boolean
}

/** Every row that was read is silent, rejected, or the source of a staged row. */
export interface ReadResult {
  readonly rows_read: number
  /** Rows that contain nothing for this data set. */
  readonly rows_silent: number
  readonly rows_rejected: number
  /** All feeds to read, including those that were left out. */
  readonly feeds: number
  /** Feeds that were not read, not trusted, or only partly read. The others are published without them. */
  readonly left_out: ReadonlyArray<FeedLeftOut>
  /** Whether every feed failed: then only the failures are published. */
  readonly all_failed?: boolean
  /** For a store list: the number of stores, and how many were skipped because they rarely change. */
  readonly stores?: { readonly listed: number; readonly not_due: number }
}

export const LeftOut = Schema.Array(
  Schema.Struct({
    feed: Schema.String,
    kind: Schema.Literals(["untrusted", "unreachable", "partial"]),
    reason: Schema.String
  })
)

/** For people: one line per reason, after the feeds that it applies to. */
export const reasonLines = (leftOut: ReadonlyArray<Pick<FeedLeftOut, "feed" | "reason">>): ReadonlyArray<string> =>
  [...Map.groupBy(leftOut, ({ reason }) => reason)].map(
    ([reason, of]) => `${of.map(({ feed }) => feed).join(", ")}: ${reason}`
  )

/** The received data cannot be trusted: the run publishes nothing. */
export class ReadFailed extends Schema.TaggedError<ReadFailed>()("ReadFailed", {
  faults: Schema.Array(Schema.String),
  /** The feeds with these faults, if the faults belong to feeds. */
  left_out: LeftOut.pipe(Schema.withConstructorDefault(Effect.succeed([])))
}) {
  override get message() {
    return this.faults.join("\n")
  }
}

/** No feed could be fetched. */
export class NothingRead extends Schema.TaggedError<NothingRead>()("NothingRead", {
  reasons: Schema.Array(Schema.String),
  /** The feeds that gave nothing, if known. */
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
  /** Folder of the bundled samples, laid out like a replay folder. */
  readonly samples: URL
  /** Hosts that it reads. Folders of a recording with these names belong to it. */
  readonly hosts: ReadonlyArray<string>
  /** Where requests to its hosts differ from `livePolicy`. */
  readonly requests?: Partial<LivePolicy>
  /** Whether a run takes over what an interrupted run fetched within the last hours, instead of requesting it again. */
  readonly resumesRuns?: true
  /**
   * Whether a rebuild also repeats runs without new rows, because later runs are judged by their reads. Branded foods
   * do not need this: such a run knows its release by name and fetches nothing of it.
   */
  readonly repeatsReads?: true
  /** Whether its source can be queried for the days of `--from` and `--to`. */
  readonly days?: true
  /** Whether it can read a release given with `--file`. */
  readonly files?: true
  /** Whether it can read a list of sources given with `--stores`. */
  readonly lists?: true
  /** Reports what is wrong or missing before anything is fetched. */
  readonly preflight?: PipelinePreflight
  /** Loads the reading code when it is called: most commands need none of it, and others only that of one pipeline. */
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
    | FileOperationFailed
    | DuckDbError
    | OpenError,
    Origin | Archive | FileSystem.FileSystem | Path.Path
  >
}
