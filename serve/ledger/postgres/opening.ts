/**
 * The checks of a start in PostgreSQL: the head of each account, the newest part of its chain, and what keys have spent
 * this month. `larder-serve ledger verify` checks everything.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { LedgerDamaged } from "../errors.ts"
import { brokenNewestLinks } from "./chain-check.ts"
import { databaseUnavailable } from "./sql/database.ts"
import { monthOfTimestamp } from "./sql/sql-expressions.ts"
import { findProblems, headProblems } from "./verify-database.ts"

/** So that a start takes a second: the 100 newest entries of each of 1,000 accounts, or one of each of 100,000. */
const maxEntriesAtStart = 100_000
const maxPerAccount = 1_000
/** If more keys than this were used this month, their days are not checked, because that takes too long. */
const maxKeysAtStart = 10_000

const selectEntriesPerAccount = `
  select greatest(1, least(${maxPerAccount}, ${maxEntriesAtStart} / greatest(1, count(*))))::integer as "entriesPerAccount"
  from ledger.account`

/** Compares months with days, which are summed separately. The transaction that adds the entries updates both. */
const spendingOfThisMonth = `
  with this as (
    select ${monthOfTimestamp("now()")} as month,
      date_trunc('month', now() at time zone 'UTC')::date as first_day,
      (date_trunc('month', now() at time zone 'UTC') + interval '1 month')::date as next_day
  ), spent as (
    select key_id, account_id, credits
    from ledger.spent_in_month
    join ledger.api_key on api_key.id = key_id
    where month = (select month from this)
  )
  select format('key %s has spent %s credits this month, but its days add up to %s', key_id, spent.credits, days.credits)
    as problem
  from this, spent
  cross join lateral (
    select coalesce(sum(usage.credits), 0) as credits
    from ledger.usage_of_day as usage
    where usage.account_id = spent.account_id and usage.key_id = spent.key_id
      and usage.day >= first_day and usage.day < next_day
  ) as days
  where (select count(*) from spent) <= ${maxKeysAtStart} and spent.credits <> days.credits
  order by key_id`

export const verifyAtStart = Effect.fnUntraced(function* (sql: PgClient.PgClient, databaseName: string) {
  const [limit] = yield* Effect.mapError(
    sql.unsafe<{ entriesPerAccount: number }>(selectEntriesPerAccount),
    databaseUnavailable("be read")
  )
  for (const check of [headProblems, brokenNewestLinks(limit?.entriesPerAccount ?? 1), spendingOfThisMonth]) {
    const [problem] = yield* Effect.mapError(findProblems(sql, check, 1), databaseUnavailable("be read"))
    if (problem !== undefined) return yield* new LedgerDamaged({ place: databaseName, problem })
  }
})
