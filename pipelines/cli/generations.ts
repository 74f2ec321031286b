/** `larder-ingest generations`: lists the generations and what made each of them. */
import { type ListedGeneration, listGenerations } from "@larder/warehouse"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { openHome } from "../run/run.ts"
import { jsonFlag, kibibytes, minuteOf } from "./flags.ts"

/** What happened, in words. */
const whatOf = ({ kind, outcome, pipeline, went_back_to }: ListedGeneration) => {
  if (kind === "run") return `${pipeline}: ${outcome?.replace("_", " ")}`
  const of = pipeline ?? "all data sets"
  return kind === "rollback" ? `rollback of ${of} to ${went_back_to ?? "before its first run"}` : `rebuild of ${of}`
}
const lineOf = (listed: ListedGeneration) => {
  const { bytes, generation, kept, kind, live, made_at, made_by, note, rolled_back_by, rows } = listed
  const facts = [
    `${whatOf(listed)}${kind === "run" ? "" : ` (${made_by})`}`,
    ...(rows === null ? [] : [`${rows.toLocaleString("en-US")} new rows`]),
    ...(kept ? [kibibytes(bytes)] : []),
    ...(rolled_back_by === null ? [] : [`rolled back by ${rolled_back_by}`]),
    ...(note === null ? [] : [note])
  ]
  return `${live ? "*" : " "} ${generation}  ${minuteOf(made_at)}  ${facts.join(", ")}`
}

export const generations = Command.make(
  "generations",
  { json: jsonFlag("one JSON array") },
  Effect.fn(function* ({ json }) {
    const layout = yield* openHome
    const { generations: listed, unusable } = yield* listGenerations(layout)
    for (const { message } of unusable) yield* Effect.logWarning(`one generation is not listed: ${message}`)
    if (json) return yield* Console.log(JSON.stringify(listed))
    yield* Console.log(
      listed.length === 0 ? "No generation yet. Run: npx larder-ingest" : listed.map(lineOf).join("\n")
    )
  })
).pipe(Command.withDescription("List the kept generations and what made them; * marks data that is live"))
