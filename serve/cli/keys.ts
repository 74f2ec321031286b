/** `larder-serve keys create|list|edit|rotate|revoke` */
import { scopes } from "@larder/schemas"
import { Clock, Effect, Option } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { Administration, type KeySummary, OverlapHours } from "../ledger/index.ts"
import {
  account,
  budget,
  changedExpiry,
  dailyBudget,
  expiresAt,
  json,
  key,
  name,
  print,
  scopeList,
  table,
  weeklyBudget,
  withLedger
} from "./flags.ts"

const keyName = name.pipe(Flag.withDescription("Name of the key, for people"))
const scopesOf = (key: KeySummary) => (key.scopes.length === scopes.length ? "all" : key.scopes.join(","))
const isPaused = ({ budget_usd, daily_budget_usd, weekly_budget_usd }: KeySummary) =>
  [budget_usd, daily_budget_usd, weekly_budget_usd].includes(0)
const stateOf = (key: KeySummary, now: number) => {
  const { expires_at, former_expires_at, former_last4, revoked_at } = key
  if (revoked_at !== null) return `revoked ${revoked_at}`
  if (expires_at !== null && Date.parse(expires_at) <= now) return `expired ${expires_at}`
  const isFormerAccepted = former_expires_at !== null && Date.parse(former_expires_at) > now
  return [
    isPaused(key) ? "paused" : "active",
    ...(expires_at === null ? [] : [`expires ${expires_at}`]),
    ...(isFormerAccepted ? [`…${former_last4} until ${former_expires_at}`] : [])
  ].join(", ")
}
const budgetsOf = ({ budget_usd, daily_budget_usd, weekly_budget_usd }: KeySummary) => [
  ...(daily_budget_usd === null ? [] : [`${daily_budget_usd} USD a day`]),
  ...(weekly_budget_usd === null ? [] : [`${weekly_budget_usd} USD a week`]),
  `${budget_usd} USD a month`
]
const described = (key: KeySummary) =>
  [
    `${key.id} (${key.name}, …${key.last4}): scopes ${scopesOf(key)}`,
    ...budgetsOf(key),
    ...(key.expires_at === null ? [] : [`expires ${key.expires_at}`])
  ].join(", ")
const spentOf = (key: KeySummary) => {
  const { daily_budget_usd, spent_this_week_usd, spent_today_usd, weekly_budget_usd } = key
  return [
    `month ${key.spent_usd} of ${key.budget_usd} USD`,
    ...(weekly_budget_usd === null ? [] : [`week ${spent_this_week_usd} of ${weekly_budget_usd}`]),
    ...(daily_budget_usd === null ? [] : [`today ${spent_today_usd} of ${daily_budget_usd}`])
  ].join(", ")
}
const create = Command.make(
  "create",
  {
    account,
    name: keyName,
    scopes: scopeList,
    budget_credits: budget,
    daily_budget_credits: dailyBudget.given.pipe(Flag.optional),
    weekly_budget_credits: weeklyBudget.given.pipe(Flag.optional),
    expires_at: expiresAt.pipe(Flag.optional),
    json
  },
  Effect.fn(function* ({ account, budget_credits, json, name, scopes, ...optional }) {
    const asked = {
      ...{ account_id: account, name, scopes, budget_credits },
      daily_budget_credits: Option.getOrNull(optional.daily_budget_credits),
      weekly_budget_credits: Option.getOrNull(optional.weekly_budget_credits),
      expires_at: Option.getOrNull(optional.expires_at)
    }
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
    const rows = keys.map((one) => [one.id, `…${one.last4}`, one.name, spentOf(one), stateOf(one, now), scopesOf(one)])
    const none = `Account ${account} has no keys yet. Create one with: larder-serve keys create --account ${account} --name NAME --scopes all --budget-usd 5`
    const head = ["id", "key", "name", "spent", "state", "scopes"]
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
    daily_budget_credits: dailyBudget.changed.pipe(Flag.optional),
    weekly_budget_credits: weeklyBudget.changed.pipe(Flag.optional),
    expires_at: changedExpiry.pipe(Flag.optional),
    json
  },
  Effect.fn(function* ({ json, key, ...asked }) {
    const { budget_credits, daily_budget_credits, expires_at, name, scopes, weekly_budget_credits } = asked
    const edited = yield* Administration.use((ledger) =>
      ledger.editKey({
        key_id: key,
        ...(Option.isSome(name) && { name: name.value }),
        ...(Option.isSome(scopes) && { scopes: scopes.value }),
        ...(Option.isSome(budget_credits) && { budget_credits: budget_credits.value }),
        ...(Option.isSome(daily_budget_credits) && { daily_budget_credits: daily_budget_credits.value }),
        ...(Option.isSome(weekly_budget_credits) && { weekly_budget_credits: weekly_budget_credits.value }),
        ...(Option.isSome(expires_at) && { expires_at: expires_at.value })
      })
    )
    yield* print(json, edited, [described(edited)])
  }, withLedger)
).pipe(
  Command.validate(({ json: _, key: __, ...asked }) =>
    Object.values(asked).every((given) => Option.isNone<unknown>(given))
      ? Effect.fail(
          new CliError.ValidationError({
            message:
              "Give at least one of --name, --scopes, --budget-usd, --daily-budget-usd, --weekly-budget-usd, --expires-at"
          })
        )
      : Effect.void
  ),
  Command.withDescription("Change name, scopes, budgets or end of a key; the key itself stays the same")
)

const rotate = Command.make(
  "rotate",
  {
    key,
    overlap_hours: Flag.Finite("overlap").pipe(
      Flag.withMetavar("HOURS"),
      Flag.withDescription("Hours for which the former key is still accepted; 0 ends it immediately"),
      Flag.withSchema(OverlapHours)
    ),
    json
  },
  Effect.fn(function* ({ json, key, overlap_hours }) {
    const rotated = yield* Administration.use((ledger) => ledger.rotateKey({ key_id: key, overlap_hours }))
    const { former_expires_at, former_last4 } = rotated
    yield* print(json, rotated, [
      rotated.key,
      "",
      "This is the new key. It is shown once and stored nowhere: copy it now.",
      former_expires_at === null
        ? "The former key is refused from now on."
        : `The former key (…${former_last4}) is accepted until ${former_expires_at}. Both spend the same budgets.`,
      described(rotated)
    ])
  }, withLedger)
).pipe(
  Command.withDescription(
    "Replace a key by another one with the same id, scopes and budgets, and print it; the former one ends after an overlap"
  )
)

const revoke = Command.make(
  "revoke",
  { key, json },
  Effect.fn(function* ({ json, key }) {
    const revoked = yield* Administration.use((ledger) => ledger.revokeKey({ key_id: key }))
    yield* print(json, revoked, [
      `Key ${revoked.id} (${revoked.name}, …${revoked.last4}) is revoked. This cannot be undone.`
    ])
  }, withLedger)
).pipe(Command.withDescription("Revoke a key permanently"))

export const keys = Command.make("keys").pipe(
  Command.withDescription("API keys"),
  Command.withSubcommands([create, list, edit, rotate, revoke])
)
