/** `larder-ingest pull`: what is live in a depot comes to this machine, such as an analyst's laptop. */
import { requirePresentForm } from "@larder/warehouse/generation/layout.ts"
import { generationId, listNumbers } from "@larder/warehouse/generation/manifest.ts"
import { openLayout } from "@larder/warehouse/generation/open-layout.ts"
import { pull as pullGeneration } from "@larder/warehouse/generation/pull.ts"
import { pruneLocal } from "@larder/warehouse/generation/retention.ts"
import { refreshOpened } from "@larder/warehouse/opened/opened-files.ts"
import { Console, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { homeSetting } from "../run/run.ts"
import { generationFlag, numberOf } from "./generation-name.ts"

/** There is no depot, or nothing in it. */
export class NothingToPull extends Schema.TaggedError<NothingToPull>()("NothingToPull", { problem: Schema.String }) {
  override get message() {
    return this.problem
  }
}

export const pull = Command.make(
  "pull",
  {
    to: generationFlag("The generation, such as 41 or larder-000041; the newest without it"),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object on stdout"), Flag.withDefault(false))
  },
  Effect.fn(function* ({ json, to }) {
    const layout = yield* openLayout(yield* homeSetting)
    const { depot, dir, local } = layout
    if (depot === local) {
      return yield* new NothingToPull({
        problem: "LARDER_DEPOT names no depot: set it to s3://bucket/prefix, https://… or a folder, and pull again."
      })
    }
    yield* requirePresentForm(layout)
    const pulled = yield* pullGeneration(layout, "run", Option.getOrUndefined(Option.map(to, numberOf)))
    yield* refreshOpened(layout)
    yield* pruneLocal(layout)
    const newest = (yield* listNumbers(local)).at(-1)
    if (newest === undefined) return yield* new NothingToPull({ problem: `There is nothing in ${depot.location} yet.` })
    const told = { generation: generationId(newest), bytes: pulled?.bytes ?? 0, depot: depot.location }
    const size = `${Math.ceil(told.bytes / 1024).toLocaleString("en-US")} KiB`
    yield* Console.log(
      json ? JSON.stringify(told) : `${told.generation} is in ${dir}: ${size} came from ${depot.location}.`
    )
  })
).pipe(
  Command.withDescription(
    "Bring what is live in the depot of LARDER_DEPOT to this machine, or a generation that is named"
  )
)
