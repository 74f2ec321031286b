/** Runs a pipeline once. A run reads an origin, and writes to a home folder and to the archive in it. */

import { randomBytes } from "node:crypto"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { type RunRecord, settingOf } from "@larder/schemas"
import {
  catchUp,
  type Layout,
  layoutOf,
  makeOwnFolder,
  openLayout,
  recordKilledRuns,
  refreshOpened,
  requireCurrentFormat,
  requireWritableFolder
} from "@larder/warehouse"
import { Clock, type Config, Effect, Exit, FileSystem, Layer, Option, Runtime, Schema } from "effect"
import { Archive } from "./archive/archive.ts"
import { rawFolderIn, requireCurrentArchive } from "./archive/raw-folder.ts"
import { classifyFailure, recordingFailureOf } from "./failed-run.ts"
import { reasonOf } from "./files/causes.ts"
import type { BundleUnusable } from "./origins/bundle-files.ts"
import { type FileUnusable, fileOrigin } from "./origins/file.ts"
import { liveOrigin } from "./origins/live.ts"
import { Origin } from "./origins/origin.ts"
import { type RecordingsMissing, replayOrigin, sampleOrigin } from "./origins/replay.ts"
import { FeedsLeftOutList, type Pipeline, reasonLines } from "./pipeline.ts"
import { formatTime, type RunIdentity, type RunOptions, startRecord } from "./pipeline-run.ts"
import { type SourceOptions, sourceKind } from "./preflight.ts"
import { Progress } from "./progress.ts"
import { readAndPublish } from "./read-and-publish.ts"
import { rebuildOlderMapping } from "./rebuild.ts"

/** Feeds were left out. If all of them are known, a run only logs this, as a warning. */
export class FeedsLeftOut extends Schema.TaggedError<FeedsLeftOut>()("FeedsLeftOut", {
  pipeline: Schema.String,
  left_out: FeedsLeftOutList,
  published: Schema.String,
  all_failed: Schema.Boolean
}) {
  override readonly [Runtime.errorExitCode] = this.all_failed ? 1 : 4
  override get message() {
    const reasons = reasonLines(this.left_out)
    const shown = reasons.slice(0, maxReasons).map((reason) => reason.replaceAll("\n", "\n  ")) // indents later lines
    const more = reasons.length - shown.length
    const rest = more > 0 ? `\nand ${more} more: ingest.left_out has all of them` : ""
    const partial = this.left_out.filter(({ kind }) => kind === "partial").length
    const missing = this.left_out.length - partial
    const noun = (count: number) => `${count} ${count === 1 ? "feed" : "feeds"} of ${this.pipeline}`
    const counts = [
      ...(missing > 0 ? [`${noun(missing)} left out`] : []),
      ...(partial > 0 ? [`${missing > 0 ? partial : noun(partial)} read only in part`] : [])
    ]
    return `${counts.join(", ")}; ${this.published}.\n${shown.join("\n")}${rest}`
  }
}

class TemporaryFolderUnwritable extends Schema.TaggedError<TemporaryFolderUnwritable>()("TemporaryFolderUnwritable", {
  cause: Schema.Defect()
}) {
  override get message() {
    return `The dry run's temporary folder cannot be created: ${reasonOf(this.cause)}. Set TMPDIR to a folder with as much free space as a run needs.`
  }
}

/** A store list may have hundreds of stores that cannot be reached. */
const maxReasons = 50

export const homeFolderSetting = settingOf("LARDER_HOME", Schema.String)

/** Opens `LARDER_HOME`. Fails if an earlier version of Larder made its raw archive or its warehouse. */
export const openHome = Effect.gen(function* () {
  const layout = yield* openLayout(yield* homeFolderSetting)
  yield* requireCurrentArchive(layout.home)
  yield* requireCurrentFormat(layout)
  return layout
})

/** Ids sort by start time. The random suffix distinguishes runs that start in the same millisecond. */
export const newRunId = (pipeline: string, now: number) =>
  `${new Date(now).toISOString().replaceAll(/[-:.]/g, "")}-${pipeline}-${randomBytes(3).toString("hex")}`

export type OriginLayer = Layer.Layer<
  Origin,
  Config.ConfigError | RecordingsMissing | BundleUnusable | FileUnusable,
  FileSystem.FileSystem
>

const selectOrigin = (pipeline: Pipeline, source: SourceOptions): OriginLayer => {
  if (Option.isSome(source.file)) return fileOrigin(source.file.value)
  if (Option.isSome(source.replay)) return replayOrigin(source.replay.value)
  const configuredOrigin = Effect.map(sourceKind(source), (kind) =>
    kind === "live" ? liveOrigin(pipeline.livePolicy) : sampleOrigin(fileURLToPath(pipeline.samples))
  )
  return Layer.unwrap(configuredOrigin as Effect.Effect<OriginLayer, Config.ConfigError>)
}

