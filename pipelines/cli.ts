/** `larder-ingest`: runs pipelines, lists generations, goes back to an earlier one. */
import { Day } from "@larder/schemas/dates.ts"
import { version } from "@larder/schemas/version.ts"
import { programOf } from "@larder/warehouse/command-line.ts"
import { layoutOf, requirePresentForm } from "@larder/warehouse/generation/layout.ts"
import { type ListedGeneration, listGenerations } from "@larder/warehouse/generation/listing.ts"
import { rollback } from "@larder/warehouse/publishing/rollback.ts"
import { Console, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { brandedFoods } from "./branded-foods/branded-foods.ts"
import { commodities } from "./commodities/commodities.ts"
import { probe } from "./probe/command.ts"
import { prune } from "./prune.ts"
import { ingest } from "./run/ingest.ts"
import type { Pipeline } from "./run/pipeline.ts"
import { rebuildDataSet } from "./run/rebuild.ts"
import { homeSetting } from "./run/run.ts"
import { told } from "./run/summary.ts"
import { snapshot } from "./snapshot.ts"
import { status } from "./status.ts"
import { storefronts } from "./storefronts/storefronts.ts"

const pipelines: ReadonlyArray<Pipeline> = [commodities, brandedFoods, storefronts]

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
    Flag.withDescription("Print one JSON object per pipeline on stdout, for machines"),
    Flag.withDefault(false)
  )
}

/** In place of a flag that is for other pipelines: it is not told of, and refused in words whatever its value. */
const elsewhere = (name: string) => Flag.withHidden(Flag.optional(Flag.String(name)))

/** Of several pipelines, days are for those whose sources can be asked for some. */
const daysOf = (which: ReadonlyArray<Pipeline>) => {
  const readers = which.filter(({ days }) => days).map(({ name }) => name)
  if (readers.length === 0) return { from: elsewhere("from"), to: elsewhere("to") }
  const of = readers.length === which.length ? "" : ` of ${readers.join(" and ")}, the others being read as ever`
  return {
    from: day("from", `First day to read${of}, YYYY-MM-DD; needs --to`),
    to: day("to", `Last day to read${of}, YYYY-MM-DD; needs --from`)
  }
}

const flagsOf = (which: ReadonlyArray<Pipeline>) => ({
  ...flags,
  ...daysOf(which),
  file: which.every(({ files }) => files) ? flags.file : elsewhere("file"),
  stores: which.every(({ lists }) => lists) ? flags.stores : elsewhere("stores")
})

const ingesting =
  (which: ReadonlyArray<Pipeline>) => (given: Command.Command.Config.Infer<ReturnType<typeof flagsOf>>) =>
    ingest(pipelines, which, given)

const commands = pipelines.map((pipeline) =>
  Command.make(pipeline.name, flagsOf([pipeline]), ingesting([pipeline])).pipe(
    Command.withDescription(`Run the ${pipeline.name} pipeline`)
  )
)
const all = Command.make("all", flagsOf(pipelines), ingesting(pipelines)).pipe(
  Command.withDescription("Run every pipeline")
)

const GenerationName = Schema.String.check(
  Schema.makeFilter((text) => /^(larder-)?\d{1,15}$/.test(text) || "expected a generation, such as 41 or larder-000041")
)
const DataSetName = Schema.Literals(pipelines.map(({ name }) => name))

const moment = (iso: string) => `${iso.slice(0, 16).replace("T", " ")} UTC`

/** What happened, in words. */
const whatOf = ({ kind, outcome, pipeline, went_back_to }: ListedGeneration) => {
  if (kind === "run") return `${pipeline}: ${outcome?.replace("_", " ")}`
  const of = pipeline ?? "all data sets"
  return kind === "rollback" ? `rollback of ${of} to ${went_back_to ?? "before its first run"}` : `rebuild of ${of}`
}
const lineOf = (listed: ListedGeneration) => {
  const { bytes, generation, kept, live, made_at, note, rolled_back_by, rows } = listed
  const facts = [
    whatOf(listed),
    ...(rows === null ? [] : [`${rows.toLocaleString("en-US")} new rows`]),
    ...(kept ? [`${Math.ceil(bytes / 1024).toLocaleString("en-US")} KiB`] : []),
    ...(rolled_back_by === null ? [] : [`rolled back by ${rolled_back_by}`]),
    ...(note === null ? [] : [note])
  ]
  return `${live ? "*" : " "} ${generation}  ${moment(made_at)}  ${facts.join(", ")}`
}

