/** Whether what is in the database adds up: every entry follows the one before it, and every sum is the sum of entries. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { Verification } from "../administration.ts"
import { LedgerDamaged } from "../errors.ts"
import { unavailable } from "./database.ts"

const mostProblems = 100

/** Each answers sentences that say what is wrong, and where; none where all is well. */
const checks: ReadonlyArray<string> = [
  // the last entry of an account is where its head stands
  `select format('account %s has %s credits after %s entries, and its last entry is number %s and says %s', account.id,
    account.balance, account.position, coalesce(newest.position, 0), coalesce(newest.balance, 0)) as problem
  from ledger.account
  left join lateral (
    select position, balance, hash from ledger.entry where account_id = account.id order by position desc limit 1
  ) as newest on true
  where (account.position, account.balance, account.hash)
    is distinct from (coalesce(newest.position, 0), coalesce(newest.balance, 0), coalesce(newest.hash, ''))`,
  `select case
      when position <> position_before + 1 then
        format('entry %s of account %s follows its entry %s, so entries are missing', position, account_id, position_before)
      when balance <> balance_before + credits then
        format('entry %s of account %s says that the balance is %s credits, and the entries before it say %s', position,
          account_id, balance, balance_before + credits)
      else format('entry %s of account %s is not what was written: its hash is another one', position, account_id)
    end as problem
  from (
    select *, lag(position, 1, 0::bigint) over account as position_before, lag(balance, 1, 0::bigint) over account as balance_before,
      lag(hash, 1, '') over account as hash_before
    from ledger.entry
    window account as (partition by account_id order by position)
  ) as entry
  where position <> position_before + 1
    or balance <> balance_before + credits
    or hash <> ledger.chain_link(null, hash_before, ledger.fields_of(account_id, position, type,
      ledger.moment_of(occurred_at), key_id, endpoint, credits, balance, budget_credits, request_id, note))
  order by account_id, position`,
  `select format('key %s was charged %s credits in %s, and %s are counted for its budget', key_id, charged.credits,
    charged.month, coalesce(spent.credits, 0)) as problem
  from (
    select key_id, ledger.month_of(ledger.moment_of(occurred_at)) as month, -sum(credits) as credits
    from ledger.entry where type = 'charge' group by 1, 2
  ) as charged
  full join ledger.spent_in_month as spent using (key_id, month)
  where charged.credits is distinct from spent.credits`,
  `select format('key %s was charged %s credits in a month whose highest budget was %s', key_id, -sum(credits),
    max(budget_credits)) as problem
  from ledger.entry where type = 'charge'
  group by key_id, ledger.month_of(ledger.moment_of(occurred_at))
  having -sum(credits) > max(budget_credits)`,
  `select format('the usage of key %s on %s is not the sum of its charges', key_id, day) as problem
  from (
    select account_id, (occurred_at at time zone 'UTC')::date as day, key_id, endpoint, count(*) as calls,
      -sum(credits) as credits
    from ledger.entry where type = 'charge' group by 1, 2, 3, 4
  ) as charged
  full join ledger.usage_of_day as usage using (account_id, day, key_id, endpoint)
  where (charged.calls, charged.credits) is distinct from (usage.calls, usage.credits)`
]

const totals = `
  select jsonb_build_object(
    'accounts', (select count(*) from ledger.account), 'keys', (select count(*) from ledger.api_key),
    'entries', (select count(*) from ledger.entry),
    'balance_credits', (select coalesce(sum(balance), 0) from ledger.account)
  ) as value`

const Totals = Schema.Tuple([Schema.Struct({ value: Verification.mapFields(({ problems: _, ...rest }) => rest) })])

/** Reads the whole ledger, in the transaction that the caller has begun. */
export const verifyContents = Effect.fnUntraced(
  function* (sql: PgClient.PgClient) {
    const [{ value }] = yield* Schema.decodeUnknownEffect(Totals)(yield* sql.unsafe(totals))
    const problems: Array<string> = []
    for (const check of checks) {
      const found = yield* sql.unsafe<{ problem: string }>(`${check} limit ${mostProblems - problems.length}`)
      for (const { problem } of found) problems.push(problem)
    }
    return { ...value, problems }
  },
  Effect.mapError(unavailable("be verified"))
)

/** Reads the whole ledger as it is at one moment, while calls go on. */
export const verify = (sql: PgClient.PgClient) =>
  sql
    .withTransaction(
      Effect.andThen(sql.unsafe("set transaction isolation level repeatable read read only"), verifyContents(sql))
    )
    .pipe(Effect.mapError(unavailable("be verified")))

/**
 * What a start looks at: the head of every account against its last entry. The database keeps the rest true while it is
 * written, and reading all entries is `larder-serve ledger verify`.
 */
export const verifyHeads = Effect.fnUntraced(function* (sql: PgClient.PgClient, place: string) {
  const heads = checks[0] ?? ""
  const [broken] = yield* sql
    .unsafe<{ problem: string }>(`${heads} limit 1`)
    .pipe(Effect.mapError(unavailable("be read")))
  if (broken !== undefined) return yield* new LedgerDamaged({ place, problem: broken.problem })
})
