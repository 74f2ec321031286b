/**
 * Changes to accounts by operators, and by servers that refund a call. Like a group of calls, a change locks its accounts
 * first, so it applies to every call that is decided later, on every server.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { chainEntries, type Draft } from "../chain/chain.ts"
import { textArray, transact } from "./sql/database.ts"
import { classifyFailure } from "./sql/failures.ts"
import { lock, write } from "./sql/group-statements.ts"

/** No command waits long for a locked account. */
const lockTimeout = "5s"
/** PostgreSQL ends one of the transactions of a deadlock, by default after a second. */
const maxDeadlocks = 5

/** Runs all of `work` or nothing, in a transaction that has locked the accounts. */
export const changeAccounts = <A, E, R>(
  sql: PgClient.PgClient,
  accounts: ReadonlyArray<string>,
  work: Effect.Effect<A, E, R>
) =>
  transact(
    sql,
    Effect.gen(function* () {
      for (const { params, query } of lock(accounts, lockTimeout)) yield* sql.unsafe(query, params)
      return yield* work
    })
  ).pipe(Effect.retry({ times: maxDeadlocks, while: (error) => classifyFailure(error) === "rolled back" }))

const selectHeads = "select id, position::float8, balance::float8, hash from ledger.account where id = any ($1::text[])"

/** Writes entries in the given order. The caller has locked their accounts. */
export const bookEntries = Effect.fnUntraced(function* (sql: PgClient.PgClient, drafts: ReadonlyArray<Draft>) {
  const ids = [...new Set(drafts.map(({ account_id }) => account_id))]
  const accounts = yield* sql.unsafe<{ id: string; position: number; balance: number; hash: string }>(selectHeads, [
    textArray(ids)
  ])
  const durable = { sequence: 0, accounts: new Map(accounts.map(({ id, ...head }) => [id, { head }])) }
  const { params, query } = write(chainEntries(durable, drafts))
  yield* sql.unsafe(query, params)
})
