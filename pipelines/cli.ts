/** `larder-ingest`: runs pipelines, lists generations, goes back to an earlier one. */
import { Day } from "@larder/schemas/dates.ts"
import { version } from "@larder/schemas/version.ts"
import { programOf } from "@larder/warehouse/command-line.ts"
import { ChecksFailed } from "@larder/warehouse/generation/check.ts"
import type { RunRecord } from "@larder/warehouse/generation/journal.ts"
import { currentFile, layoutOf } from "@larder/warehouse/generation/layout.ts"
import { listGenerations, rollback } from "@larder/warehouse/generation/rollback.ts"
import { Cause, Console, Effect, Exit, Option, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { brandedFoods } from "./branded-foods/branded-foods.ts"
import { commodities } from "./commodities/commodities.ts"
import { probe } from "./probe/command.ts"
import type { Pipeline, ReadResult } from "./run/pipeline.ts"
import { progressOnStderr } from "./run/progress.ts"
import { recordedNames } from "./run/replay-origin.ts"
import { FeedsLeftOut, type Given, homeSetting, ingestOnce, type RunOptions, repeatRuns } from "./run/run.ts"
import { status } from "./status.ts"
import { storefronts } from "./storefronts/storefronts.ts"

const pipelines: ReadonlyArray<Pipeline> = [commodities, brandedFoods, storefronts]

class BadUse extends Schema.TaggedError<BadUse>()("BadUse", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return this.problem
  }
}

const day = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withSchema(Day), Flag.withDescription(description), Flag.optional)

const flags = {
  replay: Flag.Path("replay", { mustExist: true }).pipe(
    Flag.withDescription(
      "Read recorded payloads instead of the network: a folder laid out as <host>/<path>[?query], or a bundle of probe"
    ),
    Flag.optional
  ),
  file: Flag.Path("file", { mustExist: true }).pipe(
    Flag.withDescription("Read a downloaded release instead: a zip, a .json, or a folder with .csv files"),
    Flag.optional
  ),
  stores: Flag.File("stores", { mustExist: true }).pipe(
    Flag.withDescription("Read the stores of this JSON list instead of LARDER_STORES"),
    Flag.optional
  ),
  from: day("from", "First day to read, YYYY-MM-DD; needs --to"),
  to: day("to", "Last day to read, YYYY-MM-DD; needs --from"),
  ifMissing: Flag.Boolean("if-missing").pipe(
    Flag.withDescription("Do nothing if a warehouse exists"),
    Flag.withDefault(false)
  ),
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withDescription("Read, merge and check, but publish nothing"),
    Flag.withDefault(false)
  ),
  acceptShrinkage: Flag.Boolean("accept-shrinkage").pipe(
    Flag.withDescription("Publish even where there is much less than in the live generation"),
    Flag.withDefault(false)
  ),
  json: Flag.Boolean("json").pipe(
    Flag.withDescription("Print one JSON object per run on stdout, for machines"),
    Flag.withDefault(false)
  )
}

/** `--file` and `--stores` are told of only where they can be given; elsewhere they are refused in words. */
const flagsOf = (which: ReadonlyArray<Pipeline>) => ({
  ...flags,
  file: which.every(({ files }) => files) ? flags.file : Flag.withHidden(flags.file),
  stores: which.every(({ lists }) => lists) ? flags.stores : Flag.withHidden(flags.stores)
})

const daysOf = (from: Option.Option<string>, to: Option.Option<string>) => {
  if (Option.isNone(from) && Option.isNone(to)) return Effect.succeed(undefined)
  if (Option.isNone(from) || Option.isNone(to)) {
    return Effect.fail(new BadUse({ problem: "--from and --to are given together, or not at all" }))
  }
  return from.value > to.value
    ? Effect.fail(new BadUse({ problem: `--from ${from.value} is after --to ${to.value}` }))
    : Effect.succeed({ from: from.value, to: to.value })
}

