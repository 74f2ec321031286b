/** `larder-ingest rollback`: goes back to the data of an earlier generation. */
import {
  isLakeEnabled,
  makeRollbackNotice,
  postOrWarn,
  promptly,
  rollback,
  webhookFromSettings,
  writeLakeIfEnabled
} from "@larder/warehouse"
import { Clock, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { openHome } from "../run/run.ts"
import { DataSetName, dataSetNames, generationFlag, jsonFlag } from "./flags.ts"

const format = ({ data_sets, generation }: Effect.Success<ReturnType<typeof rollback>>) => {
  const states = Object.entries(data_sets).map(
    ([name, source]) => `${name} is ${source === null ? "no longer loaded" : `that of ${source}`}`
  )
  return `${generation} is live: ${states.join(", ")}. Servers switch to it immediately. The next run starts from there.`
}

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
    yield* Console.log(json ? JSON.stringify(published) : format(published))
    if (webhook !== undefined) {
      const time = new Date(yield* Clock.currentTimeMillis).toISOString()
      const notice = makeRollbackNotice({ ...published, note: Option.getOrNull(options.note), time })
      yield* postOrWarn(webhook, notice, promptly)
    }
    yield* writeLakeIfEnabled(layout)
  })
).pipe(
  Command.withDescription(
    "Go back to the data of an earlier generation: that of --to, or else the one that the newest data was built from"
  )
)
