/** `larder-ingest probe`: checks what a run would find at the sources today, with one line for each feed. */
import path from "node:path"
import { Console, Effect, FileSystem, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { checkCatalog, commodities } from "../commodities/commodities.ts"
import { type Probe, probePolicy, probes, runProbe } from "../probe/probe.ts"
import { type FeedVerdict, formatReport, probeExitCode } from "../probe/verdict.ts"
import { liveOrigin } from "../run/origins/live.ts"
import { listRecordedNames, openRecordings, replayOrigin } from "../run/origins/replay.ts"
import type { Pipeline } from "../run/pipeline.ts"
import type { OriginLayer } from "../run/run.ts"
import { UsageError } from "../run/usage-error.ts"
import { hasStoreList } from "../storefronts/source/operator-files.ts"
import { storefronts } from "../storefronts/storefronts.ts"
import { booleanFlag, CommandFailed, jsonFlag, replayFlag, storesFlag } from "./flags.ts"

interface ProbeFlags {
  readonly full: boolean
  readonly pipeline: Option.Option<string>
  readonly replay: Option.Option<string>
  readonly stores: Option.Option<string>
}

const isStorefronts = ({ pipeline }: Probe) => pipeline === storefronts

const selectProbes = Effect.fnUntraced(function* ({ pipeline, replay, stores }: ProbeFlags) {
  const requested = probes.filter((probe) => Option.isNone(pipeline) || pipeline.value === probe.pipeline.name)
  if (Option.isSome(stores) && !requested.some(isStorefronts)) {
    return yield* new UsageError({
      problem: "--stores does not apply to this pipeline: use it with probe or probe storefronts"
    })
  }
  if (Option.isSome(replay)) {
    const names = yield* listRecordedNames(replay.value)
    const isRecorded = (probe: Probe) =>
      probe.pipeline.recordingFolders.some((name) => names.has(name)) || (isStorefronts(probe) && Option.isSome(stores))
    return requested.length === 1 ? requested : requested.filter(isRecorded)
  }
  if (Option.isSome(stores) || (yield* hasStoreList)) return requested
  if (Option.isSome(pipeline) && requested.some(isStorefronts)) {
    return yield* new UsageError({
      problem: "No store list is given: name a JSON file with --stores or in LARDER_STORES"
    })
  }
  return requested.filter((probe) => !isStorefronts(probe))
})

const probeAll = Effect.fnUntraced(function* (options: ProbeFlags) {
  const selected = yield* selectProbes(options)
  if (selected.some(({ pipeline }) => pipeline === commodities)) yield* checkCatalog
  const folder = Option.isSome(options.replay) ? yield* openRecordings(options.replay.value) : undefined
  const originFor = ({ livePolicy }: Pipeline): OriginLayer =>
    folder === undefined ? liveOrigin({ ...livePolicy, ...probePolicy }) : replayOrigin(folder)
  return yield* Effect.forEach(
    selected,
    (probe) =>
      runProbe(probe, { stores: Option.getOrUndefined(options.stores), isFull: options.full }).pipe(
        Effect.provide(originFor(probe.pipeline))
      ),
    { concurrency: "unbounded" }
  )
})

/** Fails with the exit code of the verdicts, if it is not 0. */
const failUnlessOk = (verdicts: ReadonlyArray<FeedVerdict>) => {
  const code = probeExitCode(verdicts)
  if (code === 0) return Effect.void
  const total = verdicts.length
  const differing = verdicts.filter(({ verdict }) => verdict !== "ok").length
  const problem =
    code === 1
      ? `None of ${total} feeds could be reached.`
      : `${differing} of ${total} feeds differ or cannot be reached: a run would leave them out.`
  return Effect.fail(new CommandFailed({ code, problem }))
}

/** Called before any request, because the bundle is written only at the end. */
const checkBundle = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = path.dirname(path.resolve(file))
  if (yield* Effect.orElseSucceed(fs.exists(file), () => false)) {
    return yield* new UsageError({ problem: `--bundle: ${file} already exists. Name a new file.` })
  }
  const isFolder = Effect.map(fs.stat(folder), ({ type }) => type === "Directory")
  if (yield* Effect.orElseSucceed(isFolder, () => false)) return
  return yield* new UsageError({ problem: `--bundle: there is no folder ${folder}` })
})

const flags = {
  pipeline: Argument.Literals(
    "pipeline",
    probes.map(({ pipeline }) => pipeline.name)
  ).pipe(Argument.withDescription("Only the feeds of this pipeline"), Argument.optional),
  stores: storesFlag,
  replay: replayFlag("Recorded payloads instead of the network: a folder, or a bundle of another probe"),
  bundle: Flag.Path("bundle").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Write what was received, without keys, as a zip for a maintainer; --replay reads it"),
    Flag.optional
  ),
  full: booleanFlag("full", "Read the whole history of each report, instead of a few weeks of each of its eras"),
  json: jsonFlag()
}

export const probeCommand = Command.make(
  "probe",
  flags,
  Effect.fn(function* ({ bundle, json, ...options }) {
    if (Option.isSome(bundle)) yield* checkBundle(bundle.value)
    const probed = yield* probeAll(options)
    const verdicts = probed.flatMap((pipeline) => pipeline.verdicts)
    yield* Console.log(
      json ? JSON.stringify({ exit_code: probeExitCode(verdicts), feeds: verdicts }) : formatReport(verdicts)
    )
    if (Option.isSome(bundle)) {
      const { writeProbeBundle } = yield* Effect.promise(() => import("../probe/bundle.ts"))
      const recordings = yield* writeProbeBundle(bundle.value, probed, verdicts)
      yield* Effect.logInfo(
        `${bundle.value} has ${recordings} recordings. Keys were removed, and so was every part of a store's address that may be a secret. Check it before you send it.`
      )
    }
    return yield* failUnlessOk(verdicts)
  }, Effect.scoped)
).pipe(
  Command.withDescription(
    "Read the beginning of each live feed and report whether a run could read it; publishes nothing"
  )
)
