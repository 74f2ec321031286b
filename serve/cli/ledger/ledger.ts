/** `larder-serve ledger export|usage|verify|backup|migrate` */
import path from "node:path"
import { addDays, Day } from "@larder/schemas"
import { formatTable } from "@larder/warehouse/cli"
import { Clock, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { Administration, moveToPostgres, usdOf, type Verification } from "../../ledger/index.ts"
import { homeSetting, ledgerUrlSetting } from "../../settings.ts"
import { ledgerDirectoryIn } from "../control/reach.ts"
import { accountFlag, jsonOutputFlag, print, withLedger } from "../flags.ts"
import { exportEntries } from "./export.ts"

const dayFlag = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("DAY"),
    Flag.withDescription(description),
    Flag.withSchema(Day),
    Flag.optional
  )

const usage = Command.make(
  "usage",
  {
    account: accountFlag,
    from: dayFlag("from", "First day in UTC; by default a year before the last day"),
    to: dayFlag("to", "Last day in UTC; by default today"),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ account, from, json, to }) {
    const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
    const last = Option.getOrElse(to, () => today)
    const first = Option.getOrElse(from, () => addDays(last, -365))
    const days = yield* Administration.use((ledger) => ledger.usage({ account_id: account, from: first, to: last }))
    const rows = days.map(({ calls, credits, day, endpoint, key_id }) => {
      return [day, key_id, endpoint, String(calls), `${usdOf(credits)} USD`]
    })
    const header = ["day", "key", "endpoint", "calls", "charged"]
    const emptyText = `Account ${account} was not charged for any call from ${first} to ${last}.`
    yield* print(json, days, rows.length === 0 ? [emptyText] : formatTable([header, ...rows]))
  }, withLedger)
).pipe(Command.withDescription("Calls and credits of an account per day, key and endpoint"))

class LedgerDoesNotAddUp extends Schema.TaggedError<LedgerDoesNotAddUp>()("LedgerDoesNotAddUp", {
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The ledger does not add up. Nothing was changed; docs/operations.md explains how to restore it.\n${this.problems.map((problem) => `- ${problem}`).join("\n")}`
  }
}

const describeTotals = ({ accounts, balance_credits, entries, keys }: Omit<Verification, "problems">) =>
  `${entries} entries, ${accounts} accounts, ${keys} keys, ${usdOf(balance_credits)} USD in all balances`

const verify = Command.make(
  "verify",
  { json: jsonOutputFlag },
  Effect.fn(function* ({ json }) {
    const result = yield* Administration.use((ledger) => ledger.verify({}))
    const { problems } = result
    if (json || problems.length === 0) yield* print(json, result, [`The ledger adds up: ${describeTotals(result)}.`])
    if (problems.length > 0) return yield* new LedgerDoesNotAddUp({ problems })
  }, withLedger)
).pipe(
  Command.withDescription("Check every entry, balance and budget; exits with 1 if something is wrong, and lists it")
)

const backup = Command.make(
  "backup",
  {
    to: Flag.String("to").pipe(Flag.withMetavar("FILE"), Flag.withDescription("File to write; it must not exist yet")),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, to }) {
    const written = yield* Administration.use((ledger) => ledger.backup({ file: path.resolve(to) }))
    const { bytes, entries, file } = written
    yield* print(json, written, [
      `${file} contains the ledger with ${entries} entries, and the console's data (${bytes} bytes).`,
      "To restore it, copy it into an empty $LARDER_HOME/ledger, as ledger.sqlite."
    ])
  }, withLedger)
).pipe(
  Command.withDescription(
    "Write a copy of the ledger and of the console's data as they are now, even while the server runs"
  )
)

class NoTarget extends Schema.TaggedError<NoTarget>()("NoTarget", {}) {
  override get message() {
    return "Set LARDER_LEDGER_URL to the PostgreSQL database for the ledger, such as postgres://user:password@host/database"
  }
}

const migrate = Command.make(
  "migrate",
  { json: jsonOutputFlag },
  Effect.fn(function* ({ json }) {
    const url = yield* ledgerUrlSetting
    if (Option.isNone(url)) return yield* new NoTarget()
    const moved = yield* moveToPostgres(ledgerDirectoryIn(yield* homeSetting), url.value)
    yield* print(json, moved, [
      `The ledger is now in ${moved.place}: ${describeTotals(moved)}, the same as before.`,
      `The console's data moved with it: ${moved.people} people, ${moved.payments} card payments, and everything else.`,
      "Start every larder-serve with this LARDER_LEDGER_URL. The old ledger stays where it is; servers refuse to open it."
    ])
  })
).pipe(
  Command.withDescription(
    "Copy the ledger in LARDER_HOME and the console's data into the empty PostgreSQL database of LARDER_LEDGER_URL, and verify them; servers must be stopped"
  )
)

export const ledgerCommand = Command.make("ledger").pipe(
  Command.withDescription("The ledger: every movement of credits"),
  Command.withSubcommands([exportEntries, usage, verify, backup, migrate])
)
