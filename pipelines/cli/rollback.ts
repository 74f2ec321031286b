/** `larder-ingest rollback`: goes back to the data of an earlier generation. */
import {
  isLakeEnabled,
  makeRollbackNotice,
  postOrWarn,
  rollback,
  webhookFromSettings,
  writeLakeIfEnabled
} from "@larder/warehouse"
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { openHome } from "../run/run.ts"
import { DataSetName, dataSetNames, generationFlag, jsonFlag } from "./flags.ts"

export const rollbackCommand = Command.make(
  "rollback",
  {
    to: generationFlag("The generation, such as 41 or larder-000041"),
    only: Flag.String("only").pipe(
      Flag.withSchema(DataSetName),
      Flag.withMetavar("DATA-SET"),
      Flag.withDescription(`Only one data set: ${dataSetNames.join(", ")}`),
      Flag.optional
    ),
    note: Flag.String("note").pipe(
      Flag.withDescription("Why, for those who read the list of generations later"),
      Flag.optional
    ),
    json: jsonFlag()
  },
  Effect.fn(function* ({ json, ...options }) {
    const layout = yield* openHome
    yield* isLakeEnabled
    const webhook = yield* webhookFromSettings
    const published = yield* rollback(layout, options)
    if (webhook !== undefined) {
      const time = new Date(yield* Clock.currentTimeMillis).toISOString()
      yield* postOrWarn(webhook, makeRollbackNotice({ ...published, note: Option.getOrNull(options.note), time }))
    }
    yield* writeLakeIfEnabled(layout)
    if (json) return yield* Console.log(JSON.stringify(published))
    const states = Object.entries(published.data_sets).map(
      ([name, source]) => `${name} is ${source === null ? "no longer loaded" : `that of ${source}`}`
    )
    yield* Console.log(
      `${published.generation} is live: ${states.join(", ")}. Servers switch to it immediately. The next run starts from there.`
    )
  })
).pipe(
  Command.withDescription(
    "Go back to the data of an earlier generation: that of --to, or else the one that the newest data was built from"
  )
)
