/** `larder-ingest rollback`: goes back to the data of an earlier generation. */
import { requirePresentForm } from "@larder/warehouse/generation/layout.ts"
import { openLayout } from "@larder/warehouse/generation/open-layout.ts"
import { followWithLake } from "@larder/warehouse/lake/follow.ts"
import { lakeSetting } from "@larder/warehouse/lake/setting.ts"
import { rollback as goBack } from "@larder/warehouse/publishing/rollback.ts"
import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { homeSetting } from "../run/run.ts"
import { onlyFlag } from "./data-set-name.ts"
import { generationFlag } from "./generation-name.ts"

export const rollback = Command.make(
  "rollback",
  {
    to: generationFlag("The generation, such as 41 or larder-000041"),
    only: onlyFlag,
    note: Flag.String("note").pipe(Flag.withDescription("Why, for those who look at it later"), Flag.optional),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object on stdout"), Flag.withDefault(false))
  },
  Effect.fn(function* ({ json, ...asked }) {
    const layout = yield* openLayout(yield* homeSetting)
    yield* requirePresentForm(layout)
    yield* lakeSetting(layout)
    const back = yield* goBack(layout, asked)
    yield* followWithLake(layout)
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
