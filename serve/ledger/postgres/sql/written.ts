/**
 * What a group writes, as arrays of column values: entries that the machine has chained, the heads of their accounts
 * afterwards, what they add to spending and usage, and what the server holds. One statement writes all of it, wherever
 * it was decided.
 */
import type { ChainHead, Draft } from "../../chain/chain.ts"
import { type Entry, moneyOutOfEntry } from "../../chain/records.ts"
import { monthOf } from "../../moments.ts"
import { parseGrants } from "../../rules/expiring-grants.ts"
import { integers, texts } from "./parameters.ts"

/** What one server holds of one key, for calls admitted on one day, of one grant or of credits that do not expire. */
export interface Holding {
  readonly account_id: string
  readonly key_id: string
  readonly day: number
  /** 0 if the credits do not expire. */
  readonly grant_position: number
  readonly credits: number
  /** The part of `credits` that no call holds yet. */
  readonly reserved: number
}

interface Usage {
  readonly account_id: string
  readonly key_id: string
  readonly endpoint: string
  readonly day: string
  readonly month: number
  calls: number
  credits: number
}

/** An entry with a key is a charge, or its refund, which is subtracted from the day on which the charge was counted. */
const sumUsage = (entries: ReadonlyArray<Draft>): ReadonlyArray<Usage> => {
  const sums = new Map<string, Usage>()
  for (const { account_id, credits, endpoint, key_id, occurred_at, type } of entries) {
    if (key_id === null || endpoint === null) continue
    const day = occurred_at.slice(0, 10)
    const name = `${key_id} ${day} ${endpoint}`
    let sum = sums.get(name)
    if (sum === undefined) {
      sum = { account_id, key_id, endpoint, day, month: monthOf(Date.parse(day)), calls: 0, credits: 0 }
      sums.set(name, sum)
    }
    sum.calls += type === "charge" ? 1 : -1
    sum.credits -= credits
  }
  return [...sums.values()]
}

/** The state of an account after a group. */
export interface AccountAfter extends ChainHead {
  readonly id: string
  readonly money_out: number
}

/** The last entry of each account, and the money that went out with its entries. */
export const listAccountsAfter = (entries: ReadonlyArray<Entry>): Map<string, AccountAfter> => {
  const moved = new Map<string, AccountAfter>()
  for (const entry of entries) {
    const { account_id: id, balance, hash, position } = entry
    moved.set(id, { id, position, balance, hash, money_out: (moved.get(id)?.money_out ?? 0) + moneyOutOfEntry(entry) })
  }
  return moved
}

/** Expiring credits that the entries grant, and what they take from such credits. Null if none, as in most groups. */
const formatGrantRows = (entries: ReadonlyArray<Entry>): string | null => {
  const rows = entries.flatMap(({ account_id, credits, expires_at, grants, position }) => [
    ...(expires_at === null ? [] : [{ account_id, position, expires_at, credits }]),
    ...parseGrants(grants).map((change) => ({ account_id, expires_at: null, ...change }))
  ])
  return rows.length === 0 ? null : JSON.stringify(rows)
}

/** One array per column, and the changes of grants as JSON. */
const parameters = [
  "entry.account_id",
  "entry.position",
  "entry.type",
  "entry.occurred_at",
  "entry.key_id",
  "entry.endpoint",
  "entry.credits",
  "entry.balance",
  "entry.budget_credits",
  "entry.daily_budget_credits",
  "entry.weekly_budget_credits",
  "entry.request_id",
  "entry.note",
  "entry.expires_at",
  "entry.grants",
  "entry.hash",
  "grants",
  "account.id",
  "account.position",
  "account.balance",
  "account.hash",
  "account.money_out",
  "usage.account_id",
  "usage.key_id",
  "usage.endpoint",
  "usage.day",
  "usage.month",
  "usage.calls",
  "usage.credits",
  "holding.account_id",
  "holding.key_id",
  "holding.day",
  "holding.grant_position",
  "holding.credits",
  "holding.reserved"
] as const
type Parameter = (typeof parameters)[number]
/** The number of parameters that `rowsOf` returns. */
export const rowParameterCount = parameters.length

