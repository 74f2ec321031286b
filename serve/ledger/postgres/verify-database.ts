/** Checks that every entry in the database follows its predecessor, and every stored sum is the sum of its entries. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { Verification } from "../administration.ts"
import { brokenChains } from "./chain-check.ts"
import { databaseUnavailable, makeRowQuery, transact } from "./sql/database.ts"
import { monthOfTimestamp } from "./sql/sql-expressions.ts"
import {
  reversals,
  reversedCredits,
  spentByMonth,
  usageOfDay,
  usageOfEndpoint,
  usageOfMonth
} from "./sql/sums-of-entries.ts"

const maxProblems = 100

/** Each check is a query that returns one sentence per problem, with its place; no rows if there is none. */
export const headProblems = `
  select format('account %s has %s credits after %s entries, but its last entry is number %s with a balance of %s', account.id,
    account.balance, account.position, last.position, last.balance) as problem
  from ledger.account
  left join ledger.chain_start as start on start.account_id = account.id
  left join lateral (
    select position, balance, hash from ledger.entry where account_id = account.id order by position desc limit 1
  ) as newest on true
  cross join lateral (
    select coalesce(newest.position, start.position, 0) as position, coalesce(newest.balance, start.balance, 0) as balance,
      coalesce(newest.hash, start.hash, '') as hash
  ) as last
  where (account.position, account.balance, account.hash) is distinct from (last.position, last.balance, last.hash)`

const unknownAccounts = `
  select format('%s entries belong to account %s, which is missing', count(*), account_id) as problem
  from ledger.entry
  where not exists (select from ledger.account where account.id = entry.account_id)
  group by account_id
  order by account_id`

const unknownKeys = `
  select format('entry %s of account %s names key %s, which is not a key of this account', position, account_id,
    coalesce(key_id, 'null')) as problem
  from ledger.entry
  where (type = 'charge' or key_id is not null)
    and not exists (
      select from ledger.api_key where api_key.id = entry.key_id and api_key.account_id = entry.account_id
    )
  order by account_id, position`

/** Compares the balances in the rows of accounts with the sum of all entries, including those of unknown accounts. */
const balances = `
  select format('all balances add up to %s credits, but all entries to %s', of_accounts, of_entries) as problem
  from (select coalesce(sum(balance), 0) as of_accounts from ledger.account) as account,
    (
      select (select coalesce(sum(credits), 0) from ledger.entry) + (select coalesce(sum(balance), 0) from ledger.chain_start)
        as of_entries
    ) as entry
  where of_accounts <> of_entries`

/** Calls cannot spend credits that an account does not have: only refunds, disputes and debits by hand make a balance negative. */
const overdrafts = `
  select format('entry %s of account %s leaves a balance of %s credits', entry.position, entry.account_id, entry.balance)
    as problem
  from ledger.entry
  left join (${reversals}) as reversal
    on reversal.account_id = entry.account_id and reversal.position <= entry.position
  where entry.balance < 0
  group by entry.account_id, entry.position, entry.balance
  having entry.balance + coalesce(sum(reversal.credits), 0) < 0
  order by entry.account_id, entry.position`

const reversedCreditsOfAccounts = `
  select format('account %s has %s credits of refunds and disputes, but its entries add up to %s', account.id,
    account.reversed_credits, coalesce(sums.reversed_credits, 0)) as problem
  from ledger.account
  left join (${reversedCredits}) as sums on sums.account_id = account.id
  where account.reversed_credits is distinct from coalesce(sums.reversed_credits, 0)`

const spending = `
  select format('key %s was charged %s credits in %s, and %s are counted for its budget', key_id,
    coalesce(charged.credits, 0), month, coalesce(spent.credits, 0)) as problem
  from (${spentByMonth}) as charged
  full join ledger.spent_in_month as spent using (key_id, month)
  where charged.credits is distinct from spent.credits`

const budgets = `
  select format('key %s was charged %s credits in a month with a highest budget of %s', key_id, -sum(credits),
    coalesce(max(budget_credits), 0)) as problem
  from ledger.entry
  where key_id is not null
  group by key_id, ${monthOfTimestamp("occurred_at")}
  having -sum(credits) > coalesce(max(budget_credits), 0)`

/** `columns` identify a row of the table. `sentence` and its values describe a difference from the sums. */
const compareUsage = (table: string, sums: string, columns: string, sentence: string, values: string) => `
  select format('${sentence}', ${values}) as problem
  from (${sums}) as sums
  full join ledger.${table} as usage using (${columns})
  where (sums.calls, sums.credits) is distinct from (usage.calls, usage.credits)`

/** Months and endpoints are compared with days, which are compared with entries, and are fewer. */
const usageChecks = [
  compareUsage(
    "usage_of_day",
    usageOfDay,
    "account_id, day, key_id, endpoint",
    "the usage of key %s on %s is not the sum of its charges",
    "key_id, day"
  ),
  compareUsage(
    "usage_of_month",
    usageOfMonth,
    "account_id, month, key_id, endpoint",
    "the usage of key %s in month %s is not the sum of its days",
    "key_id, month"
  ),
  compareUsage(
    "usage_of_endpoint",
    usageOfEndpoint,
    "account_id, day, endpoint",
    "the usage of %s by account %s on %s is not the sum of its keys",
    "endpoint, account_id, day"
  )
]

const checks = [
  headProblems,
  brokenChains,
  unknownAccounts,
  unknownKeys,
  overdrafts,
  reversedCreditsOfAccounts,
  balances,
  spending,
  budgets,
  ...usageChecks
]

const totals = makeRowQuery(
  Schema.Struct({ value: Verification.mapFields(({ problems: _, ...rest }) => rest) }),
  `
  select jsonb_build_object(
    'accounts', (select count(*) from ledger.account), 'keys', (select count(*) from ledger.api_key),
    'entries', (select count(*) from ledger.entry),
    'balance_credits', (
      select greatest(-${Number.MAX_SAFE_INTEGER}, least(${Number.MAX_SAFE_INTEGER}, coalesce(sum(balance), 0)))
      from ledger.account
    )
  ) as value`
)

export const findProblems = (sql: PgClient.PgClient, check: string, limit: number) =>
  Effect.map(sql.unsafe<{ problem: string }>(`${check} limit ${limit}`), (rows) => rows.map(({ problem }) => problem))

export const verifyContents = Effect.fnUntraced(
  function* (sql: PgClient.PgClient) {
    const { value } = yield* totals(sql)
    const problems: Array<string> = []
    for (const check of checks) problems.push(...(yield* findProblems(sql, check, maxProblems - problems.length)))
    return { ...value, problems }
  },
  Effect.mapError(databaseUnavailable("be verified"))
)

export const verifyDatabase = (sql: PgClient.PgClient) =>
  transact(
    sql,
    Effect.andThen(sql.unsafe("set transaction isolation level repeatable read read only"), verifyContents(sql))
  ).pipe(Effect.mapError(databaseUnavailable("be verified")))
