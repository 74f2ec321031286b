/** `larder-serve accounts create|list|credit|debit|suspend|resume` */
import { formatTable } from "@larder/warehouse/cli"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { type AccountSummary, Administration, type Output, PrintableText, usdOf } from "../ledger/index.ts"
import { accountFlag, amountFlag, jsonOutputFlag, nameFlag, orNull, print, withLedger } from "./flags.ts"

const describeBalance = ({ balance_credits }: AccountSummary) =>
  `${usdOf(balance_credits)} USD (${balance_credits} credits)`

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
    const rows = accounts.map((account) => [
      account.id,
      account.name,
      describeBalance(account),
      account.created_at,
      account.suspended_at ?? ""
    ])
    const emptyText = "There are no accounts yet. Create one with: larder-serve accounts create --name NAME"
    const header = ["id", "name", "balance", "created at", "suspended at"]
    yield* print(json, accounts, rows.length === 0 ? [emptyText] : formatTable([header, ...rows]))
  }, withLedger)
).pipe(Command.withDescription("List accounts and their balances"))

const noteFlag = (description: string) =>
  Flag.String("note").pipe(Flag.withMetavar("TEXT"), Flag.withDescription(description), Flag.withSchema(PrintableText))

/** For credits by hand. The flags are the inputs of the operation. */
const adjustmentFlags = {
  account_id: accountFlag,
  credits: amountFlag,
  note: noteFlag("Reason, as the ledger will show it"),
  reference: Flag.String("reference").pipe(
    Flag.withMetavar("TEXT"),
    Flag.withDescription(
      "Such as the id of a bank transfer: a reference is booked once, however often the command runs"
    ),
    Flag.withSchema(PrintableText),
    orNull
  ),
  again: Flag.Boolean("again").pipe(
    Flag.withDescription("Book even if the same amount was booked with the same note in the last 24 hours"),
    Flag.withDefault(false)
  ),
  json: jsonOutputFlag
}

const printAdjusted = (json: boolean, reference: string | null, account: Output<"creditAccount">) =>
  print(json, account, [
    ...(account.booked
      ? []
      : [`Reference "${reference}" was already booked, at ${account.booked_at}. Nothing was booked now.`]),
    `Account ${account.id} (${account.name}) ${account.booked ? "now has" : "has"} ${describeBalance(account)}.`
  ])

const credit = Command.make(
  "credit",
  adjustmentFlags,
  Effect.fn(function* ({ json, ...credit }) {
    const account = yield* Administration.use((ledger) => ledger.creditAccount(credit))
    yield* printAdjusted(json, credit.reference, account)
  }, withLedger)
).pipe(Command.withDescription("Add credits to an account, as an adjustment"))

const debit = Command.make(
  "debit",
  adjustmentFlags,
  Effect.fn(function* ({ json, ...debit }) {
    const account = yield* Administration.use((ledger) => ledger.debitAccount(debit))
    yield* printAdjusted(json, debit.reference, account)
  }, withLedger)
).pipe(Command.withDescription("Take credits back from an account, as an adjustment, also below a balance of 0"))

const suspensionFlags = {
  account_id: accountFlag,
  note: noteFlag("Reason, for the log of changes"),
  json: jsonOutputFlag
}

const suspend = Command.make(
  "suspend",
  suspensionFlags,
  Effect.fn(function* ({ json, ...suspension }) {
    const account = yield* Administration.use((ledger) => ledger.suspendAccount(suspension))
    yield* print(json, account, [
      `Account ${account.id} (${account.name}) is suspended since ${account.suspended_at}: every call is refused with 401, and no credits can be bought.`,
      `Resume it with: larder-serve accounts resume --account ${account.id} --note TEXT`
    ])
  }, withLedger)
).pipe(Command.withDescription("Refuse every call, top-up and recharge of an account, until it is resumed"))

const resume = Command.make(
  "resume",
  suspensionFlags,
  Effect.fn(function* ({ json, ...suspension }) {
    const account = yield* Administration.use((ledger) => ledger.resumeAccount(suspension))
    yield* print(json, account, [`Account ${account.id} (${account.name}) is not suspended.`])
  }, withLedger)
).pipe(Command.withDescription("End the suspension of an account"))

export const accountsCommand = Command.make("accounts").pipe(
  Command.withDescription("Accounts and their balances"),
  Command.withSubcommands([create, list, credit, debit, suspend, resume])
)
