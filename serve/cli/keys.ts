/** `larder-serve keys create|list|edit|revoke` */
import { scopes } from "@larder/schemas/scopes.ts"
import { Clock, Effect, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { Administration, type KeySummary } from "../ledger/administration.ts"
import {
  account,
  budget,
  changedExpiry,
  expiresAt,
  json,
  key,
  name,
  print,
  scopeList,
  table,
  withLedger
} from "./flags.ts"

const keyName = name.pipe(Flag.withDescription("Name of the key, for people"))
const scopesOf = (key: KeySummary) => (key.scopes.length === scopes.length ? "all" : key.scopes.join(","))
const stateOf = ({ budget_usd, expires_at, revoked_at }: KeySummary, now: number) => {
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at !== null && Date.parse(expires_at) <= now) return `expired ${expires_at}`
  const state = budget_usd === 0 ? "paused" : "active"
  return expires_at === null ? state : `${state}, expires ${expires_at}`
}
const described = (key: KeySummary) => {
  const text = `${key.id} (${key.name}, …${key.last4}): scopes ${scopesOf(key)}, ${key.budget_usd} USD a month`
  return key.expires_at === null ? text : `${text}, expires ${key.expires_at}`
}

const create = Command.make(
  "create",
  {
    account,
    name: keyName,
    scopes: scopeList,
    budget_credits: budget,
    expires_at: expiresAt.pipe(Flag.optional),
    json
  },
  Effect.fn(function* ({ account, expires_at, json, ...settings }) {
    const asked = { account_id: account, expires_at: Option.getOrNull(expires_at), ...settings }
    const created = yield* Administration.use((ledger) => ledger.createKey(asked))
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
    const now = yield* Clock.currentTimeMillis
    const rows = keys.map((one) => [
      one.id,
      `…${one.last4}`,
      one.name,
      `${one.spent_usd} of ${one.budget_usd} USD`,
      stateOf(one, now),
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
    expires_at: changedExpiry.pipe(Flag.optional),
    json
  },
  Effect.fn(function* ({ budget_credits, expires_at, json, key, name, scopes }) {
    const edited = yield* Administration.use((ledger) =>
      ledger.editKey({
        key_id: key,
        ...(Option.isSome(name) && { name: name.value }),
        ...(Option.isSome(scopes) && { scopes: scopes.value }),
        ...(Option.isSome(budget_credits) && { budget_credits: budget_credits.value }),
        ...(Option.isSome(expires_at) && { expires_at: expires_at.value })
      })
    )
    yield* print(json, edited, [described(edited)])
  }, withLedger)
).pipe(
  Command.validate(({ budget_credits, expires_at, name, scopes }) =>
    [name, scopes, budget_credits, expires_at].every((given) => Option.isNone<unknown>(given))
      ? Effect.fail(
          new CliError.ValidationError({ message: "Give at least one of --name, --scopes, --budget-usd, --expires-at" })
        )
      : Effect.void
  ),
  Command.withDescription("Change name, scopes, budget or end of a key; the key itself stays the same")
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