const isFor = (which: ReadonlyArray<Pipeline>, flag: string, reads: (pipeline: Pipeline) => boolean) => {
  if (which.every(reads)) return Effect.void
  const readers = pipelines.filter(reads).map(({ name }) => `larder-ingest ${name}`)
  const names = which.map(({ name }) => name).join(" and ")
  return Effect.fail(new BadUse({ problem: `${flag} is not for ${names}: give it to ${readers.join(" or ")}` }))
}

/** A release and a list of stores belong to one pipeline each, and a release is read instead of any other source. */
const checkGiven = Effect.fnUntraced(function* (which: ReadonlyArray<Pipeline>, { file, replay, stores }: Given) {
  if (Option.isSome(file)) yield* isFor(which, "--file", ({ files }) => files === true)
  if (Option.isSome(stores)) yield* isFor(which, "--stores", ({ lists }) => lists === true)
  if (Option.isSome(file) && Option.isSome(replay)) {
    return yield* new BadUse({ problem: "--file and --replay are two sources: give one of them" })
  }
})

const grouped = (rows: number) => rows.toLocaleString("en-US")

const told = (run: RunRecord, dryRun: boolean, stores?: ReadResult["stores"]) => {
  const what = dryRun ? "would publish a new generation (dry run)" : `published ${run.generation}`
  const headline = run.outcome === "unchanged" ? "nothing new, nothing published" : what
  const nothing = run.outcome === "partial" && run.generation === null && !dryRun
  return [
    `${run.pipeline}: ${nothing ? "nothing new, nothing published" : headline}`,
    `  ${grouped(run.rows_read)} rows read: ${grouped(run.rows_loaded)} loaded, ${grouped(run.rows_unchanged)} unchanged, ${grouped(run.rows_rejected)} rejected`,
    ...(stores?.not_due ? [`  ${grouped(stores.not_due)} of ${grouped(stores.listed)} stores were not due`] : [])
  ].join("\n")
}

const ofTheOthers = ({ generation }: RunRecord, hasOthers: boolean) => {
  if (!hasOthers) return generation === null ? "nothing of them was new" : "what could be read of them was published"
  return generation === null ? "the others had nothing new" : "the others were published"
}

/** One pipeline from its source to its line of output. */
const ingestAndTell = Effect.fnUntraced(function* (
  pipeline: Pipeline,
  given: Given,
  options: RunOptions,
  json: boolean
) {
  const { all_failed, left_out, run, stores } = yield* ingestOnce(pipeline, given, options).pipe(
    json ? (effect) => effect : Effect.provide(progressOnStderr)
  )
  yield* Console.log(
    json ? JSON.stringify({ ...run, left_out, stores, dry_run: options.dryRun }) : told(run, options.dryRun, stores)
  )
  if (left_out.length === 0) return
  const hasOthers = stores === undefined || stores.listed - stores.not_due > left_out.length
  const published = all_failed ? "not one could be read" : ofTheOthers(run, hasOthers)
  return yield* new FeedsLeftOut({ pipeline: pipeline.name, left_out, published, all_failed })
})

/** A failed check is worse than a failure: its exit code wins. */
const worstFirst = (a: Cause.Cause<unknown>, b: Cause.Cause<unknown>) =>
  Number(Cause.squash(b) instanceof ChecksFailed) - Number(Cause.squash(a) instanceof ChecksFailed)

/** A recording may hold some hosts only. Where several pipelines are to run, those it says nothing about are left out. */
const recorded = Effect.fnUntraced(function* (which: ReadonlyArray<Pipeline>, { replay }: Given) {
  if (Option.isNone(replay) || which.length === 1) return which
  const names = yield* recordedNames(replay.value)
  const found = which.filter(({ hosts }) => hosts.some((host) => names.has(host)))
  if (found.length === 0) return which // each says what it looked for
  for (const { hosts, name } of which.filter((pipeline) => !found.includes(pipeline))) {
    yield* Effect.logInfo(`${name} is left out: nothing is recorded of ${hosts.join(" or ")}`)
  }
  return found
})