/** Redirects staging files and the markers of verified files into another folder: a dry run writes none in its home. */
const redirectWrites = Effect.fnUntraced(function* (layout: Layout, folder: string) {
  const fs = yield* FileSystem.FileSystem
  const markers = path.join(folder, "markers")
  yield* Effect.ignore(fs.copy(layout.markers, markers)) // without the markers, files are verified again
  const staging = path.join(folder, "staging")
  const redirected: Layout = { ...layout, markers, staging, stagingLock: path.join(folder, ".staging.lock") }
  return redirected
})

/** Succeeds even if nothing was new or some feeds were left out. `temporaryFolder` is the one of a dry run. */
const runPipeline = Effect.fn("Pipeline.run")(function* (
  pipeline: Pipeline,
  identity: RunIdentity,
  options: RunOptions,
  temporaryFolder?: string
) {
  const homeLayout = yield* openLayout(options.home)
  if (temporaryFolder === undefined) yield* requireWritableFolder(homeLayout.home)
  const layout = temporaryFolder === undefined ? homeLayout : yield* redirectWrites(homeLayout, temporaryFolder)
  const pipelineRun = { pipeline, layout, started: startRecord(pipeline, identity, options), options }
  if (!options.dryRun) {
    yield* catchUp(layout)
    yield* refreshOpened(layout) // a run may have been killed before it did this
    const killed = yield* recordKilledRuns(layout)
    yield* options.onKilled?.(killed) ?? Effect.void
    yield* rebuildOlderMapping(pipeline, layout).pipe(recordingFailureOf(pipelineRun))
  }
  return yield* readAndPublish(pipelineRun)
})

/**
 * Records in the archive how a run ended. An interrupted run gets no record; pipelines with `resumesRuns` resume it. A
 * rebuild finds a published run in the warehouse even if this record is missing.
 */
const recordEnd = Effect.fnUntraced(function* (
  exit: Exit.Exit<{ readonly run: RunRecord }, unknown>,
  shrinkageAccepted?: boolean
) {
  const archive = yield* Archive
  const [outcome, generation] = Exit.isFailure(exit)
    ? [classifyFailure(exit.cause), null]
    : [exit.value.run.outcome, exit.value.run.generation]
  if (outcome === "interrupted") return
  const end = generation === null ? { ended: outcome } : { published: generation }
  const consequence =
    generation === null ? "has no record of how this run ended" : "does not record that this run is live"
  yield* Effect.catch(archive.recordEnd(end, shrinkageAccepted), (error) =>
    Effect.logWarning(`the archive ${consequence}: ${error.message}`)
  )
})

/** Makes the dry run's temporary folder, which needs as much space as a run. The scope removes it. */
const makeTemporaryFolder = Effect.flatMap(FileSystem.FileSystem, (fs) =>
  Effect.mapError(
    fs.makeTempDirectoryScoped({ prefix: "larder-dry-run-" }),
    (cause) => new TemporaryFolderUnwritable({ cause: cause.reason.cause ?? cause })
  )
)

/** Runs a pipeline from the provided origin. Payloads go into the archive in `options.home`; a dry run discards them. */
export const ingestFromOrigin = Effect.fnUntraced(function* (pipeline: Pipeline, options: RunOptions) {
  const { kind } = yield* Origin
  const now = yield* Clock.currentTimeMillis
  const identity = { run_id: newRunId(pipeline.name, now), started_at: formatTime(now), origin: kind }
  const home = path.resolve(options.home)
  const temporaryFolder = options.dryRun ? yield* makeTemporaryFolder : undefined
  if (temporaryFolder === undefined) {
    yield* requireWritableFolder(home)
    yield* makeOwnFolder(yield* layoutOf(home), `archiving-${identity.run_id}`) // prevents a prune until this run ends
  }
  const run = Effect.gen(function* () {
    const ended = yield* runPipeline(pipeline, identity, options, temporaryFolder).pipe(
      Effect.onExit((exit) => (options.dryRun ? Effect.void : recordEnd(exit, options.acceptShrinkage)))
    )
    yield* Archive.use(({ compressLarge }) => compressLarge).pipe(
      Effect.onInterrupt(() => Effect.sync(() => options.onFailed?.(ended))) // its data is live
    )
    return ended
  })
  return yield* run.pipe(
    Effect.provide(
      Archive.layer({
        folder: rawFolderIn(home),
        ...(temporaryFolder === undefined ? {} : { dryRunFolder: rawFolderIn(temporaryFolder) }),
        run_id: identity.run_id,
        pipeline: pipeline.name,
        days: options.days ?? null,
        resumesRuns: pipeline.resumesRuns === true,
        onBytes: (bytes) => Progress.use((progress) => progress.advance({ bytes }))
      })
    )
  )
}, Effect.scoped)

export const ingestFromSource = (pipeline: Pipeline, source: SourceOptions, options: RunOptions) =>
  ingestFromOrigin(pipeline, { ...options, stores: Option.getOrUndefined(source.stores) }).pipe(
    Effect.provide(selectOrigin(pipeline, source))
  )