/**
 * `isToBeWritten` is a condition in SQL. `$1` is the server that has the holdings. The parameters of `rowsOf` begin
 * after `before`. `more` sets further columns of the accounts, from arrays that are passed after those of `rowsOf`.
 */
export const writeRows = (isToBeWritten: string, before: number, more = { set: "", arrays: "", columns: "" }) => {
  const p = (name: Parameter) => `$${before + 1 + parameters.indexOf(name)}`
  const columns = `account_id, position, type, occurred_at, key_id, endpoint, credits, balance, budget_credits,
      daily_budget_credits, weekly_budget_credits, request_id, note, expires_at, grants, hash`
  return `written as (
    insert into ledger.entry (${columns})
    select account_id, position, type, occurred_at::timestamptz, key_id, endpoint, credits, balance, budget_credits,
      daily_budget_credits, weekly_budget_credits, request_id, note, expires_at::timestamptz, grants, hash
    from unnest(${p("entry.account_id")}::text[], ${p("entry.position")}::bigint[], ${p("entry.type")}::text[],
      ${p("entry.occurred_at")}::text[], ${p("entry.key_id")}::text[], ${p("entry.endpoint")}::text[],
      ${p("entry.credits")}::bigint[], ${p("entry.balance")}::bigint[], ${p("entry.budget_credits")}::bigint[],
      ${p("entry.daily_budget_credits")}::bigint[], ${p("entry.weekly_budget_credits")}::bigint[],
      ${p("entry.request_id")}::text[], ${p("entry.note")}::text[], ${p("entry.expires_at")}::text[],
      ${p("entry.grants")}::text[], ${p("entry.hash")}::text[])
      with ordinality as entry (${columns}, place)
    where ${isToBeWritten}
    order by place
  ), changed_grant as materialized (
    select *
    from json_to_recordset(${p("grants")}::text::json)
      as change (account_id text, position bigint, expires_at timestamptz, credits bigint)
    where ${isToBeWritten}
  ), granted as (
    insert into ledger.expiring_grant (account_id, position, expires_at, credits_left)
    select * from changed_grant where expires_at is not null
  ), used_grant as (
    update ledger.expiring_grant
    set credits_left = credits_left + used.credits
    from (
      select account_id, position, sum(credits)::bigint as credits
      from changed_grant
      where expires_at is null
      group by 1, 2
    ) as used
    where expiring_grant.account_id = used.account_id and expiring_grant.position = used.position
  ), moved as (
    update ledger.account
    set position = head.position, balance = head.balance, hash = head.hash, money_out = account.money_out + head.money_out
      ${more.set}
    from unnest(${p("account.id")}::text[], ${p("account.position")}::bigint[], ${p("account.balance")}::bigint[],
      ${p("account.hash")}::text[], ${p("account.money_out")}::bigint[] ${more.arrays})
      as head (id, position, balance, hash, money_out ${more.columns})
    where account.id = head.id and ${isToBeWritten}
    returning account.id
  ), counted as materialized (
    select *
    from unnest(${p("usage.account_id")}::text[], ${p("usage.key_id")}::text[], ${p("usage.endpoint")}::text[],
      ${p("usage.day")}::text[]::date[], ${p("usage.month")}::bigint[]::integer[], ${p("usage.calls")}::bigint[],
      ${p("usage.credits")}::bigint[]) as usage (account_id, key_id, endpoint, day, month, calls, credits)
    where ${isToBeWritten}
  ), spent as (
    insert into ledger.spent_in_month as spent (key_id, month, credits)
    select key_id, month, sum(credits) from counted group by 1, 2
    on conflict (key_id, month) do update set credits = spent.credits + excluded.credits
  ), by_day as (
    insert into ledger.usage_of_day as usage (account_id, day, key_id, endpoint, calls, credits)
    select account_id, day, key_id, endpoint, calls, credits from counted
    on conflict (account_id, day, key_id, endpoint)
    do update set calls = usage.calls + excluded.calls, credits = usage.credits + excluded.credits
  ), by_month as (
    insert into ledger.usage_of_month as usage (account_id, month, key_id, endpoint, calls, credits)
    select account_id, month, key_id, endpoint, sum(calls), sum(credits) from counted group by 1, 2, 3, 4
    on conflict (account_id, month, key_id, endpoint)
    do update set calls = usage.calls + excluded.calls, credits = usage.credits + excluded.credits
  ), by_endpoint as (
    insert into ledger.usage_of_endpoint as usage (account_id, day, endpoint, calls, credits)
    select account_id, day, endpoint, sum(calls), sum(credits) from counted group by 1, 2, 3
    on conflict (account_id, day, endpoint)
    do update set calls = usage.calls + excluded.calls, credits = usage.credits + excluded.credits
  ), held as (
    insert into ledger.holding (account_id, key_id, day, grant_position, server_id, credits, reserved)
    select account_id, key_id, day, grant_position, $1, credits, reserved
    from unnest(${p("holding.account_id")}::text[], ${p("holding.key_id")}::text[],
      ${p("holding.day")}::bigint[]::integer[], ${p("holding.grant_position")}::bigint[],
      ${p("holding.credits")}::bigint[], ${p("holding.reserved")}::bigint[])
      as holding (account_id, key_id, day, grant_position, credits, reserved)
    where ${isToBeWritten}
    on conflict (account_id, key_id, day, grant_position, server_id) do update
      set credits = excluded.credits, reserved = excluded.reserved
  )`
}

