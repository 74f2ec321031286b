/** `larder-ingest prune`: removes from the raw archive what no rebuild needs. */
import { pull } from "@larder/warehouse"
import { Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { maxReuseAge } from "../run/archive/interrupted-runs.ts"
import { type Keep, type Pruned, pruneArchive } from "../run/archive/prune.ts"
import { openHome } from "../run/run.ts"
import { booleanFlag, formatKibibytes, jsonFlag, quietFlag, quietly } from "./flags.ts"

const keepPattern = /^(\d{1,6}) ?(day|run)s?$/

const KeepText = Schema.String.check(
  Schema.makeFilter((text) => keepPattern.test(text) || 'expected days or runs, such as "90 days" or "200 runs"')
)

const parseKeep = (text: string): Keep => {
  const [, count, unit] = keepPattern.exec(text) ?? []
  return unit === "run" ? { runs: Number(count) } : { days: Number(count) }
}

const pluralise = (count: number, noun: string) => `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`

const formatRuns = ({ bytes, dry_run, payloads, runs }: Pruned, removed: string) => [
  `${removed} ${pluralise(payloads, "payload")} of ${pluralise(runs.length, "run")}, ${formatKibibytes(bytes)}:`,
  ...runs.map(
    ({ outcome, pipeline, rolled_back, run_id }) =>
      `  ${run_id}  ${pipeline}: ${rolled_back ? "rolled back" : outcome.replace("_", " ")}`
  ),
  `Payloads that only these runs fetched ${dry_run ? "would no longer be" : "are no longer"} available. A rebuild gives the same rows as before: it does not repeat runs that failed, were killed or were rolled back.`
]

const reusable = `What the last ${maxReuseAge / 3_600_000} hours fetched always stays, because the next run may reuse it.`

const formatPruned = (pruned: Pruned) => {
  const { dry_run, kept, runs, unlisted_bytes, unlisted_payloads } = pruned
  const remaining = `${pluralise(kept, "run")} ${kept === 1 ? "is" : "are"} kept. ${reusable}`
  if (runs.length === 0 && unlisted_payloads === 0) return `Nothing to remove: ${remaining}`
  const removed = dry_run ? "Would remove" : "Removed"
  const unlisted = `${pluralise(unlisted_payloads, "payload")} that no run lists, ${formatKibibytes(unlisted_bytes)}`
  return [
    remaining,
    ...(unlisted_payloads === 0 ? [] : [`${removed} ${unlisted}: they were fetched by runs that were killed.`]),
    ...(runs.length === 0 ? [] : formatRuns(pruned, removed))
  ].join("\n")
}

export const pruneCommand = Command.make(
  "prune",
  {
    keep: Flag.String("keep").pipe(
      Flag.withSchema(KeepText),
      Flag.withMetavar("DAYS|RUNS"),
      Flag.withDescription('Runs to keep in any case: those of the last "90 days", or "200 runs" of each data set')
    ),
    dryRun: booleanFlag("dry-run", "Report what would be removed, and remove nothing"),
    json: jsonFlag(),
    quiet: quietFlag
  },
  Effect.fn(function* ({ dryRun, json, keep }) {
    const layout = yield* openHome
    yield* pull(layout)
    const pruned = yield* pruneArchive(layout, { keep: parseKeep(keep), dryRun })
    yield* Console.log(json ? JSON.stringify(pruned) : formatPruned(pruned))
  }, quietly)
).pipe(
  Command.withDescription(
    `Remove from the raw archive what no rebuild needs: runs that failed or were rolled back. ${reusable}`
  )
)
