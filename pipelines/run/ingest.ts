/**
 * Runs `larder-ingest`, alone or with the name of a pipeline: checks the request, runs the pipelines one after the
 * other, and reports how each ended. A pipeline that fails does not keep the others from running.
 */

import { catchUp, followWithLake, isLoaded, type Layout, lakeSetting, newestManifest } from "@larder/warehouse"
import { exitCodeOf, expectedMessages, report } from "@larder/warehouse/cli"
import { Cause, Console, Effect, Exit, Option, Runtime, Schema } from "effect"
import { recordedNames } from "./origins/replay.ts"
import type { DayRange, Pipeline } from "./pipeline.ts"
import { BadUse, checkPipeline, checkSettings, type Given, type Source, sourceKind } from "./preflight.ts"
import { progressOnStderr } from "./progress.ts"
import type { Ended } from "./read-and-publish.ts"
import { ingestOnce, openHome } from "./run.ts"
import { jsonOf, jsonOfUnpublished, leftOutError, summaryOf } from "./summary.ts"

const programName = "larder-ingest"

export interface Asked extends Given {
  readonly from: Option.Option<string>
  readonly to: Option.Option<string>
  readonly ifMissing: boolean
  readonly dryRun: boolean
  readonly acceptShrinkage: boolean
  readonly json: boolean
}

const daysOf = ({ from, to }: Asked): Effect.Effect<DayRange | undefined, BadUse> => {
  if (Option.isNone(from) && Option.isNone(to)) return Effect.succeed(undefined)
  if (Option.isNone(from) || Option.isNone(to)) {
    return Effect.fail(new BadUse({ problem: "--from and --to must be given together" }))
  }
  return from.value > to.value
    ? Effect.fail(new BadUse({ problem: `--from ${from.value} is after --to ${to.value}` }))
    : Effect.succeed({ from: from.value, to: to.value })
}

type Pipelines = ReadonlyArray<Pipeline>

const isFor = (all: Pipelines, which: Pipelines, flag: string, reads: (pipeline: Pipeline) => boolean) => {
  if (which.every(reads)) return Effect.void
  const readers = all.filter(reads).map(({ name }) => `${programName} ${name}`)
  const others = which.filter((pipeline) => !reads(pipeline))
  const names = others.map(({ name }) => name).join(" and ")
  return Effect.fail(new BadUse({ problem: `${flag} does not apply to ${names}: use it with ${readers.join(" or ")}` }))
}

/**
 * A release and a store list belong to one pipeline each, and a release replaces any other source. Days are for sources
 * that can be queried by day: in a run of several pipelines, the others read what they always do.
 */
const checkGiven = Effect.fnUntraced(function* (all: Pipelines, which: Pipelines, asked: Asked) {
  const { file, from, replay, stores, to } = asked
  const hasDays = ({ days }: Pipeline) => days === true
  if (!which.some(hasDays)) {
    if (Option.isSome(from)) yield* isFor(all, which, "--from", hasDays)
    if (Option.isSome(to)) yield* isFor(all, which, "--to", hasDays)
  }
  if (Option.isSome(file)) yield* isFor(all, which, "--file", ({ files }) => files === true)
  if (Option.isSome(stores)) yield* isFor(all, which, "--stores", ({ lists }) => lists === true)
  if (Option.isSome(file) && Option.isSome(replay)) {
    return yield* new BadUse({ problem: "--file and --replay are two sources: give one of them" })
  }
})

/** With `--json`, a pipeline that a run of several leaves out is an object, too. */
const tellNotRun = ({ name }: Pipeline, { dryRun, json }: Asked, problem: string) =>
  json ? Console.log(jsonOfUnpublished({ pipeline: name, outcome: "not_run", problem, dryRun })) : Effect.void

/** A recording may hold only some hosts. In a run of several pipelines, those without a recording are left out. */
const recorded = Effect.fnUntraced(function* (which: Pipelines, asked: Asked) {
  const { replay } = asked
  if (Option.isNone(replay) || which.length === 1) return which
  const names = yield* recordedNames(replay.value)
  const found = which.filter(({ hosts }) => hosts.some((host) => names.has(host)))
  if (found.length === 0) return which // each pipeline reports what it looked for
  for (const pipeline of which.filter((one) => !found.includes(one))) {
    const problem = `nothing is recorded of ${pipeline.hosts.join(" or ")}`
    yield* Effect.logInfo(`${pipeline.name} is left out: ${problem}`)
    yield* tellNotRun(pipeline, asked, problem)
  }
  return found
})

/** What all pipelines of a call share. */
interface Run {
  readonly asked: Asked
  readonly layout: Layout
  readonly days: DayRange | undefined
}

/** With `--json`, a pipeline that failed or was interrupted is an object, too. */
const tellFailure = ({ name }: Pipeline, { dryRun, json }: Asked, cause: Cause.Cause<unknown>, ended?: Ended) => {
  if (!json) return Effect.void
  const outcome = Cause.hasInterruptsOnly(cause) ? "interrupted" : "failed"
  const message = outcome === "interrupted" ? outcome : expectedMessages(cause).join("\n")
  const problem = message || String(Cause.squash(cause))
  return Console.log(jsonOfUnpublished({ pipeline: name, outcome, problem, dryRun, ended }))
}

