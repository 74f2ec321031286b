/** `larder-ingest rebuild`: makes data sets anew from the raw archive. */
import { layoutOf, requirePresentForm } from "@larder/warehouse/generation/layout.ts"
import { Console, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { Pipeline } from "../run/pipeline.ts"
import { rebuildDataSet } from "../run/rebuild.ts"
import { homeSetting } from "../run/run.ts"
import { told } from "../run/summary.ts"
import { DataSetName } from "./data-set-name.ts"

/** Of one data set that was named. */
class NothingToRepeat extends Schema.TaggedError<NothingToRepeat>()("NothingToRepeat", { pipeline: Schema.String }) {
  override get message() {
    return `The raw archive has no run of ${this.pipeline} that counts: there is none, or all were rolled back. Nothing was changed.`
  }
}

export const rebuild = (pipelines: ReadonlyArray<Pipeline>) =>
  Command.make(
    "rebuild",
    {
      which: Argument.String("data-set").pipe(
        Argument.withSchema(DataSetName),
        Argument.withDescription("One data set alone; all where none is named"),
        Argument.optional
      ),
      json: Flag.Boolean("json").pipe(
        Flag.withDescription("Print one JSON object per run on stdout"),
        Flag.withDefault(false)
      )
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
