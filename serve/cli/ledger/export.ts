/** `larder-serve ledger export` */
import path from "node:path"
import { Console, Effect, Option, Stream } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { Administration, type Entry } from "../../ledger/index.ts"
import { accountFlag, jsonOutputFlag, withLedger } from "../flags.ts"

const formatEntry = (entry: Entry) =>
  [
    entry.occurred_at,
    entry.type.padEnd(13),
    String(entry.credits).padStart(12),
    String(entry.balance).padStart(12),
    [entry.key_id, entry.endpoint, entry.request_id, entry.note].filter((part) => part !== null).join(" ")
  ].join("  ")

const csvFlag = Flag.Boolean("csv").pipe(
  Flag.withDescription(
    "Print CSV on stdout, with a header line; a value that a spreadsheet would run as a formula is prefixed with '"
  ),
  Flag.withDefault(false)
)
const parquetFlag = Flag.Boolean("parquet").pipe(
  Flag.withDescription("Write a Parquet file to stdout: redirect it"),
  Flag.withDefault(false)
)

const duckdbFlag = Flag.String("duckdb").pipe(
  Flag.withMetavar("FILE"),
  Flag.withDescription("Write a DuckDB file with the tables account and entry; it must not exist yet"),
  Flag.optional
)

export const exportEntries = Command.make(
  "export",
  {
    account: Flag.optional(accountFlag),
    json: jsonOutputFlag,
    csv: csvFlag,
    parquet: parquetFlag,
    duckdb: duckdbFlag
  },
  Effect.fn(function* ({ account, csv, duckdb, json, parquet }) {
    const ledger = yield* Administration
    const accounts = yield* Option.match(account, {
      onNone: () => ledger.listAccounts({}),
      onSome: (account_id) => Effect.map(ledger.account({ account_id }), (summary) => [summary])
    })
    // loaded here, so that no other command waits for DuckDB
    const { writeCsv, writeDuckDb, writeParquet } = yield* Effect.promise(() => import("./entry-files.ts"))
    const entries = Stream.flatMap(Stream.fromIterable(accounts), ({ id }) => ledger.entriesOf(id))
    if (csv) return yield* writeCsv(entries)
    if (parquet) return yield* writeParquet(entries)
    if (Option.isSome(duckdb)) {
      const file = path.resolve(duckdb.value)
      yield* writeDuckDb(file, accounts, entries)
      const owners = accounts.length === 1 ? "one account" : `${accounts.length} accounts`
      return yield* Console.log(`${file} contains the entries of ${owners}.`)
    }
    yield* entries.pipe(
      Stream.map((entry) => (json ? JSON.stringify(entry) : formatEntry(entry))),
      Stream.runForEachArray((lines) => Console.log(lines.join("\n")))
    )
  }, withLedger)
).pipe(
  Command.validate(({ csv, duckdb, json, parquet }) => {
    const chosen = [json, csv, parquet, Option.isSome(duckdb)].filter(Boolean).length
    if (chosen > 1)
      return Effect.fail(
        new CliError.ValidationError({ message: "Give at most one of --json, --csv, --parquet, --duckdb" })
      )
    return parquet && process.stdout.isTTY
      ? Effect.fail(new CliError.ValidationError({ message: "--parquet writes binary data: redirect it to a file" }))
      : Effect.void
  }),
  Command.withDescription(
    "Print the entries of one account or of all accounts, account by account, oldest first, with the balance after each; --json: one entry per line"
  )
)