/** Runs one pipeline and prints its result. */
const ingestAndTell = Effect.fnUntraced(function* (pipeline: Pipeline, { asked, days, layout }: Run) {
  const { acceptShrinkage, dryRun, json } = asked
  let ended: Ended | undefined
  const onFailed = (failed: Ended) => {
    ended = failed
  }
  const options = { home: layout.home, days: pipeline.days ? days : undefined, dryRun, acceptShrinkage, onFailed }
  const result = yield* ingestOnce(pipeline, asked, options).pipe(
    Effect.onExit((exit) => (Exit.isFailure(exit) ? tellFailure(pipeline, asked, exit.cause, ended) : Effect.void)),
    json ? (effect) => effect : Effect.provide(progressOnStderr)
  )
  yield* Console.log(json ? jsonOf(result, dryRun) : summaryOf(result, dryRun))
  const leftOut = leftOutError(result, dryRun)
  if (leftOut !== undefined) return yield* leftOut
})

/** A failed check ranks first, then failures, wrong usage, and left-out feeds. */
const worstFirst = [3, 1, 2, 4, 0]

/** The worst exit code of several pipelines. */
export const worstOf = (codes: ReadonlyArray<number>): number => worstFirst.find((code) => codes.includes(code)) ?? 1

const words: Readonly<Record<number, string>> = {
  1: "failed",
  2: "was not run",
  3: "failed a check",
  4: "left something out"
}

/** The end of a run of several pipelines. Each has already reported what happened. */
class PipelinesEnded extends Schema.TaggedError<PipelinesEnded>()("PipelinesEnded", {
  code: Schema.Int,
  of: Schema.Int,
  ended: Schema.Array(Schema.Struct({ pipeline: Schema.String, code: Schema.Int }))
}) {
  override readonly [Runtime.errorExitCode] = this.code
  override get message() {
    const each = this.ended.map(({ code, pipeline }) => `${pipeline} ${words[code] ?? "failed"}`)
    return `${this.ended.length} of ${this.of} pipelines had problems: ${each.join(", ")}.`
  }
}

const endOf = (ended: ReadonlyArray<{ readonly pipeline: string; readonly code: number }>, of: number) => {
  const bad = ended.filter(({ code }) => code !== 0)
  const code = worstOf(ended.map((one) => one.code))
  return code === 0 ? Effect.void : Effect.fail(new PipelinesEnded({ code, of, ended: bad }))
}

/** Checks one pipeline before any pipeline runs. False if it has nothing to read and others may run. */
const lookAt = Effect.fnUntraced(function* (
  pipeline: Pipeline,
  { asked, layout }: Run,
  source: Source,
  isAlone: boolean
) {
  const { lacks, nothing } = yield* checkPipeline(pipeline, layout, source)
  if (nothing !== undefined && isAlone) return yield* new BadUse({ problem: nothing })
  if (nothing !== undefined) {
    yield* Console.error(`${programName}: ${pipeline.name} is left out. ${nothing}`)
    yield* tellNotRun(pipeline, asked, nothing)
  }
  if (lacks !== undefined) yield* Console.error(`${programName}: ${lacks}`)
  return nothing === undefined
})

const runEach = Effect.fnUntraced(function* (which: Pipelines, run: Run, source: Source) {
  const isAlone = which.length === 1
  const noted = isAlone ? () => Effect.void : report(programName) // the error of a single pipeline is reported last
  const looked = yield* Effect.forEach(which, (pipeline) =>
    lookAt(pipeline, run, source, isAlone).pipe(
      Effect.tapCause(noted),
      Effect.tapCause((cause) => tellFailure(pipeline, run.asked, cause)),
      Effect.exit,
      Effect.map((exit) => ({ pipeline, exit }))
    )
  )
  const exits: Array<{ readonly pipeline: Pipeline; readonly exit: Exit.Exit<unknown, unknown> }> = []
  for (const { exit, pipeline } of looked) {
    if (Exit.isFailure(exit)) exits.push({ pipeline, exit })
    if (Exit.isFailure(exit) || !exit.value) continue
    exits.push({ pipeline, exit: yield* Effect.exit(Effect.tapCause(ingestAndTell(pipeline, run), noted)) })
  }
  const [first] = exits
  if (isAlone) return yield* first?.exit ?? Effect.void
  const ended = exits.map(({ exit, pipeline }) => ({ pipeline: pipeline.name, code: exitCodeOf(exit) }))
  return yield* endOf(ended, which.length)
})

/** Checks what concerns all pipelines, before the checks of each pipeline. Undefined if there is nothing to do. */
const setUp = Effect.fnUntraced(function* (all: Pipelines, which: Pipelines, asked: Asked) {
  yield* checkGiven(all, which, asked)
  const days = yield* daysOf(asked)
  const layout = yield* openHome
  if (!asked.dryRun) yield* catchUp(layout) // samples and live data must not mix, wherever they were published
  const live = Option.getOrUndefined(yield* newestManifest(layout.local))
  if (asked.ifMissing && Object.values(live?.data_sets ?? {}).some(isLoaded)) return undefined
  const kind = yield* sourceKind(asked)
  yield* checkSettings(kind)
  yield* lakeSetting(layout)
  const source: Source = { kind, stores: Option.getOrUndefined(asked.stores) }
  return { wanted: yield* recorded(which, asked), run: { asked, layout, days }, source }
})

/** `which` are the requested pipelines out of `all`. */
export const ingest = Effect.fnUntraced(function* (all: Pipelines, which: Pipelines, asked: Asked) {
  const ready = yield* setUp(all, which, asked).pipe(
    Effect.tapCause((cause) => Effect.forEach(which, (pipeline) => tellFailure(pipeline, asked, cause)))
  )
  if (ready === undefined) return
  const exit = yield* Effect.exit(runEach(ready.wanted, ready.run, ready.source))
  if (!asked.dryRun) yield* followWithLake(ready.run.layout)
  return yield* exit
})