const generations = Command.make(
  "generations",
  {
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON array on stdout"), Flag.withDefault(false))
  },
  Effect.fn(function* ({ json }) {
    const layout = yield* layoutOf(yield* homeSetting)
    yield* requirePresentForm(layout)
    const { generations: listed, unusable } = yield* listGenerations(layout)
    for (const { message } of unusable) yield* Effect.logWarning(`one generation is not listed: ${message}`)
    if (json) return yield* Console.log(JSON.stringify(listed))
    yield* Console.log(
      listed.length === 0 ? "No generation yet. Run: npx larder-ingest" : listed.map(lineOf).join("\n")
    )
  })
).pipe(Command.withDescription("List the kept generations: what happened when; * has data that is live"))

const rollBack = Command.make(
  "rollback",
  {
    to: Flag.String("to").pipe(
      Flag.withSchema(GenerationName),
      Flag.withMetavar("N"),
      Flag.withDescription("The generation, such as 41 or larder-000041"),
      Flag.optional
    ),
    only: Flag.String("only").pipe(
      Flag.withSchema(DataSetName),
      Flag.withMetavar("DATA-SET"),
      Flag.withDescription(`One data set alone: ${pipelines.map(({ name }) => name).join(", ")}`),
      Flag.optional
    ),
    note: Flag.String("note").pipe(Flag.withDescription("Why, for whoever looks at it later"), Flag.optional),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object on stdout"), Flag.withDefault(false))
  },
  Effect.fn(function* ({ json, ...asked }) {
    const layout = yield* layoutOf(yield* homeSetting)
    yield* requirePresentForm(layout)
    const back = yield* rollback(layout, asked)
    if (json) return yield* Console.log(JSON.stringify(back))
    const each = Object.entries(back.data_sets).map(
      ([name, of]) => `${name} is ${of === null ? "no longer loaded" : `that of ${of}`}`
    )
    yield* Console.log(
      `${back.generation} is live: ${each.join(", ")}. Servers follow at once. The next run starts from there.`
    )
  })
).pipe(
  Command.withDescription(
    "Go back to the data of an earlier generation: that of --to, or else what the newest data was built from"
  )
)

/** Of one data set that was named. */
class NothingToRepeat extends Schema.TaggedError<NothingToRepeat>()("NothingToRepeat", { pipeline: Schema.String }) {
  override get message() {
    return `The raw archive has no run of ${this.pipeline} that counts: there is none, or all were rolled back. Nothing was changed.`
  }
}

const rebuild = Command.make(
  "rebuild",
  {
    which: Argument.String("data-set").pipe(
      Argument.withSchema(DataSetName),
      Argument.withDescription("One data set alone; all where none is named"),
      Argument.optional
    ),
    json: flags.json
  },
  Effect.fn(function* ({ json, which }) {
    const home = yield* homeSetting
    const layout = yield* layoutOf(home)
    yield* requirePresentForm(layout)
    const wanted = pipelines.filter(({ name }) => Option.isNone(which) || name === which.value)
    for (const pipeline of wanted) {
      const { generation, runs } = yield* rebuildDataSet(pipeline, home)
      if (runs.length === 0 && Option.isSome(which)) return yield* new NothingToRepeat({ pipeline: pipeline.name })
      for (const run of runs) yield* Console.log(json ? JSON.stringify(run) : told({ run, changes: true }, false))
      if (json || runs.length === 0) continue
      yield* Console.log(`${pipeline.name}: made anew of ${runs.length} runs, live in ${generation}`)
    }
  })
).pipe(Command.withDescription("Make data sets anew from the raw archive, without the network"))

const root = Command.make("larder-ingest", flagsOf(pipelines), ingesting(pipelines)).pipe(
  Command.withDescription("Pull public market data into a new generation of the warehouse"),
  Command.withSubcommands([...commands, all, probe, status, generations, rollBack, rebuild, prune, snapshot])
)

export const program = programOf(root, { version })
