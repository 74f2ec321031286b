/** `larder-ingest prune`: removes from the raw archive what no rebuild needs. */
import { pull } from "@larder/warehouse"
import { Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { type Keep, type Pruned, pruneArchive } from "../run/archive/prune.ts"
import { openHome } from "../run/run.ts"
import { jsonFlag, kibibytes } from "./flags.ts"

const kept = /^(\d{1,6}) ?(day|run)s?$/

const KeepText = Schema.String.check(
  Schema.makeFilter((text) => kept.test(text) || 'expected days or runs, such as "90 days" or "200 runs"')
)

const keepOf = (text: string): Keep => {
  const [, count, unit] = kept.exec(text) ?? []
  return unit === "run" ? { runs: Number(count) } : { days: Number(count) }
}

const counted = (count: number, what: string) => `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`

const textOf = ({ bytes, dry_run, kept, payloads, runs }: Pruned) => {
  const stay = `${counted(kept, "run")} ${kept === 1 ? "stays" : "stay"}`
  if (runs.length === 0) return `Nothing to remove: ${stay}.`
  return [
    `${dry_run ? "Would remove" : "Removed"} ${counted(payloads, "payload")} of ${counted(runs.length, "run")}, ${kibibytes(bytes)}; ${stay}:`,
    ...runs.map(
      ({ outcome, pipeline, rolled_back, run_id }) =>
        `  ${run_id}  ${pipeline}: ${rolled_back ? "rolled back" : outcome.replace("_", " ")}`
    ),
    "Payloads that only these runs fetched are no longer available. A rebuild gives the same rows as before: it repeats no run that failed, was killed or was rolled back."
  ].join("\n")
}

export const prune = Command.make(
  "prune",
  {
    keep: Flag.String("keep").pipe(
      Flag.withSchema(KeepText),
      Flag.withMetavar("DAYS|RUNS"),
      Flag.withDescription('Runs to keep in any case: those of the last "90 days", or "200 runs" of each data set')
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Report what would be removed, and remove nothing"),
      Flag.withDefault(false)
    ),
    json: jsonFlag()
  },
  Effect.fn(function* ({ dryRun, json, keep }) {
    const layout = yield* openHome
    yield* pull(layout)
    const pruned = yield* pruneArchive(layout, { keep: keepOf(keep), dryRun })
    yield* Console.log(json ? JSON.stringify(pruned) : textOf(pruned))
  })
).pipe(
  Command.withDescription("Remove from the raw archive what no rebuild needs: runs that failed or were rolled back")
)
