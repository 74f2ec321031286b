/** `larder-serve keys create|list|edit|rotate|revoke` */
import { scopes } from "@larder/schemas"
import { formatTable } from "@larder/warehouse/cli"
import { Clock, Effect, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { Administration, type KeySummary, OverlapHours } from "../ledger/index.ts"
import {
  accountFlag,
  budgetFlag,
  jsonOutputFlag,
  keyExpiry,
  keyFlag,
  nameFlag,
  print,
  scopesFlag,
  withLedger
} from "./flags.ts"

const keyNameFlag = nameFlag.pipe(Flag.withDescription("Name of the key, for people"))
const listScopes = (key: KeySummary) => (key.scopes.length === scopes.length ? "all" : key.scopes.join(","))
const describeState = (key: KeySummary, now: number) => {
  const { budget_usd, expires_at, former_expires_at, revoked_at } = key
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at !== null && Date.parse(expires_at) <= now) return `expired ${expires_at}`
  const isFormerAccepted = former_expires_at !== null && Date.parse(former_expires_at) > now
  return [
    budget_usd === 0 ? "paused" : "active",
    ...(expires_at === null ? [] : [`expires ${expires_at}`]),
    ...(isFormerAccepted ? [`…${key.former_last4} until ${former_expires_at}`] : [])
  ].join(", ")
}
const describeKey = (key: KeySummary) =>
  [
    `${key.id} (${key.name}, …${key.last4}): scopes ${listScopes(key)}`,
    `${key.budget_usd} USD a month`,
    ...(key.expires_at === null ? [] : [`expires ${key.expires_at}`])
  ].join(", ")
const explainShownOnce = (subject: string) => `This is ${subject}. It is shown once and stored nowhere: copy it now.`

const create = Command.make(
  "create",
  {
    account_id: accountFlag,
    name: keyNameFlag,
    scopes: scopesFlag,
    budget_credits: budgetFlag,
    expires_at: keyExpiry.forNewKey,
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, ...newKey }) {
    const created = yield* Administration.use((ledger) => ledger.createKey(newKey))
    yield* print(json, created, [created.key, "", explainShownOnce("the key"), describeKey(created)])
  }, withLedger)
).pipe(Command.withDescription("Create a key and print it; it is shown only this once"))

const list = Command.make(
  "list",
  { account: accountFlag, json: jsonOutputFlag },
  Effect.fn(function* ({ account, json }) {
    const keys = yield* Administration.use((ledger) => ledger.listKeys({ account_id: account }))
    const now = yield* Clock.currentTimeMillis
    const rows = keys.map((key) => {
      return [
        key.id,
        `…${key.last4}`,
        key.name,
        `${key.spent_usd} of ${key.budget_usd} USD`,
        describeState(key, now),
        listScopes(key)
      ]
    })
    const emptyText = `Account ${account} has no keys yet. Create one with: larder-serve keys create --account ${account} --name NAME --scopes all --budget-usd 5`
    const header = ["id", "key", "name", "spent this month", "state", "scopes"]
    yield* print(json, keys, rows.length === 0 ? [emptyText] : formatTable([header, ...rows]))
  }, withLedger)
).pipe(Command.withDescription("List the keys of an account by their last four characters"))

const edit = Command.make(
  "edit",
  {
    key_id: keyFlag,
    name: keyNameFlag.pipe(Flag.optional),
    scopes: scopesFlag.pipe(Flag.optional),
    budget_credits: budgetFlag.pipe(Flag.optional),
    expires_at: keyExpiry.forEdit.pipe(Flag.optional),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, key_id, ...changes }) {
    const { budget_credits, expires_at, name, scopes } = changes
    const edited = yield* Administration.use((ledger) =>
      ledger.editKey({
        key_id,
        ...(Option.isSome(name) && { name: name.value }),
        ...(Option.isSome(scopes) && { scopes: scopes.value }),
        ...(Option.isSome(budget_credits) && { budget_credits: budget_credits.value }),
        ...(Option.isSome(expires_at) && { expires_at: expires_at.value })
      })
    )
    yield* print(json, edited, [describeKey(edited)])
  }, withLedger)
).pipe(
  Command.validate(({ json: _, key_id: __, ...changes }) =>
    Object.values(changes).every((change) => Option.isNone<unknown>(change))
      ? Effect.fail(
          new CliError.ValidationError({
            message: "Give at least one of --name, --scopes, --budget-usd, --expires-at"
          })
        )
      : Effect.void
  ),
  Command.withDescription("Change name, scopes, budget or expiry of a key; the key itself stays the same")
)

const rotate = Command.make(
  "rotate",
  {
    key_id: keyFlag,
    overlap_hours: Flag.Finite("overlap").pipe(
      Flag.withMetavar("HOURS"),
      Flag.withDescription("Hours for which the former key is still accepted; 0 ends it immediately"),
      Flag.withSchema(OverlapHours)
    ),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, ...rotation }) {
    const rotated = yield* Administration.use((ledger) => ledger.rotateKey(rotation))
    const { former_expires_at, former_last4 } = rotated
    yield* print(json, rotated, [
      rotated.key,
      "",
      explainShownOnce("the new key"),
      former_expires_at === null
        ? "The former key is refused from now on."
        : `The former key (…${former_last4}) is accepted until ${former_expires_at}. Both spend the same budget.`,
      describeKey(rotated)
    ])
  }, withLedger)
).pipe(
  Command.withDescription(
    "Replace a key by a new one with the same id, scopes and budget, and print it; the former key expires after an overlap"
  )
)

const revoke = Command.make(
  "revoke",
  { key_id: keyFlag, json: jsonOutputFlag },
  Effect.fn(function* ({ json, key_id }) {
    const revoked = yield* Administration.use((ledger) => ledger.revokeKey({ key_id }))
    yield* print(json, revoked, [
      `Key ${revoked.id} (${revoked.name}, …${revoked.last4}) is revoked. This cannot be undone.`
    ])
  }, withLedger)
).pipe(Command.withDescription("Revoke a key permanently"))

export const keysCommand = Command.make("keys").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([create, list, edit, rotate, revoke])
)
