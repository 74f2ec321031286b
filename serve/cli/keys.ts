/** `larder-serve keys create|list|edit|revoke` */
import { scopes } from "@larder/schemas/scopes.ts"
import { Effect, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { Administration, type KeySummary } from "../ledger/administration.ts"
import { account, budget, json, key, name, print, scopeList, table, withLedger } from "./flags.ts"

const keyName = name.pipe(Flag.withDescription("Name of the key, for people"))
const scopesOf = (key: KeySummary) => (key.scopes.length === scopes.length ? "all" : key.scopes.join(","))
const stateOf = ({ budget_usd, revoked_at }: KeySummary) => {
  if (revoked_at !== null) return `revoked ${revoked_at}`
  return budget_usd === 0 ? "paused" : "active"
}
const described = (key: KeySummary) =>
  `${key.id} (${key.name}, …${key.last4}): scopes ${scopesOf(key)}, ${key.budget_usd} USD a month`

const create = Command.make(
  "create",
  { account, name: keyName, scopes: scopeList, budget_credits: budget, json },
  Effect.fn(function* ({ account, json, ...settings }) {
    const created = yield* Administration.use((ledger) => ledger.createKey({ account_id: account, ...settings }))
    yield* print(json, created, [
      created.key,
      "",
      "This is the key. It is shown once and stored nowhere: copy it now.",
      described(created)
    ])
  }, withLedger)
).pipe(Command.withDescription("Create a key and print it; it is shown only this once"))

const list = Command.make(
  "list",
  { account, json },
  Effect.fn(function* ({ account, json }) {
    const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account }))
    const rows = keys.map((one) => [
      one.id,
      `…${one.last4}`,
      one.name,
      `${one.spent_usd} of ${one.budget_usd} USD`,
      stateOf(one),
      scopesOf(one)
    ])
    const none = `Account ${account} has no keys yet. Create one with: larder-serve keys create --account ${account} --name NAME --scopes all --budget-usd 5`
    const head = ["id", "key", "name", "spent this month", "state", "scopes"]
    yield* print(json, keys, rows.length === 0 ? [none] : table([head, ...rows]))
  }, withLedger)
).pipe(Command.withDescription("List the keys of an account by their last four characters"))

const edit = Command.make(
  "edit",
  {
    key,
    name: keyName.pipe(Flag.optional),
    scopes: scopeList.pipe(Flag.optional),
    budget_credits: budget.pipe(Flag.optional),
    json
  },
  Effect.fn(function* ({ budget_credits, json, key, name, scopes }) {
    const edited = yield* Administration.use((ledger) =>
      ledger.editKey({
        key_id: key,
        ...(Option.isSome(name) && { name: name.value }),
        ...(Option.isSome(scopes) && { scopes: scopes.value }),
        ...(Option.isSome(budget_credits) && { budget_credits: budget_credits.value })
      })
    )
    yield* print(json, edited, [described(edited)])
  }, withLedger)
).pipe(
  Command.validate(({ budget_credits, name, scopes }) =>
    Option.isNone(name) && Option.isNone(scopes) && Option.isNone(budget_credits)
      ? Effect.fail(new CliError.ValidationError({ message: "Give at least one of --name, --scopes, --budget-usd" }))
      : Effect.void
  ),
  Command.withDescription("Change name, scopes or budget of a key; the key itself stays the same")
)

const revoke = Command.make(
  "revoke",
  { key, json },
  Effect.fn(function* ({ json, key }) {
    const revoked = yield* Administration.use((ledger) => ledger.revokeKey({ key_id: key }))
    yield* print(json, revoked, [`Key ${revoked.id} (${revoked.name}, …${revoked.last4}) is revoked for good.`])
  }, withLedger)
).pipe(Command.withDescription("Revoke a key permanently"))

export const keys = Command.make("keys").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([create, list, edit, revoke])
)
