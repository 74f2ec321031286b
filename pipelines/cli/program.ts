/** `larder-ingest`: its commands, and the flags of a run. */
import { Day, version } from "@larder/schemas"
import { makeProgram } from "@larder/warehouse/cli"
import { Command, Flag } from "effect/cli"
import { pipelines } from "../data-sets.ts"
import { probe } from "../probe/command.ts"
import { ingest } from "../run/ingest.ts"
import type { Pipeline } from "../run/pipeline.ts"
import { depot } from "./depot.ts"
import { jsonFlag } from "./flags.ts"
import { generations } from "./generations.ts"
import { prune } from "./prune.ts"
import { pull } from "./pull.ts"
import { rebuild } from "./rebuild.ts"
import { rollback } from "./rollback.ts"
import { snapshot } from "./snapshot.ts"
import { status } from "./status.ts"

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
    Flag.withDescription("Publish even if there is much less than in the live generation"),
    Flag.withDefault(false)
  ),
  json: jsonFlag("one JSON object per pipeline")
}

/** Replaces a flag of other pipelines: hidden in the help; any value is refused with an explanation. */
const elsewhere = (name: string) => Flag.withHidden(Flag.optional(Flag.String(name)))

/** With several pipelines, the days apply only to those whose sources can be queried by day. */
const daysOf = (which: ReadonlyArray<Pipeline>) => {
  const readers = which.filter(({ days }) => days).map(({ name }) => name)
  if (readers.length === 0) return { from: elsewhere("from"), to: elsewhere("to") }
  const only = readers.length === which.length ? "" : `; applies to ${readers.join(" and ")} only`
  return {
    from: day("from", `First day to read, YYYY-MM-DD; needs --to${only}`),
    to: day("to", `Last day to read, YYYY-MM-DD; needs --from${only}`)
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

const root = Command.make("larder-ingest", flagsOf(pipelines), ingesting(pipelines)).pipe(
  Command.withDescription("Pull public market data into a new generation of the warehouse"),
  Command.withSubcommands([
    ...commands,
    all,
    probe,
    status,
    generations,
    rollback,
    rebuild(pipelines),
    prune,
    pull,
    depot,
    snapshot
  ])
)

export const program = makeProgram(root, { version })
