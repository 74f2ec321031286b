/** `larder-serve accounts create|list|credit` */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { type AccountSummary, Administration, PrintableText, usdOf } from "../ledger/index.ts"
import { account, amount, creditsExpireAt, json, name, print, table, withLedger } from "./flags.ts"

const balanceOf = ({ balance_credits, expiring }: AccountSummary) => {
  const balance = `${usdOf(balance_credits)} USD (${balance_credits} credits)`
  const ends = expiring.map(({ credits, expires_at }) => `${usdOf(credits)} USD until ${expires_at}`)
  return ends.length === 0 ? balance : `${balance}, including ${ends.join(", ")}`
}

const create = Command.make(
  "create",
  { name: name.pipe(Flag.withDescription("Name of the account, for people")), json },
  Effect.fn(function* ({ json, name }) {
    const opened = yield* Administration.use((ledger) => ledger.createAccount({ name }))
    yield* print(json, opened, [
      `Account ${opened.id} (${opened.name}) is open with ${balanceOf(opened)}.`,
      `Create a key with: larder-serve keys create --account ${opened.id} --name NAME --scopes all --budget-usd 5`
    ])
  }, withLedger)
).pipe(Command.withDescription("Create an account; it starts with 5 USD"))

const list = Command.make(
  "list",
  { json },
  Effect.fn(function* ({ json }) {
    const accounts = yield* Administration.use((ledger) => ledger.listAccounts({}))
    const rows = accounts.map((one) => [one.id, one.name, balanceOf(one), one.created_at])
    const none = "There are no accounts yet. Create one with: larder-serve accounts create --name NAME"
    yield* print(json, accounts, rows.length === 0 ? [none] : table([["id", "name", "balance", "created at"], ...rows]))
  }, withLedger)
).pipe(Command.withDescription("List accounts and their balances"))

const credit = Command.make(
  "credit",
  {
    account,
    credits: amount,
    note: Flag.String("note").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Reason, as the ledger will show it"),
      Flag.withSchema(PrintableText)
    ),
    expires_at: creditsExpireAt.pipe(Flag.optional),
    json
  },
  Effect.fn(function* ({ account, credits, expires_at, json, note }) {
    const asked = { account_id: account, credits, note, expires_at: Option.getOrNull(expires_at) }
    const credited = yield* Administration.use((ledger) => ledger.creditAccount(asked))
    yield* print(json, credited, [`Account ${credited.id} (${credited.name}) now has ${balanceOf(credited)}.`])
  }, withLedger)
).pipe(Command.withDescription("Add credits to an account, as an adjustment"))

export const accounts = Command.make("accounts").pipe(
  Command.withDescription("Accounts and their balances"),
  Command.withSubcommands([create, list, credit])
)