export const bindRows = (
  entries: ReadonlyArray<Entry>,
  heads: ReadonlyArray<AccountAfter>,
  holdings: ReadonlyArray<Holding>
): ReadonlyArray<unknown> => {
  const usage = sumUsage(entries)
  const rows: Readonly<Record<Parameter, unknown>> = {
    "entry.account_id": texts(entries.map((entry) => entry.account_id)),
    "entry.position": integers(entries.map((entry) => entry.position)),
    "entry.type": texts(entries.map((entry) => entry.type)),
    "entry.occurred_at": texts(entries.map((entry) => entry.occurred_at)),
    "entry.key_id": texts(entries.map((entry) => entry.key_id)),
    "entry.endpoint": texts(entries.map((entry) => entry.endpoint)),
    "entry.credits": integers(entries.map((entry) => entry.credits)),
    "entry.balance": integers(entries.map((entry) => entry.balance)),
    "entry.budget_credits": integers(entries.map((entry) => entry.budget_credits)),
    "entry.daily_budget_credits": integers(entries.map((entry) => entry.daily_budget_credits)),
    "entry.weekly_budget_credits": integers(entries.map((entry) => entry.weekly_budget_credits)),
    "entry.request_id": texts(entries.map((entry) => entry.request_id)),
    "entry.note": texts(entries.map((entry) => entry.note)),
    "entry.expires_at": texts(entries.map((entry) => entry.expires_at)),
    "entry.grants": texts(entries.map((entry) => entry.grants)),
    "entry.hash": texts(entries.map((entry) => entry.hash)),
    grants: formatGrantRows(entries),
    "account.id": texts(heads.map((head) => head.id)),
    "account.position": integers(heads.map((head) => head.position)),
    "account.balance": integers(heads.map((head) => head.balance)),
    "account.hash": texts(heads.map((head) => head.hash)),
    "account.money_out": integers(heads.map((head) => head.money_out)),
    "usage.account_id": texts(usage.map((sum) => sum.account_id)),
    "usage.key_id": texts(usage.map((sum) => sum.key_id)),
    "usage.endpoint": texts(usage.map((sum) => sum.endpoint)),
    "usage.day": texts(usage.map((sum) => sum.day)),
    "usage.month": integers(usage.map((sum) => sum.month)),
    "usage.calls": integers(usage.map((sum) => sum.calls)),
    "usage.credits": integers(usage.map((sum) => sum.credits)),
    "holding.account_id": texts(holdings.map((holding) => holding.account_id)),
    "holding.key_id": texts(holdings.map((holding) => holding.key_id)),
    "holding.day": integers(holdings.map((holding) => holding.day)),
    "holding.grant_position": integers(holdings.map((holding) => holding.grant_position)),
    "holding.credits": integers(holdings.map((holding) => holding.credits)),
    "holding.reserved": integers(holdings.map((holding) => holding.reserved))
  }
  return parameters.map((name) => rows[name])
}
