/** `larder-ingest generations`: lists the generations and how each was created. */
import { type ListedGeneration, listGenerations } from "@larder/warehouse"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { openHome } from "../run/run.ts"
import { formatKibibytes, formatUtcMinute, jsonFlag } from "./flags.ts"

const describeOrigin = ({ kind, made_by, outcome, pipeline, went_back_to }: ListedGeneration) => {
  if (kind === "run") return `${pipeline}: ${outcome?.replace("_", " ")}`
  const target = kind === "rollback" ? ` to ${went_back_to ?? "before its first run"}` : ""
  return `${kind} of ${pipeline ?? "all data sets"}${target} (${made_by})`
}

const formatGeneration = (listed: ListedGeneration) => {
  const { bytes, generation, kept, live, made_at, note, rolled_back_by, rows } = listed
  const facts = [
    describeOrigin(listed),
    ...(rows === null ? [] : [`${rows.toLocaleString("en-US")} new rows`]),
    ...(kept ? [formatKibibytes(bytes)] : []),
    ...(rolled_back_by === null ? [] : [`rolled back by ${rolled_back_by}`]),
    ...(note === null ? [] : [note])
  ]
  return `${live ? "*" : " "} ${generation}  ${formatUtcMinute(made_at)}  ${facts.join(", ")}`
}

export const generationsCommand = Command.make(
  "generations",
  { json: jsonFlag("one JSON array") },
  Effect.fn(function* ({ json }) {
    const layout = yield* openHome
    const { generations: listed, unusable } = yield* listGenerations(layout)
    const newestUnusable = unusable.at(-1)
    if (listed.length === 0 && newestUnusable !== undefined) return yield* newestUnusable
    for (const { message } of unusable) yield* Effect.logWarning(`skipped a generation: ${message}`)
    if (json) return yield* Console.log(JSON.stringify(listed))
    yield* Console.log(
      listed.length === 0 ? "No generation yet. Run: npx larder-ingest" : listed.map(formatGeneration).join("\n")
    )
  })
).pipe(Command.withDescription("List the generations and how each was created; * marks those with live data"))