/** Pipelines are independent: one that fails does not keep the others from running. */
const ingest = (which: ReadonlyArray<Pipeline>) =>
  Effect.fn(function* ({
    acceptShrinkage,
    dryRun,
    file,
    from,
    ifMissing,
    json,
    replay,
    stores,
    to
  }: Command.Command.Config.Infer<typeof flags>) {
    const given = { file, replay, stores }
    yield* checkGiven(which, given)
    const days = yield* daysOf(from, to)
    const home = yield* homeSetting
    const live = yield* currentFile(yield* layoutOf(home)) // fails before anything is fetched where the link leads to none
    if (ifMissing && Option.isSome(live)) return
    const exits = yield* Effect.forEach(yield* recorded(which, given), (pipeline) =>
      Effect.exit(ingestAndTell(pipeline, given, { home, days, dryRun, acceptShrinkage }, json))
    )
    const [worst, ...others] = exits.flatMap((exit) => (Exit.isFailure(exit) ? [exit.cause] : [])).sort(worstFirst)
    if (worst !== undefined)
      return yield* Effect.failCause(others.reduce((all, cause) => Cause.combine(all, cause), worst))
  })

const commands = pipelines.map((pipeline) =>
  Command.make(pipeline.name, flagsOf([pipeline]), ingest([pipeline])).pipe(
    Command.withDescription(`Run the ${pipeline.name} pipeline`)
  )
)
const all = Command.make("all", flagsOf(pipelines), ingest(pipelines)).pipe(
  Command.withDescription("Run every pipeline")
)

const generations = Command.make(
  "generations",
  {
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON array on stdout"), Flag.withDefault(false))
  },
  Effect.fn(function* ({ json }) {
    const kept = yield* Effect.flatMap(layoutOf(yield* homeSetting), listGenerations)
    if (json) return yield* Console.log(JSON.stringify(kept))
    const lines = kept.map(({ generation, live }) => `${live ? "*" : " "} ${generation}`)
    yield* Console.log(lines.length === 0 ? "No generation yet. Run: npx larder-ingest" : lines.join("\n"))
  })
).pipe(Command.withDescription("List the kept generations of the warehouse; * is live"))

const rollBack = Command.make(
  "rollback",
  {
    to: Flag.String("to").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("The generation, such as 41 or larder-000041"),
      Flag.optional
    )
  },
  Effect.fn(function* ({ to }) {
    const live = yield* rollback(yield* layoutOf(yield* homeSetting), to)
    yield* Console.log(`${live} is live; servers follow at once. The next run starts from there.`)
  })
).pipe(Command.withDescription("Promote an earlier generation: the one of --to, or else the one before the live one"))

const rebuild = Command.make(
  "rebuild",
  {
    into: Flag.Directory("into").pipe(
      Flag.withDescription("A new or empty folder for the warehouse; the archive stays where it is")
    ),
    json: flags.json
  },
  Effect.fn(function* ({ into, json }) {
    const from = yield* homeSetting
    if (Option.isSome(yield* currentFile(yield* layoutOf(into)))) {
      return yield* new BadUse({ problem: `${into} holds a warehouse already: --into wants a new folder` })
    }
    for (const pipeline of pipelines) {
      const runs = yield* repeatRuns(pipeline, from, { home: into, days: undefined, dryRun: false })
      for (const run of runs) yield* Console.log(json ? JSON.stringify(run) : told(run, false))
    }
  })
).pipe(Command.withDescription("Build the warehouse again from the raw archive, without the network"))

const root = Command.make("larder-ingest", flagsOf(pipelines), ingest(pipelines)).pipe(
  Command.withDescription("Pull public market data into a new generation of the warehouse"),
  Command.withSubcommands([...commands, all, probe, status, generations, rollBack, rebuild])
)

export const program = programOf(root, { version })
