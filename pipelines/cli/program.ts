/** `larder-ingest`: its commands and the flags of a run. */
import { Day, version } from "@larder/schemas"
import { makeProgram } from "@larder/warehouse/cli"
import { Command, Flag } from "effect/cli"
import { pipelines } from "../data-sets.ts"
import { ingest } from "../run/ingest.ts"
import type { Pipeline } from "../run/pipeline.ts"
import { catalogCommand } from "./catalog.ts"
import { configCommand } from "./config.ts"
import { depotCommand } from "./depot.ts"
import { booleanFlag, jsonFlag, maxTimeFlag, replayFlag, storesFlag } from "./flags.ts"
import { generationsCommand } from "./generations.ts"
import { lakeCommand } from "./lake.ts"
import { probeCommand } from "./probe.ts"
import { pruneCommand } from "./prune.ts"
import { pullCommand } from "./pull.ts"
import { rawCommand } from "./raw.ts"
import { rebuildCommand } from "./rebuild.ts"
import { rollbackCommand } from "./rollback.ts"
import { snapshotCommand } from "./snapshot.ts"
import { statusCommand } from "./status.ts"

const dayFlag = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withSchema(Day), Flag.withDescription(description), Flag.optional)

const flags = {
  replay: replayFlag(
    "Read recorded payloads instead of the network: a folder laid out as <host>/<path>[?query], or a bundle of probe"
  ),
  file: Flag.Path("file", { mustExist: true }).pipe(
    Flag.withDescription("Read a downloaded release instead: a zip, a .json, or a folder with .csv files"),
    Flag.optional
  ),
  stores: storesFlag,
  ifMissing: booleanFlag("if-missing", "Do nothing if a warehouse exists"),
  dryRun: booleanFlag("dry-run", "Read, merge and check, but publish nothing"),
  acceptShrinkage: booleanFlag("accept-shrinkage", "Publish even if there is much less than in the live generation"),
  maxTime: maxTimeFlag,
  json: jsonFlag("one JSON object per pipeline")
}

/** Replaces a flag of other pipelines: hidden in the help, and every value is rejected with an explanation. */
const inapplicableFlag = (name: string) => Flag.withHidden(Flag.optional(Flag.String(name)))

/** With several pipelines, the days apply only to those whose sources can be queried by day. */
const dayFlags = (requested: ReadonlyArray<Pipeline>) => {
  const dayPipelines = requested.filter(({ acceptsDays }) => acceptsDays).map(({ name }) => name)
  if (dayPipelines.length === 0) return { from: inapplicableFlag("from"), to: inapplicableFlag("to") }
  const only = dayPipelines.length === requested.length ? "" : `; applies to ${dayPipelines.join(" and ")} only`
  return {
    from: dayFlag("from", `First day to read, YYYY-MM-DD; needs --to${only}`),
    to: dayFlag("to", `Last day to read, YYYY-MM-DD; needs --from${only}`)
  }
}

const runFlags = (requested: ReadonlyArray<Pipeline>) => ({
  ...flags,
  ...dayFlags(requested),
  file: requested.every(({ acceptsFile }) => acceptsFile) ? flags.file : inapplicableFlag("file"),
  stores: requested.every(({ acceptsStoreList }) => acceptsStoreList) ? flags.stores : inapplicableFlag("stores")
})

const runCommand = (name: string, requested: ReadonlyArray<Pipeline>, description: string) =>
  Command.make(name, runFlags(requested), (options) => ingest(pipelines, requested, options)).pipe(
    Command.withDescription(description)
  )

const rootCommand = runCommand(
  "larder-ingest",
  pipelines,
  "Pull public market data into a new generation of the warehouse"
).pipe(
  Command.withSubcommands([
    ...pipelines.map((pipeline) => runCommand(pipeline.name, [pipeline], `Run the ${pipeline.name} pipeline`)),
    runCommand("all", pipelines, "Run every pipeline"),
    probeCommand,
    statusCommand,
    generationsCommand,
    rollbackCommand,
    rebuildCommand(pipelines),
    pruneCommand,
    rawCommand,
    pullCommand,
    depotCommand,
    configCommand,
    catalogCommand,
    lakeCommand,
    snapshotCommand
  ])
)

export const program = makeProgram(rootCommand, { version })
