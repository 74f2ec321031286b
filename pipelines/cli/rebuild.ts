/** `larder-ingest rebuild`: rebuilds data sets from the raw archive. */
import { isLakeEnabled, webhookFromSettings, writeLakeIfEnabled } from "@larder/warehouse"
import { Console, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import type { Pipeline } from "../run/pipeline.ts"
import { rebuildDataSet } from "../run/rebuild.ts"
import { openHome } from "../run/run.ts"
import { formatRepeated, tellKilled } from "../run/summary.ts"
import { CommandFailed, DataSetName, jsonFlag, quietFlag, quietly } from "./flags.ts"

export const rebuildCommand = (pipelines: ReadonlyArray<Pipeline>) =>
  Command.make(
    "rebuild",
    {
      dataSet: Argument.String("data-set").pipe(
        Argument.withSchema(DataSetName),
        Argument.withDescription("The data set to rebuild; all by default"),
        Argument.optional
      ),
      json: jsonFlag("one JSON object per run"),
      quiet: quietFlag
    },
    Effect.fn(function* ({ json, dataSet }) {
      const layout = yield* openHome
      yield* isLakeEnabled
      const webhook = yield* webhookFromSettings
      const selected = pipelines.filter(({ name }) => Option.isNone(dataSet) || name === dataSet.value)
      const missing: Array<string> = []
      const rebuild = Effect.fnUntraced(function* (pipeline: Pipeline) {
        const { generation, isLoaded, runs } = yield* rebuildDataSet(pipeline, {
          home: layout.home,
          onKilled: (runs) => tellKilled(webhook, runs)
        })
        for (const run of runs) {
          const output = { ...run, generation: run.generation === null ? null : generation }
          yield* Console.log(json ? JSON.stringify(output) : formatRepeated(run))
        }
        if (runs.length > 0) {
          if (!json)
            yield* Console.log(
              `${pipeline.name}: rebuilt from ${runs.length} ${runs.length === 1 ? "run" : "runs"}, live in ${generation}`
            )
        } else if (isLoaded || Option.isSome(dataSet)) missing.push(pipeline.name)
        else yield* Effect.logWarning(`${pipeline.name} is not loaded, and has no run to repeat`)
      })
      const exit = yield* Effect.exit(Effect.forEach(selected, rebuild, { discard: true }))
      yield* writeLakeIfEnabled(layout) // what was rebuilt before a failure is live
      yield* exit
      if (missing.length === 0) return
      const names = missing.join(" and ")
      const problem = `The raw archive has no run of ${names} to repeat: there is none, or all were rolled back. The published data of ${names} was not changed.`
      return yield* new CommandFailed({ code: 1, problem })
    }, quietly)
  ).pipe(Command.withDescription("Rebuild data sets from the raw archive, without the network"))
