/** `larder-serve accounts create|list|credit` */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { type AccountSummary, Administration, PrintableText, usdOf } from "../ledger/index.ts"
import {
  accountFlag,
  amountFlag,
  creditsExpiryFlag,
  formatTable,
  jsonOutputFlag,
  nameFlag,
  orNull,
  print,
  withLedger
} from "./flags.ts"

const describeBalance = ({ balance_credits, expiring }: AccountSummary) => {
  const balance = `${usdOf(balance_credits)} USD (${balance_credits} credits)`
  const parts = expiring.map(({ credits, expires_at }) => `${usdOf(credits)} USD until ${expires_at}`)
  return parts.length === 0 ? balance : `${balance}, including ${parts.join(", ")}`
}

const create = Command.make(
  "create",
  { name: nameFlag.pipe(Flag.withDescription("Name of the account, for people")), json: jsonOutputFlag },
  Effect.fn(function* ({ json, name }) {
    const account = yield* Administration.use((ledger) => ledger.createAccount({ name }))
    yield* print(json, account, [
      `Account ${account.id} (${account.name}) is open with ${describeBalance(account)}.`,
      `Create a key with: larder-serve keys create --account ${account.id} --name NAME --scopes all --budget-usd 5`
    ])
  }, withLedger)
).pipe(Command.withDescription("Create an account; it starts with 5 USD"))

const list = Command.make(
  "list",
  { json: jsonOutputFlag },
  Effect.fn(function* ({ json }) {
    const accounts = yield* Administration.use((ledger) => ledger.listAccounts({}))
    const rows = accounts.map((account) => [account.id, account.name, describeBalance(account), account.created_at])
    const emptyText = "There are no accounts yet. Create one with: larder-serve accounts create --name NAME"
    const header = ["id", "name", "balance", "created at"]
    yield* print(json, accounts, rows.length === 0 ? [emptyText] : formatTable([header, ...rows]))
  }, withLedger)
).pipe(Command.withDescription("List accounts and their balances"))

const credit = Command.make(
  "credit",
  {
    account_id: accountFlag,
    credits: amountFlag,
    note: Flag.String("note").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Reason, as the ledger will show it"),
      Flag.withSchema(PrintableText)
    ),
    expires_at: orNull(creditsExpiryFlag),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, ...credit }) {
    const account = yield* Administration.use((ledger) => ledger.creditAccount(credit))
    yield* print(json, account, [`Account ${account.id} (${account.name}) now has ${describeBalance(account)}.`])
  }, withLedger)
).pipe(Command.withDescription("Add credits to an account, as an adjustment"))

export const accountsCommand = Command.make("accounts").pipe(
  Command.withDescription("Accounts and their balances"),
  Command.withSubcommands([create, list, credit])
)
