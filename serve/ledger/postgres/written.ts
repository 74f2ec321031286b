/**
 * What a group writes, as rows of arrays: entries that the machine has chained, where their accounts stand afterwards, what
 * they add to spending and usage, and what the server holds. Written by one statement, wherever it was decided.
 */
import type { ChainHead } from "../chain.ts"
import type { Draft } from "../machine.ts"
import { monthOf } from "../moments.ts"
import { moneyOutOf } from "../money-out.ts"
import type { Entry } from "../records.ts"
import { integers, texts } from "./parameters.ts"

/** What one server holds of one key in one month. */
export interface Holding {
  readonly account_id: string
  readonly key_id: string
  readonly month: number
  readonly credits: number
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

/** What carries a key is a charge, or the refund of one, which takes it out of the day that it was counted in. */
const usageOf = (entries: ReadonlyArray<Draft>): ReadonlyArray<Usage> => {
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

/** Where an account stands after a group. */
export interface Moved extends ChainHead {
  readonly id: string
  readonly money_out: number
}

/** The last entry of each account, and the money that went out with its entries. */
export const movedBy = (entries: ReadonlyArray<Entry>): Map<string, Moved> => {
  const moved = new Map<string, Moved>()
  for (const entry of entries) {
    const { account_id: id, balance, hash, position } = entry
    moved.set(id, { id, position, balance, hash, money_out: (moved.get(id)?.money_out ?? 0) + moneyOutOf(entry) })
  }
  return moved
}

/** So many parameters come from `rowsOf`. */
export const rowParameters = 28

/**
 * `isToBeWritten` is a condition in SQL; `$1` is the server that holds; the parameters of `rowsOf` begin after `before`.
 * `more` is what else is set of the accounts, from arrays passed next to those of `rowsOf`.
 */
export const writtenWhere = (isToBeWritten: string, before: number, more = { set: "", arrays: "", columns: "" }) => {
  const p = (number: number) => `$${before + number}`
  return `written as (
    insert into ledger.entry (account_id, position, type, occurred_at, key_id, endpoint, credits, balance, budget_credits,
      request_id, note, hash)
    select account_id, position, type, occurred_at::timestamptz, key_id, endpoint, credits, balance, budget_credits,
      request_id, note, hash
    from unnest(${p(1)}::text[], ${p(2)}::bigint[], ${p(3)}::text[], ${p(4)}::text[], ${p(5)}::text[], ${p(6)}::text[],
      ${p(7)}::bigint[], ${p(8)}::bigint[], ${p(9)}::bigint[], ${p(10)}::text[], ${p(11)}::text[], ${p(12)}::text[])
      with ordinality as entry (account_id, position, type, occurred_at, key_id, endpoint, credits, balance,
        budget_credits, request_id, note, hash, place)
    where ${isToBeWritten}
    order by place
  ), moved as (
    update ledger.account
    set position = head.position, balance = head.balance, hash = head.hash, money_out = account.money_out + head.money_out
      ${more.set}
    from unnest(${p(13)}::text[], ${p(14)}::bigint[], ${p(15)}::bigint[], ${p(16)}::text[], ${p(17)}::bigint[]
      ${more.arrays}) as head (id, position, balance, hash, money_out ${more.columns})
    where account.id = head.id and ${isToBeWritten}
    returning account.id
  ), counted as materialized (
    select *
    from unnest(${p(18)}::text[], ${p(19)}::text[], ${p(20)}::text[], ${p(21)}::text[]::date[], ${p(22)}::bigint[]::integer[],
      ${p(23)}::bigint[], ${p(24)}::bigint[]) as usage (account_id, key_id, endpoint, day, month, calls, credits)
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
    insert into ledger.holding (account_id, key_id, month, server_id, credits)
    select account_id, key_id, month, $1, credits
    from unnest(${p(25)}::text[], ${p(26)}::text[], ${p(27)}::bigint[]::integer[], ${p(28)}::bigint[])
      as holding (account_id, key_id, month, credits)
    where ${isToBeWritten}
    on conflict (account_id, key_id, month, server_id) do update set credits = excluded.credits
  )`
}

export const rowsOf = (
  entries: ReadonlyArray<Entry>,
  heads: ReadonlyArray<Moved>,
  holdings: ReadonlyArray<Holding>
): ReadonlyArray<unknown> => {
  const usage = usageOf(entries)
  return [
    texts(entries.map((entry) => entry.account_id)),
    integers(entries.map((entry) => entry.position)),
    texts(entries.map((entry) => entry.type)),
    texts(entries.map((entry) => entry.occurred_at)),
    texts(entries.map((entry) => entry.key_id)),
    texts(entries.map((entry) => entry.endpoint)),
    integers(entries.map((entry) => entry.credits)),
    integers(entries.map((entry) => entry.balance)),
    integers(entries.map((entry) => entry.budget_credits)),
    texts(entries.map((entry) => entry.request_id)),
    texts(entries.map((entry) => entry.note)),
    texts(entries.map((entry) => entry.hash)),
    texts(heads.map((head) => head.id)),
    integers(heads.map((head) => head.position)),
    integers(heads.map((head) => head.balance)),
    texts(heads.map((head) => head.hash)),
    integers(heads.map((head) => head.money_out)),
    texts(usage.map((sum) => sum.account_id)),
    texts(usage.map((sum) => sum.key_id)),
    texts(usage.map((sum) => sum.endpoint)),
    texts(usage.map((sum) => sum.day)),
    integers(usage.map((sum) => sum.month)),
    integers(usage.map((sum) => sum.calls)),
    integers(usage.map((sum) => sum.credits)),
    texts(holdings.map((holding) => holding.account_id)),
    texts(holdings.map((holding) => holding.key_id)),
    integers(holdings.map((holding) => holding.month)),
    integers(holdings.map((holding) => holding.credits))
  ]
}
