/** A pipeline: its data set, its bundled samples, how it reads its source, and its checks. */
import { type FeedLeftOut, LeftOut, type RunRecord } from "@larder/schemas"
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
import { type Config, Effect, type FileSystem, type Path, Schema, Struct } from "effect"
import type { Archive } from "./archive/archive.ts"
import type { ArchiveUnreadable, ArchiveUnwritable, RawFileDamaged } from "./archive/fetch-list.ts"
import type { BadLine } from "./files/hand-edited.ts"
import type { LivePolicy } from "./origins/live.ts"
import type { Origin } from "./origins/origin.ts"
import type { UsageError } from "./usage-error.ts"

export interface DayRange {
  readonly from: string
  readonly to: string
}

export interface RunContext {
  readonly run_id: string
  /** For a run that is repeated from the archive: when it originally began. */
  readonly started_at: string
  readonly layout: Layout
  readonly staging: Staging
  readonly days: DayRange | undefined
  readonly stores?: string | undefined
  readonly acceptShrinkage: boolean
  /** Whether the run is repeated from the archive. */
  readonly isRepeated?: boolean
}

/** Every row that was read is skipped, rejected, or the source of a staged row. */
export interface ReadResult {
  readonly rows_read: number
  /** Rows without anything for this data set. */
  readonly rows_skipped: number
  readonly rows_rejected: number
  /** All feeds to read, including those that were left out. */
  readonly feeds: number
  /** Feeds that were not read, not trusted, or only partly read. The others are published without them. */
  readonly left_out: ReadonlyArray<FeedLeftOut>
  /** If every feed failed, only the failures are published. */
  readonly all_failed?: boolean
  /** For a store list: the number of stores, and how many were skipped because they rarely change. */
  readonly stores?: { readonly listed: number; readonly not_due: number }
}

const FeedLeftOutFields = LeftOut.mapFields(Struct.pick(["feed", "kind", "reason"])).fields
export const FeedsLeftOutList = Schema.Array(
  Schema.Struct({ ...FeedLeftOutFields, is_known: Schema.optionalKey(Schema.Boolean) })
)

/** Formats one line per reason, after the feeds that it applies to. */
export const reasonLines = (leftOut: ReadonlyArray<Pick<FeedLeftOut, "feed" | "reason">>): ReadonlyArray<string> =>
  [...Map.groupBy(leftOut, ({ reason }) => reason)].map(
    ([reason, feeds]) => `${feeds.map(({ feed }) => feed).join(", ")}: ${reason}`
  )

const leftOutField = FeedsLeftOutList.pipe(Schema.withConstructorDefault(Effect.succeed([])))

export class ReadFailed extends Schema.TaggedError<ReadFailed>()("ReadFailed", {
  faults: Schema.Array(Schema.String),
  /** The feeds with these faults, if the faults belong to feeds. */
  left_out: leftOutField
}) {
  override get message() {
    return this.faults.join("\n")
  }
}

export class NothingRead extends Schema.TaggedError<NothingRead>()("NothingRead", {
  reasons: Schema.Array(Schema.String),
  left_out: leftOutField
}) {
  override get message() {
    return `Nothing could be read, so nothing was published.\n${this.reasons.join("\n")}`
  }
}

export interface RunSource {
  readonly kind: RunRecord["origin"]
  readonly stores: string | undefined
}

export interface Preflight {
  /** What is missing from the run, and how to add it. */
  readonly missing?: string
  /** Why there is nothing to read: an error if this pipeline was requested by name. */
  readonly nothingToRead?: string
}

export type PipelinePreflight = (
  source: RunSource
) => Effect.Effect<Preflight, UsageError | BadLine | Config.ConfigError, FileSystem.FileSystem | Path.Path>

type PipelineReadError =
  | ReadFailed
  | NothingRead
  | BadLine
  | UsageError
  | ArchiveUnreadable
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
  | OpenError

export interface Pipeline {
  readonly name: string
  readonly dataSet: DataSet
  /** Increases when the same payloads become other rows: then a run first rebuilds what an earlier version made. */
  readonly mappingVersion: number
  /** Name of its rows in messages, in the plural. */
  readonly rowNoun: string
  readonly checks: ReadonlyArray<Check>
  /** Folder of the bundled samples, laid out like a replay folder. */
  readonly samples: URL
  /** Names in a replay folder that mark a recording of this pipeline: folders of hosts, or the store list. */
  readonly recordingFolders: ReadonlyArray<string>
  /** Replaces parts of `livePolicy`. */
  readonly livePolicy?: Partial<LivePolicy>
  /** Whether a run reuses payloads that an interrupted run fetched within the last hours. */
  readonly resumesRuns?: true
  /**
   * Whether a rebuild also repeats runs without new rows, because later runs build on their reads. Branded foods do not
   * need this: such a run recognises its release by name and fetches nothing.
   */
  readonly rebuildRepeatsEmptyRuns?: true
  /** `--from` and `--to`. */
  readonly acceptsDays?: true
  /** `--file`. */
  readonly acceptsFile?: true
  /** `--stores`. */
  readonly acceptsStoreList?: true
  readonly preflight?: PipelinePreflight
  /**
   * What a rebuild with the settings of today would leave out of the live data, as a sentence that says how to keep it;
   * undefined if nothing.
   */
  readonly describeRebuildLoss?: (
    layout: Layout
  ) => Effect.Effect<string | undefined, PipelineReadError, FileSystem.FileSystem | Path.Path>
  /** Loads the reading code only when it is called, because most commands do not need it. */
  readonly read: (
    context: RunContext
  ) => Effect.Effect<ReadResult, PipelineReadError, Origin | Archive | FileSystem.FileSystem | Path.Path>
}
