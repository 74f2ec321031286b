/** `larder-ingest pull`: copies what is live in a depot to this machine, such as an analyst's laptop. */
import {
  generationId,
  type Layout,
  listNumbers,
  openLayout,
  pruneLocal,
  pull,
  refreshOpened,
  requireCurrentFormat
} from "@larder/warehouse"
import { Console, Effect, Option } from "effect"
import { Command } from "effect/cli"
import { homeFolderSetting } from "../run/run.ts"
import { CommandFailed, formatKibibytes, generationFlag, jsonFlag, quietFlag, quietly } from "./flags.ts"

/** Pulls everything and returns the newest generation on this machine. */
const pullAll = Effect.fnUntraced(function* (layout: Layout, to: number | undefined) {
  const pulled = yield* pull(layout, "run", { to })
  yield* refreshOpened(layout)
  yield* pruneLocal(layout)
  const newest = (yield* listNumbers(layout.local)).at(-1)
  return newest === undefined ? undefined : { generation: newest, bytes: pulled?.bytes ?? 0 }
})

export const pullCommand = Command.make(
  "pull",
  {
    to: generationFlag("The generation, such as 41 or larder-000041; the newest by default"),
    json: jsonFlag(),
    quiet: quietFlag
  },
  Effect.fn(function* ({ json, to }) {
    const layout = yield* openLayout(yield* homeFolderSetting)
    const { depot, dir, local } = layout
    if (depot === local) {
      return yield* new CommandFailed({
        code: 1,
        problem: "LARDER_DEPOT names no depot: set it to s3://bucket/prefix, https://… or a folder, and pull again."
      })
    }
    yield* requireCurrentFormat(layout)
    const pulled = yield* pullAll(layout, Option.getOrUndefined(to))
    if (pulled === undefined)
      return yield* new CommandFailed({
        code: 1,
        problem: `There is nothing in ${depot.location} yet: publish there first, or check LARDER_DEPOT.`
      })
    const generation = generationId(pulled.generation)
    if (json) return yield* Console.log(JSON.stringify({ ...pulled, generation, depot: depot.location }))
    yield* Console.log(`${generation} is in ${dir}: ${formatKibibytes(pulled.bytes)} came from ${depot.location}.`)
  }, quietly)
).pipe(
  Command.withDescription("Copy what is live in the depot of LARDER_DEPOT to this machine, or the generation of --to")
)
