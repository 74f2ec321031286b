/** `larder-serve ledger export` */
import { Console, Effect, Stream } from "effect"
import { Command } from "effect/cli"
import { Administration, type StatementLine } from "../ledger/administration.ts"
import { account, json, withLedger } from "./flags.ts"

const asText = (entry: StatementLine) =>
  [
    entry.occurred_at,
    entry.type.padEnd(13),
    String(entry.credits).padStart(12),
    String(entry.balance).padStart(12),
    [entry.key_id, entry.endpoint, entry.request_id, entry.note].filter((part) => part !== null).join(" ")
  ].join("  ")

const exportEntries = Command.make(
  "export",
  { account, json },
  Effect.fn(function* ({ account, json }) {
    const entries = Stream.unwrap(Administration.use((ledger) => Effect.succeed(ledger.entriesOf(account))))
    yield* entries.pipe(
      Stream.map((entry) => (json ? JSON.stringify(entry) : asText(entry))),
      Stream.runForEachArray((lines) => Console.log(lines.join("\n")))
    )
  }, withLedger)
).pipe(
  Command.withDescription(
    "Print the entries of an account, oldest first, with the balance after each; --json: one a line"
  )
)

export const ledger = Command.make("ledger").pipe(
  Command.withDescription("The ledger"),
  Command.withSubcommands([exportEntries])
)
