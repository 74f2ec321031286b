/** `larder-serve keys create|list|edit|rotate|revoke` */
import { scopes } from "@larder/schemas"
import { Clock, Effect, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { Administration, type KeySummary, OverlapHours } from "../ledger/index.ts"
import {
  accountFlag,
  budgetFlag,
  dailyBudget,
  formatTable,
  jsonOutputFlag,
  keyExpiry,
  keyFlag,
  nameFlag,
  print,
  scopesFlag,
  weeklyBudget,
  withLedger
} from "./flags.ts"

const keyNameFlag = nameFlag.pipe(Flag.withDescription("Name of the key, for people"))
const listScopes = (key: KeySummary) => (key.scopes.length === scopes.length ? "all" : key.scopes.join(","))
const describeState = (key: KeySummary, now: number) => {
  const { budget_usd, daily_budget_usd, expires_at, former_expires_at, revoked_at, weekly_budget_usd } = key
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at !== null && Date.parse(expires_at) <= now) return `expired ${expires_at}`
  const isFormerAccepted = former_expires_at !== null && Date.parse(former_expires_at) > now
  return [
    [budget_usd, daily_budget_usd, weekly_budget_usd].includes(0) ? "paused" : "active",
    ...(expires_at === null ? [] : [`expires ${expires_at}`]),
    ...(isFormerAccepted ? [`…${key.former_last4} until ${former_expires_at}`] : [])
  ].join(", ")
}
const describeKey = (key: KeySummary) =>
  [
    `${key.id} (${key.name}, …${key.last4}): scopes ${listScopes(key)}`,
    ...(key.daily_budget_usd === null ? [] : [`${key.daily_budget_usd} USD a day`]),
    ...(key.weekly_budget_usd === null ? [] : [`${key.weekly_budget_usd} USD a week`]),
    `${key.budget_usd} USD a month`,
    ...(key.expires_at === null ? [] : [`expires ${key.expires_at}`])
  ].join(", ")
const describeSpending = (key: KeySummary) => {
  const { daily_budget_usd, spent_this_week_usd, spent_today_usd, weekly_budget_usd } = key
  return [
    `month ${key.spent_usd} of ${key.budget_usd} USD`,
    ...(weekly_budget_usd === null ? [] : [`week ${spent_this_week_usd} of ${weekly_budget_usd}`]),
    ...(daily_budget_usd === null ? [] : [`today ${spent_today_usd} of ${daily_budget_usd}`])
  ].join(", ")
}
const explainShownOnce = (subject: string) => `This is ${subject}. It is shown once and stored nowhere: copy it now.`

const create = Command.make(
  "create",
  {
    account_id: accountFlag,
    name: keyNameFlag,
    scopes: scopesFlag,
    budget_credits: budgetFlag,
    daily_budget_credits: dailyBudget.forNewKey,
    weekly_budget_credits: weeklyBudget.forNewKey,
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
      return [key.id, `…${key.last4}`, key.name, describeSpending(key), describeState(key, now), listScopes(key)]
    })
    const emptyText = `Account ${account} has no keys yet. Create one with: larder-serve keys create --account ${account} --name NAME --scopes all --budget-usd 5`
    const header = ["id", "key", "name", "spent", "state", "scopes"]
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
    daily_budget_credits: dailyBudget.forEdit.pipe(Flag.optional),
    weekly_budget_credits: weeklyBudget.forEdit.pipe(Flag.optional),
    expires_at: keyExpiry.forEdit.pipe(Flag.optional),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, key_id, ...changes }) {
    const { budget_credits, daily_budget_credits, expires_at, name, scopes, weekly_budget_credits } = changes
    const edited = yield* Administration.use((ledger) =>
      ledger.editKey({
        key_id,
        ...(Option.isSome(name) && { name: name.value }),
        ...(Option.isSome(scopes) && { scopes: scopes.value }),
        ...(Option.isSome(budget_credits) && { budget_credits: budget_credits.value }),
        ...(Option.isSome(daily_budget_credits) && { daily_budget_credits: daily_budget_credits.value }),
        ...(Option.isSome(weekly_budget_credits) && { weekly_budget_credits: weekly_budget_credits.value }),
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
            message:
              "Give at least one of --name, --scopes, --budget-usd, --daily-budget-usd, --weekly-budget-usd, --expires-at"
          })
        )
      : Effect.void
  ),
  Command.withDescription("Change name, scopes, budgets or expiry of a key; the key itself stays the same")
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
        : `The former key (…${former_last4}) is accepted until ${former_expires_at}. Both spend the same budgets.`,
      describeKey(rotated)
    ])
  }, withLedger)
).pipe(
  Command.withDescription(
    "Replace a key by a new one with the same id, scopes and budgets, and print it; the former key expires after an overlap"
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
