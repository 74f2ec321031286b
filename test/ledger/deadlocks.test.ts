/** Transactions that lock the same rows as another session, in the opposite order. PostgreSQL aborts one of the two. */
import type { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { administerPostgres } from "@larder/serve/ledger"
import { bookEntries, changeAccounts } from "@larder/serve/ledger/postgres/changes.ts"
import { Effect } from "effect"
import { inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { withConnection } from "./outage.ts"
import { admit, makeKey, open, readBalance } from "./shared-ledger.ts"

/** On a busy machine the other session may be too late: a group waits for only 0.2 seconds, and then there is no deadlock. */
const retryLateSession = { retry: 5 }

interface Row {
  readonly table: "account" | "api_key"
  readonly id: string
}

/** A database whose sessions check for deadlocks after 0.1 seconds, because a group waits only 0.2 for its second account. */
const shortDeadlockTimeout = Effect.promise(async () => {
  const superuser = inject("postgresUrl")
  const url = await newDatabase(superuser)
  const name = new URL(url).pathname.slice(1)
  await withConnection(superuser, (sql) => sql.unsafe(`alter database ${name} set deadlock_timeout = '100ms'`))
  const privileged = new URL(superuser)
  privileged.pathname = name
  return { url, privileged: privileged.href }
})

const countDeadlocks = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ deadlocks: number }>`select deadlocks::integer from pg_stat_database where datname = current_database()`,
    ([row]) => row?.deadlocks ?? 0
  )

/**
 * Another session locks the first row, waits until the work waits for it, and locks the second row, which the work has
 * locked. Returns the result of the work. Fails if no deadlock occurred.
 */
const runIntoDeadlock = <A>(privileged: string, rows: readonly [Row, Row], work: () => Promise<A>): Promise<A> =>
  withConnection(privileged, (sql) =>
    Effect.gen(function* () {
      const lock = ({ id, table }: Row) => sql.unsafe(`select from ledger.${table} where id = $1 for update`, [id])
      const waiting = sql`select from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`
      const before = yield* countDeadlocks(sql)
      const { result } = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`set local deadlock_timeout = '1min'` // so that PostgreSQL aborts the transaction of the ledger
          yield* lock(rows[0])
          const result = work()
          result.catch(() => {}) // it is awaited below
          while ((yield* waiting).length === 0) yield* Effect.sleep("5 millis")
          yield* lock(rows[1])
          return { result }
        })
      )
      const outcome = yield* Effect.promise(() => result)
      // a session publishes its counts when it ends, and once a second while it works
      while ((yield* countDeadlocks(sql)) === before) yield* Effect.sleep("20 millis")
      return outcome
    }).pipe(Effect.timeout("5 seconds"))
  )

const makeTwoAccounts = Effect.fnUntraced(function* (url: string) {
  const ledger = yield* open(url)
  const [a, b] = [yield* makeKey(ledger), yield* makeKey(ledger)].toSorted((a, b) =>
    a.account_id < b.account_id ? -1 : 1
  )
  if (a === undefined || b === undefined) throw new Error("two keys were made")
  const last: Row = { table: "account", id: b.account_id }
  const first: Row = { table: "account", id: a.account_id }
  return { ledger, keys: [a, b], rows: [last, first] as const }
})

describe("a deadlock with another session", () => {
  it.live(
    "retries a group of two accounts: its calls are charged once",
    () =>
      Effect.gen(function* () {
        const { privileged, url } = yield* shortDeadlockTimeout
        const { keys, ledger, rows } = yield* makeTwoAccounts(url)
        const holds = yield* Effect.promise(() => Promise.all(keys.map((key) => admit(ledger, key, 100))))
        yield* Effect.promise(() =>
          runIntoDeadlock(privileged, rows, () => Promise.all(holds.map((held, call) => held.capture(`req_${call}`))))
        )
        for (const key of keys) assert.strictEqual(yield* readBalance(ledger, key), 4_900)
        assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      }).pipe(Effect.scoped),
    retryLateSession
  )

  it.live(
    "retries a booking on two accounts, and books it once",
    () =>
      Effect.gen(function* () {
        const { privileged, url } = yield* shortDeadlockTimeout
        const { keys, ledger, rows } = yield* makeTwoAccounts(url)
        const drafts = keys.map(({ account_id }) => ({
          account_id,
          type: "adjustment" as const,
          occurred_at: "2026-10-31T00:00:00.000Z",
          key_id: null,
          endpoint: null,
          credits: 100,
          budget_credits: null,
          request_id: null,
          note: "more"
        }))
        yield* Effect.promise(() =>
          runIntoDeadlock(privileged, rows, () =>
            withConnection(url, (sql) =>
              changeAccounts(
                sql,
                keys.map(({ account_id }) => account_id),
                bookEntries(sql, drafts)
              )
            )
          )
        )
        for (const key of keys) assert.strictEqual(yield* readBalance(ledger, key), 5_100)
        assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      }).pipe(Effect.scoped),
    retryLateSession
  )

  it.live(
    "retries an operator's edit of a key, even if the deadlock occurs in the middle",
    () =>
      Effect.gen(function* () {
        const { privileged, url } = yield* shortDeadlockTimeout
        const ledger = yield* open(url)
        const { account_id, id: key_id } = yield* makeKey(ledger)
        const rows = [
          { table: "api_key", id: key_id },
          { table: "account", id: account_id }
        ] as const
        const edited = yield* Effect.promise(() =>
          runIntoDeadlock(privileged, rows, () =>
            withConnection(url, (sql) => administerPostgres(sql).editKey({ key_id, budget_credits: 7_000 }))
          )
        )
        assert.strictEqual(edited.budget_usd, 7)
        const [listed] = yield* ledger.administration.listKeys({ account_id })
        assert.strictEqual(listed?.budget_usd, 7)
      }).pipe(Effect.scoped),
    retryLateSession
  )
})
