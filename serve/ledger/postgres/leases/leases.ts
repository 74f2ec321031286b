/**
 * Changes to accounts by operators, and by servers that refund a call, while no server has a lease or a slice of them.
 * Leases and slices are requested first: their server returns them with its holds, or is dropped after five seconds of
 * silence. So a change applies to the next call of every server.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { chainEntries, type Draft } from "../../chain/chain.ts"
import { LedgerUnavailable } from "../../errors.ts"
import { textArray, transact, wasRolledBack } from "../sql/database.ts"
import { channel, dropSilentServers, requireFlush } from "../sql/statement-sql.ts"
import { bindRows, listAccountsAfter, writeRows } from "../sql/write-group.ts"

/** A dead server keeps its leases for five seconds, and other changes may come first. */
const maxWait = 15_000
const pollInterval = "3 millis"
const dropInterval = 500
/** PostgreSQL ends one of the transactions of a deadlock, by default after a second. */
const maxDeadlocks = 5

/**
 * A command that loses its connection must not keep an account locked, and no command waits long for a locked one. A
 * change is flushed before its caller gets the result, even if the role commits asynchronously.
 */
const setLimits = `select set_config('idle_in_transaction_session_timeout', '2s', true),
  set_config('lock_timeout', '5s', true), ${requireFlush}`

/** Serializes concurrent changes of the same account, so that each reads what was written before. */
const lockAccounts = "select from ledger.account where id = any ($1::text[]) order by id for no key update"

const requestLeases = `
  with leased as (
    select account.id, server.id as server_id
    from ledger.account
    join ledger.server on server.id = account.leased_by
    where account.id = any ($1::text[])
    union all
    select account_id, server_id from ledger.slice where account_id = any ($1::text[])
  ), accounts as (
    update ledger.account
    set lease_asked = leased_by is not null, shared_at = clock_timestamp(), recalled_at = clock_timestamp()
    where id in (select id from leased)
  ), slices as (
    update ledger.slice set is_asked = true where account_id in (select id from leased)
  )
  select pg_notify('${channel}', 'asked ' || server_id || ' ' || id) from leased`

const selectLeased = `
  select from ledger.account join ledger.server on server.id = account.leased_by where account.id = any ($1::text[])
  union all
  select from ledger.slice where account_id = any ($1::text[])`

const waitUntilFree = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  accounts: ReadonlyArray<string>,
  deadline: number
) {
  let droppedAt = performance.now()
  while (performance.now() < deadline && (yield* sql.unsafe(selectLeased, [textArray(accounts)])).length > 0) {
    yield* Effect.sleep(pollInterval)
    if (performance.now() - droppedAt < dropInterval) continue
    droppedAt = performance.now()
    yield* sql.unsafe(dropSilentServers)
  }
})

/** Runs all of `work` or nothing, in a transaction that has locked the accounts while no server has their lease. */
export const runWhileFree = Effect.fnUntraced(function* <A, E, R>(
  sql: PgClient.PgClient,
  accounts: ReadonlyArray<string>,
  work: Effect.Effect<A, E, R>
) {
  const deadline = performance.now() + maxWait
  for (;;) {
    const outcome = yield* transact(
      sql,
      Effect.gen(function* () {
        yield* sql.unsafe(setLimits)
        yield* sql.unsafe(lockAccounts, [textArray(accounts)])
        const leased = yield* sql.unsafe(requestLeases, [textArray(accounts)])
        return leased.length > 0 ? undefined : { result: yield* work }
      })
    ).pipe(Effect.retry({ times: maxDeadlocks, while: wasRolledBack }))
    if (outcome !== undefined) return outcome.result
    if (performance.now() > deadline) {
      return yield* new LedgerUnavailable({ action: "be written", cause: "a server has not returned a lease or slice" })
    }
    yield* waitUntilFree(sql, accounts, deadline)
  }
})

const selectHeads = "select id, position::float8, balance::float8, hash from ledger.account where id = any ($1::text[])"
const writeEntries = `with ${writeRows("true", 1)} select count(*) from moved`

/** Writes entries in the given order. The caller has locked their accounts. */
export const bookEntries = Effect.fnUntraced(function* (sql: PgClient.PgClient, drafts: ReadonlyArray<Draft>) {
  const ids = [...new Set(drafts.map(({ account_id }) => account_id))]
  const accounts = yield* sql.unsafe<{ id: string; position: number; balance: number; hash: string }>(selectHeads, [
    textArray(ids)
  ])
  const durable = { sequence: 0, accounts: new Map(accounts.map(({ id, ...head }) => [id, { head }])) }
  const entries = chainEntries(durable, drafts)
  yield* sql.unsafe(writeEntries, ["", ...bindRows(entries, [...listAccountsAfter(entries).values()], [])])
})

export const bookWhileFree = (sql: PgClient.PgClient, drafts: ReadonlyArray<Draft>) =>
  runWhileFree(sql, [...new Set(drafts.map(({ account_id }) => account_id))], bookEntries(sql, drafts))
