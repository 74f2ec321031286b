/**
 * Runs `larder-ingest`, alone or with the name of a pipeline: checks the request, runs the pipelines one after the
 * other, and reports how each ended. A failed pipeline does not stop the others.
 */
import type { RunRecord } from "@larder/schemas"
import {
  catchUp,
  isLakeEnabled,
  isLoaded,
  type Layout,
  newestManifest,
  type Webhook,
  webhookFromSettings,
  writeLakeIfEnabled
} from "@larder/warehouse"
import { exitCodeOf, expectedMessages, report } from "@larder/warehouse/cli"
import { Cause, Console, type Duration, Effect, Exit, Option, References, Runtime, Schema } from "effect"
import { listRecordedNames } from "./origins/replay.ts"
import { makeRunTime, RunTime } from "./origins/tries.ts"
import type { DayRange, Pipeline, RunSource } from "./pipeline.ts"
import type { FailedRun } from "./pipeline-run.ts"
import { checkPipeline, checkSettings, type SourceOptions, sourceKind } from "./preflight.ts"
import { progressOnStderr } from "./progress.ts"
import { ingestFromSource, openHome } from "./run.ts"
import {
  formatResultJson,
  formatSummary,
  formatUnpublishedJson,
  hasOnlyKnown,
  leftOutError,
  tellFailure,
  tellInterrupted,
  tellKilled,
  tellLeftOut,
  tellNotRun
} from "./summary.ts"
import { UsageError } from "./usage-error.ts"

const programName = "larder-ingest"

interface IngestOptions extends SourceOptions {
  readonly from: Option.Option<string>
  readonly to: Option.Option<string>
  readonly ifMissing: boolean
  readonly dryRun: boolean
  readonly acceptShrinkage: boolean
  readonly json: boolean
  /** Only errors are printed, and the objects of `json`. */
  readonly quiet: boolean
  readonly maxTime: Option.Option<Duration.Duration>
}

const parseDays = Effect.fnUntraced(function* ({ from, to }: IngestOptions) {
  if (Option.isNone(from) && Option.isNone(to)) return undefined
  if (Option.isNone(from) || Option.isNone(to)) {
    return yield* new UsageError({ problem: "--from and --to must be given together" })
  }
  const days: DayRange = { from: from.value, to: to.value }
  return days.from > days.to ? yield* new UsageError({ problem: `--from ${days.from} is after --to ${days.to}` }) : days
})

type Pipelines = ReadonlyArray<Pipeline>

const sourceFlags = [
  ["from", "acceptsDays"],
  ["to", "acceptsDays"],
  ["file", "acceptsFile"],
  ["stores", "acceptsStoreList"]
] as const

/**
 * `--file` and `--stores` apply to one pipeline each, and `--file` excludes `--replay`. Days apply to sources that can
 * be queried by day; in a run of several pipelines, the others ignore them.
 */
const checkFlags = Effect.fnUntraced(function* (available: Pipelines, requested: Pipelines, options: IngestOptions) {
  for (const [flag, property] of sourceFlags) {
    const others = requested.filter((pipeline) => pipeline[property] !== true)
    const isAccepted = others.length === 0 || (property === "acceptsDays" && others.length < requested.length)
    if (isAccepted || Option.isNone(options[flag])) continue
    const names = others.map(({ name }) => name).join(" and ")
    const commands = available.filter((pipeline) => pipeline[property]).map(({ name }) => `${programName} ${name}`)
    const problem = `--${flag} does not apply to ${names}: use it with ${commands.join(" or ")}`
    return yield* new UsageError({ problem })
  }
  if (Option.isSome(options.file) && Option.isSome(options.replay)) {
    return yield* new UsageError({ problem: "--file and --replay are two sources: use one of them" })
  }
})

/** With `--json`, also prints an object for a pipeline that a run of several leaves out. */
const reportSkipped = ({ name }: Pipeline, { dryRun, json }: IngestOptions, problem: string) =>
  json ? Console.log(formatUnpublishedJson({ pipeline: name, outcome: "not_run", problem, dryRun })) : Effect.void

/** A recording may contain only some hosts. In a run of several pipelines, those without a recording are left out. */
const selectRecorded = Effect.fnUntraced(function* (requested: Pipelines, options: IngestOptions) {
  if (Option.isNone(options.replay) || requested.length === 1) return requested
  const names = yield* listRecordedNames(options.replay.value)
  const isRecorded = ({ recordingFolders }: Pipeline) => recordingFolders.some((folder) => names.has(folder))
  if (!requested.some(isRecorded)) return requested // each pipeline reports which files it looked for
  for (const pipeline of requested.filter((candidate) => !isRecorded(candidate))) {
    const problem = `there is no recording of ${pipeline.recordingFolders.join(" or ")}`
    yield* Effect.logInfo(`${pipeline.name} is left out: ${problem}`)
    yield* reportSkipped(pipeline, options, problem)
  }
  return requested.filter(isRecorded)
})

