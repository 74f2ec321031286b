/** Removes expired credits from the balances in the database, account by account: a locked account delays no other. */
import type { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Schedule, Schema } from "effect"
import { expireGrants } from "../../rules/decisions.ts"
import { timestampOf } from "../../utc-calendar.ts"
import { databaseUnavailable, makeQuery } from "../sql/database.ts"
import { bookEntries, runWhileFree } from "./leases.ts"

const roundInterval = "5 seconds"
const maxConcurrency = 2 // operators need connections, too

const isDue = "credits_left > 0 and expires_at <= $1::text::timestamptz"
const due = `select distinct account_id as id from ledger.expiring_grant where ${isDue} order by account_id`
const isAccountDue = `select 1 as due from ledger.expiring_grant where ${isDue} and account_id = $2 limit 1`

const ExpiredGrant = Schema.Struct({ position: Schema.Int, endsAt: Schema.Int, left: Schema.Int, held: Schema.Int })
/** The expired credits of an account, and the part of them that calls of all servers hold. */
const selectExpired = makeQuery(
  Schema.Struct({ value: ExpiredGrant }),
  `
  select jsonb_build_object('position', position, 'left', credits_left, 'endsAt',
    (extract(epoch from expires_at) * 1000)::bigint, 'held', (
      select coalesce(sum(holding.credits), 0)
      from ledger.holding
      where holding.account_id = expiring_grant.account_id and grant_position = position
    )) as value
  from ledger.expiring_grant
  where ${isDue} and account_id = $2
  order by expires_at, position`
)

const removeExpired = Effect.fnUntraced(
  function* (sql: PgClient.PgClient, id: string, now: number) {
    const expire = Effect.gen(function* () {
      const grants = yield* selectExpired(sql, [timestampOf(now), id])
      const entries = expireGrants(
        id,
        grants.map(({ value }) => value),
        now
      )
      if (entries.length > 0) yield* bookEntries(sql, entries)
    })
    yield* runWhileFree(sql, [id], expire)
  },
  Effect.mapError(databaseUnavailable("be written"))
)

export const expireAccountCredits = Effect.fn("PostgresLedger.expireCreditsOf")(function* (
  sql: PgClient.PgClient,
  id: string
) {
  const now = yield* Clock.currentTimeMillis
  const found = yield* Effect.mapError(sql.unsafe(isAccountDue, [timestampOf(now), id]), databaseUnavailable("be read"))
  if (found.length > 0) yield* removeExpired(sql, id, now)
})

/** For all accounts. Returns the accounts with credits that could not be removed; these stay unchanged. */
export const expireCredits = Effect.fn("PostgresLedger.expireCredits")(function* (sql: PgClient.PgClient) {
  const now = yield* Clock.currentTimeMillis
  const accounts = yield* Effect.mapError(
    sql.unsafe<{ id: string }>(due, [timestampOf(now)]),
    databaseUnavailable("be read")
  )
  const failures = yield* Effect.forEach(
    accounts,
    ({ id }) =>
      removeExpired(sql, id, now).pipe(
        Effect.as(undefined),
        Effect.catch((error) => Effect.succeed({ id, error }))
      ),
    { concurrency: maxConcurrency }
  )
  return failures.filter((failure) => failure !== undefined)
})

/** Runs until it is interrupted. Each late account is logged once. */
export const runExpiry = (sql: PgClient.PgClient) => {
  const lateAccounts = new Set<string>()
  const round = Effect.gen(function* () {
    const failures = yield* expireCredits(sql)
    const ids = new Set(failures.map(({ id }) => id))
    for (const id of lateAccounts) if (!ids.has(id)) lateAccounts.delete(id)
    for (const { error, id } of failures) {
      if (lateAccounts.has(id)) continue
      lateAccounts.add(id)
      yield* Effect.logWarning(
        `Credits of account ${id} have expired, but are still in its balance: ${error.message}. No call can spend them, and they are removed as soon as possible.`
      )
    }
  })
  // while the database is unavailable, the charges already log that
  return Effect.repeat(Effect.ignore(round), Schedule.spaced(roundInterval))
}
