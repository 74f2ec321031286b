/**
 * The statement that writes a group: chained entries, the new heads of their accounts, and what the entries add to
 * spending and usage.
 */
import type { ChainHead, Draft } from "../../chain/chain.ts"
import { type Entry, reversalCredits } from "../../chain/records.ts"
import { monthOf } from "../../utc-calendar.ts"
import { integerArray, textArray } from "./database.ts"

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

interface AccountAfter extends ChainHead {
  readonly id: string
  readonly reversed_credits: number
}

/** The last entry of each account, and the credits that its entries deduct for refunds and disputes. */
export const listAccountsAfter = (entries: ReadonlyArray<Entry>): Map<string, AccountAfter> => {
  const moved = new Map<string, AccountAfter>()
  for (const entry of entries) {
    const { account_id: id, balance, hash, position } = entry
    moved.set(id, {
      id,
      position,
      balance,
      hash,
      reversed_credits: (moved.get(id)?.reversed_credits ?? 0) + reversalCredits(entry)
    })
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
  account: { id: "text[]", position: "bigint[]", balance: "bigint[]", hash: "text[]", reversed_credits: "bigint[]" },
  usage: {
    account_id: "text[]",
    key_id: "text[]",
    endpoint: "text[]",
    day: "text[]::date[]",
    month: "bigint[]::integer[]",
    calls: "bigint[]",
    credits: "bigint[]"
  }
} as const satisfies {
  readonly entry: Record<Exclude<keyof Entry, "sequence">, string>
  readonly account: Record<keyof AccountAfter, string>
  readonly usage: Record<keyof Usage, string>
}
type Table = keyof typeof columns
const parameters = Object.entries(columns).flatMap(([table, types]) =>
  Object.entries(types).map(([column, type]) => ({ table, column, type }))
)
const arrays = (name: Table) =>
  parameters.flatMap(({ table, type }, index) => (table === name ? [`$${1 + index}::${type}`] : [])).join(", ")
const accountIds = 1 + parameters.findIndex(({ table }) => table === "account")
const names = (table: Table) => Object.keys(columns[table]).join(", ")

/**
 * Divides by zero, and so writes nothing, if an account was not updated: all are locked, so this never happens. The
 * parameters are those of `bindRows`.
 */
export const writeEntries = `
  with written as (
    insert into ledger.entry (${names("entry")})
    select ${names("entry").replace(/\w+_at/g, "$&::timestamptz")}
    from unnest(${arrays("entry")})
      with ordinality as entry (${names("entry")}, place)
    order by place
  ), moved as (
    update ledger.account
    set position = head.position, balance = head.balance, hash = head.hash, reversed_credits = account.reversed_credits + head.reversed_credits
    from unnest(${arrays("account")}) as head (${names("account")})
    where account.id = head.id
    returning account.id
  ), counted as materialized (
    select *
    from unnest(${arrays("usage")}) as usage (${names("usage")})
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
  )
  select 1 / case when (select count(*) from moved) = cardinality($${accountIds}::text[]) then 1 else 0 end as complete`

export const bindRows = (entries: ReadonlyArray<Entry>, heads: ReadonlyArray<AccountAfter>): ReadonlyArray<unknown> => {
  const rows: Readonly<Record<string, ReadonlyArray<object>>> = {
    entry: entries,
    account: heads,
    usage: sumUsage(entries)
  }
  return parameters.map(({ column, table, type }) => {
    const values = rows[table]?.map((row) => (row as Readonly<Record<string, unknown>>)[column]) ?? []
    return type.startsWith("text") ? textArray(values) : integerArray(values)
  })
}