interface Invocation {
  readonly options: IngestOptions
  readonly layout: Layout
  readonly days: DayRange | undefined
  readonly source: RunSource
  readonly webhook: Webhook | undefined
}

/** With `--json`, also prints an object for a pipeline that failed or was interrupted. */
const reportFailure = (
  { name }: Pipeline,
  { dryRun, json }: IngestOptions,
  cause: Cause.Cause<unknown>,
  failed?: FailedRun
) => {
  if (!json) return Effect.void
  const outcome = Cause.hasInterruptsOnly(cause) ? "interrupted" : "failed"
  const message = outcome === "interrupted" ? outcome : expectedMessages(cause).join("\n")
  const problem = message || String(Cause.squash(cause))
  return Console.log(formatUnpublishedJson({ pipeline: name, outcome, problem, dryRun, failed }))
}

/** Earlier pipelines used the time of the command. Like a feed that was not requested, the data set keeps its values. */
class PipelineLeftOut extends Schema.TaggedError<PipelineLeftOut>()("PipelineLeftOut", {
  pipeline: Schema.String,
  problem: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = 4
  override get message() {
    return `${this.pipeline} is left out: ${this.problem}.`
  }
}

const ingestPipeline = Effect.fnUntraced(function* (pipeline: Pipeline, invocation: Invocation) {
  const { days, layout, options, webhook } = invocation
  const { acceptShrinkage, dryRun, json, quiet } = options
  const { isOver, problem } = yield* RunTime
  if (yield* isOver) {
    yield* reportSkipped(pipeline, options, problem)
    const leftOut = new PipelineLeftOut({ pipeline: pipeline.name, problem })
    yield* tellNotRun(webhook, pipeline.name, leftOut.message)
    return yield* leftOut
  }
  let failed: FailedRun | undefined
  const onFailed = (run: FailedRun) => {
    failed = run
  }
  const runOptions = {
    home: layout.home,
    days: pipeline.acceptsDays ? days : undefined,
    dryRun,
    acceptShrinkage,
    onFailed,
    onKilled: (runs: ReadonlyArray<RunRecord>) => tellKilled(webhook, runs)
  }
  const result = yield* ingestFromSource(pipeline, options, runOptions).pipe(
    Effect.onError((cause) => reportFailure(pipeline, options, cause, failed)),
    Effect.tapCause((cause) => tellFailure(webhook, pipeline.name, cause, failed)),
    Effect.onInterrupt(() => tellInterrupted(webhook, pipeline.name, failed)),
    json || quiet ? (effect) => effect : Effect.provide(progressOnStderr)
  )
  if (json) yield* Console.log(formatResultJson(result, dryRun))
  else if (!quiet) yield* Console.log(formatSummary(result, dryRun))
  const leftOut = leftOutError(result, dryRun)
  if (leftOut === undefined) return
  if (!hasOnlyKnown(result)) {
    yield* tellLeftOut(webhook, result, leftOut)
    return yield* leftOut
  }
  yield* Effect.logWarning(leftOut.message)
})

/** Exit codes of pipelines with problems, the worst first. */
const problemWords = new Map([
  [3, "failed a check"],
  [1, "failed"],
  [2, "was not run"],
  [4, "left something out"]
])

export const worstExitCode = (codes: ReadonlyArray<number>) =>
  [...problemWords.keys(), 0].find((code) => codes.includes(code)) ?? 1

/** Problems in a run of several pipelines. Each pipeline has already reported its own. */
class PipelineProblems extends Schema.TaggedError<PipelineProblems>()("PipelineProblems", {
  code: Schema.Int,
  count: Schema.Int,
  exits: Schema.Array(Schema.Struct({ pipeline: Schema.String, code: Schema.Int }))
}) {
  override readonly [Runtime.errorExitCode] = this.code
  override get message() {
    const problems = this.exits.map(({ code, pipeline }) => `${pipeline} ${problemWords.get(code) ?? "failed"}`)
    return `${this.exits.length} of ${this.count} pipelines had problems: ${problems.join(", ")}.`
  }
}

/** Checks one pipeline before any pipeline runs. False if it has nothing to read and others may run. */
const preparePipeline = Effect.fnUntraced(function* (pipeline: Pipeline, invocation: Invocation, isSingle: boolean) {
  const { missing, nothingToRead } = yield* checkPipeline(pipeline, invocation.layout, invocation.source)
  if (nothingToRead !== undefined && isSingle) return yield* new UsageError({ problem: nothingToRead })
  if (nothingToRead !== undefined) {
    yield* Effect.logWarning(`${pipeline.name} is left out. ${nothingToRead}`)
    yield* reportSkipped(pipeline, invocation.options, nothingToRead)
  }
  if (missing !== undefined) yield* Effect.logWarning(missing)
  return nothingToRead === undefined
})

const runPipelines = Effect.fnUntraced(function* (selected: Pipelines, invocation: Invocation) {
  const isSingle = selected.length === 1
  const logFailure = isSingle ? () => Effect.void : report(programName) // a single error is reported on exit
  const prepared = yield* Effect.forEach(selected, (pipeline) =>
    preparePipeline(pipeline, invocation, isSingle).pipe(
      Effect.tapCause(logFailure),
      Effect.tapCause((cause) => reportFailure(pipeline, invocation.options, cause)),
      Effect.tapCause((cause) => tellFailure(invocation.webhook, pipeline.name, cause)),
      Effect.exit,
      Effect.map((exit) => ({ pipeline, exit }))
    )
  )
  const exits: Array<{ readonly pipeline: string; readonly exit: Exit.Exit<unknown, unknown> }> = []
  for (const { exit, pipeline } of prepared) {
    if (Exit.isSuccess(exit) && !exit.value) continue
    const run = ingestPipeline(pipeline, invocation).pipe(Effect.tapCause(logFailure), Effect.exit)
    exits.push({ pipeline: pipeline.name, exit: Exit.isFailure(exit) ? exit : yield* run })
  }
  if (isSingle) return yield* exits[0]?.exit ?? Effect.void
  const ended = exits.map(({ exit, pipeline }) => ({ pipeline, code: exitCodeOf(exit) }))
  const code = worstExitCode(ended.map((pipeline) => pipeline.code))
  if (code === 0) return
  return yield* new PipelineProblems({
    code,
    count: selected.length,
    exits: ended.filter((pipeline) => pipeline.code !== 0)
  })
})

const prepareRun = Effect.fnUntraced(function* (
  requested: Pipelines,
  days: DayRange | undefined,
  options: IngestOptions,
  webhook: Webhook | undefined
) {
  const layout = yield* openHome
  if (!options.dryRun) yield* catchUp(layout) // samples and live data must not mix, even if another machine published one of them
  const live = yield* newestManifest(layout.local)
  if (options.ifMissing && Object.values(live?.data_sets ?? {}).some(isLoaded)) return undefined
  const kind = yield* sourceKind(options)
  yield* checkSettings(kind)
  yield* isLakeEnabled
  const source: RunSource = { kind, stores: Option.getOrUndefined(options.stores) }
  const invocation: Invocation = { options, layout, days, source, webhook }
  return { selected: yield* selectRecorded(requested, options), invocation }
})

const ingestAll = Effect.fnUntraced(function* (available: Pipelines, requested: Pipelines, options: IngestOptions) {
  const reportUnprepared = (cause: Cause.Cause<unknown>) =>
    Effect.forEach(requested, (pipeline) => reportFailure(pipeline, options, cause))
  const [days, configured] = yield* Effect.tapCause(
    // who calls with flags that cannot be used sees that: no notice
    Effect.all([Effect.andThen(checkFlags(available, requested, options), parseDays(options)), webhookFromSettings]),
    reportUnprepared
  )
  const webhook = options.dryRun ? undefined : configured
  const names = requested.map(({ name }) => name).join(", ")
  const prepared = yield* prepareRun(requested, days, options, webhook).pipe(
    Effect.tapCause(reportUnprepared),
    Effect.tapCause((cause) => tellFailure(webhook, names, cause)),
    Effect.onInterrupt(() => tellInterrupted(webhook, names))
  )
  if (prepared === undefined) return
  const exit = yield* Effect.exit(runPipelines(prepared.selected, prepared.invocation))
  if (!options.dryRun) yield* writeLakeIfEnabled(prepared.invocation.layout)
  return yield* exit
})

/** Runs the requested pipelines, which are among the available ones. */
export const ingest = (available: Pipelines, requested: Pipelines, options: IngestOptions) => {
  const runTime = makeRunTime(Option.getOrUndefined(options.maxTime))
  const all = Effect.provideService(ingestAll(available, requested, options), RunTime, runTime)
  return options.quiet ? Effect.provideService(all, References.MinimumLogLevel, "Error") : all
}
