/** `larder-serve ledger export` */
import { Console, Effect, Stream } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { Administration } from "../../ledger/administration.ts"
import type { Entry } from "../../ledger/records.ts"
import { account, json, withLedger } from "../flags.ts"
import { writeCsv, writeParquet } from "./entry-files.ts"

const asText = (entry: Entry) =>
  [
    entry.occurred_at,
    entry.type.padEnd(13),
    String(entry.credits).padStart(12),
    String(entry.balance).padStart(12),
    [entry.key_id, entry.endpoint, entry.request_id, entry.note].filter((part) => part !== null).join(" ")
  ].join("  ")

const csv = Flag.Boolean("csv").pipe(
  Flag.withDescription(
    "Print CSV on stdout, with a header line; a text that a spreadsheet would run as a formula gets a ' before it"
  ),
  Flag.withDefault(false)
)
const parquet = Flag.Boolean("parquet").pipe(
  Flag.withDescription("Write a Parquet file to stdout: redirect it"),
  Flag.withDefault(false)
)

export const exportEntries = Command.make(
  "export",
  { account, json, csv, parquet },
  Effect.fn(function* ({ account, csv, json, parquet }) {
    const entries = Stream.unwrap(Administration.use((ledger) => Effect.succeed(ledger.entriesOf(account))))
    if (csv) return yield* writeCsv(entries)
    if (parquet) return yield* writeParquet(entries)
    yield* entries.pipe(
      Stream.map((entry) => (json ? JSON.stringify(entry) : asText(entry))),
      Stream.runForEachArray((lines) => Console.log(lines.join("\n")))
    )
  }, withLedger)
).pipe(
  Command.validate(({ csv, json, parquet }) => {
    const chosen = [json, csv, parquet].filter(Boolean).length
    if (chosen > 1)
      return Effect.fail(new CliError.ValidationError({ message: "Give one of --json, --csv, --parquet" }))
    return parquet && process.stdout.isTTY
      ? Effect.fail(new CliError.ValidationError({ message: "--parquet is not for a terminal: redirect it to a file" }))
      : Effect.void
  }),
  Command.withDescription(
    "Print the entries of an account, oldest first, with the balance after each; --json: one a line"
  )
)
