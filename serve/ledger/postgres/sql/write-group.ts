/**
 * The statement that writes a group: chained entries, the new heads of their accounts, what the entries add to spending
 * and usage, and what the server holds. It is the same for groups that were decided in memory and in the database.
 */
import { Schema } from "effect"
import type { ChainHead, Draft } from "../../chain/chain.ts"
import { type Entry, reversalCredits } from "../../chain/records.ts"
import { monthOf } from "../../utc-calendar.ts"
import { integerArray, textArray } from "./database.ts"

/** What one server holds of one key, for calls admitted in one month. */
export const Holding = Schema.Struct({
  account_id: Schema.String,
  key_id: Schema.String,
  month: Schema.Int,
  credits: Schema.Int,
  /** The part of `credits` that no call holds yet. */
  reserved: Schema.Int
})
export type Holding = typeof Holding.Type

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

export interface AccountAfter extends ChainHead {
  readonly id: string
  readonly money_out: number
}

/** The last entry of each account, and the credits that its entries deduct for refunds and disputes. */
export const listAccountsAfter = (entries: ReadonlyArray<Entry>): Map<string, AccountAfter> => {
  const moved = new Map<string, AccountAfter>()
  for (const entry of entries) {
    const { account_id: id, balance, hash, position } = entry
    moved.set(id, { id, position, balance, hash, money_out: (moved.get(id)?.money_out ?? 0) + reversalCredits(entry) })
  }
  return moved
}

/** The columns of each table as parameters, one array per column: the type of the array, and what it is cast to. */
const columns = {
  entry: {
    account_id: "text[]",
    position: "bigint[]",
    type: "text[]",
    occurred_at: "text[]",
    key_id: "text[]",
    endpoint: "text[]",
    credits: "bigint[]",
    balance: "bigint[]",
    budget_credits: "bigint[]",
    request_id: "text[]",
    note: "text[]",
    hash: "text[]"
  },
  account: { id: "text[]", position: "bigint[]", balance: "bigint[]", hash: "text[]", money_out: "bigint[]" },
  usage: {
    account_id: "text[]",
    key_id: "text[]",
    endpoint: "text[]",
    day: "text[]::date[]",
    month: "bigint[]::integer[]",
    calls: "bigint[]",
    credits: "bigint[]"
  },
  holding: {
    account_id: "text[]",
    key_id: "text[]",
    month: "bigint[]::integer[]",
    credits: "bigint[]",
    reserved: "bigint[]"
  }
} as const satisfies {
  readonly entry: Record<Exclude<keyof Entry, "sequence">, string>
  readonly account: Record<keyof AccountAfter, string>
  readonly usage: Record<keyof Usage, string>
  readonly holding: Record<keyof Holding, string>
}
type Table = keyof typeof columns
const parameters = Object.entries(columns).flatMap(([table, types]) =>
  Object.entries(types).map(([column, type]) => ({ table, column, type }))
)
/** The number of parameters that `bindRows` returns. */
export const rowParameterCount = parameters.length

/**
 * Writes rows only if the SQL `condition` is true. `$1` is the server that has the holdings. The parameters of
 * `bindRows` begin after `before`. `more` sets further columns of accounts, from arrays after those of `bindRows`.
 */
export const writeRows = (condition: string, before: number, more = { set: "", arrays: "", columns: "" }) => {
  const arrays = (name: Table) =>
    parameters
      .flatMap(({ table, type }, index) => (table === name ? [`$${before + 1 + index}::${type}`] : []))
      .join(", ")
  const names = (table: Table) => Object.keys(columns[table]).join(", ")
  return `written as (
    insert into ledger.entry (${names("entry")})
    select ${names("entry").replace(/\w+_at/g, "$&::timestamptz")}
    from unnest(${arrays("entry")})
      with ordinality as entry (${names("entry")}, place)
    where ${condition}
    order by place
  ), moved as (
    update ledger.account
    set position = head.position, balance = head.balance, hash = head.hash, money_out = account.money_out + head.money_out
      ${more.set}
    from unnest(${arrays("account")} ${more.arrays}) as head (${names("account")} ${more.columns})
    where account.id = head.id and ${condition}
    returning account.id
  ), counted as materialized (
    select *
    from unnest(${arrays("usage")}) as usage (${names("usage")})
    where ${condition}
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
    insert into ledger.holding (account_id, key_id, month, server_id, credits, reserved)
    select account_id, key_id, month, $1, credits, reserved
    from unnest(${arrays("holding")}) as holding (${names("holding")})
    where ${condition}
    on conflict (account_id, key_id, month, server_id) do update
      set credits = excluded.credits, reserved = excluded.reserved
  )`
}

export const bindRows = (
  entries: ReadonlyArray<Entry>,
  heads: ReadonlyArray<AccountAfter>,
  holdings: ReadonlyArray<Holding>
): ReadonlyArray<unknown> => {
  const rows: Readonly<Record<string, ReadonlyArray<object>>> = {
    entry: entries,
    account: heads,
    usage: sumUsage(entries),
    holding: holdings
  }
  return parameters.map(({ column, table, type }) => {
    const values = rows[table]?.map((row) => (row as Readonly<Record<string, unknown>>)[column]) ?? []
    return type.startsWith("text") ? textArray(values) : integerArray(values)
  })
}
