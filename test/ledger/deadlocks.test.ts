/** Transactions that lock the same rows as another session, in the opposite order. PostgreSQL ends one of both. */
import type { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { administerPostgres, bookWhileFree, plainEntry } from "@larder/serve/ledger"
import { Effect } from "effect"
import { inject } from "vitest"
import { newDatabase } from "../support/postgres/new-database.ts"
import { connected } from "./outage.ts"
import { admitted, balanceOf, keyOf, open } from "./shared-ledger.ts"

/** On a busy machine the other session may come too late: a group waits for 0.2 seconds, and there is no deadlock then. */
const again = { retry: 5 }

interface Row {
  readonly table: "account" | "api_key"
  readonly id: string
}

/** A database whose sessions look for a deadlock after 0.1 seconds: a group waits for its second account for 0.2. */
const impatientDatabase = Effect.promise(async () => {
  const superuser = inject("postgresUrl")
  const url = await newDatabase(superuser)
  const name = new URL(url).pathname.slice(1)
  await connected(superuser, (sql) => sql.unsafe(`alter database ${name} set deadlock_timeout = '100ms'`))
  const privileged = new URL(superuser)
  privileged.pathname = name
  return { url, privileged: privileged.href }
})

const deadlocksIn = (sql: PgClient.PgClient) =>
  Effect.map(
    sql<{ deadlocks: number }>`select deadlocks::integer from pg_stat_database where datname = current_database()`,
    ([row]) => row?.deadlocks ?? 0
  )

/**
 * Another session locks `first`, waits until the work waits for it, and locks `second`, which the work has locked. Answers what
 * comes of the work, and fails where no deadlock happened.
 */
const againstTheOrder = <A>(privileged: string, rows: readonly [Row, Row], work: () => Promise<A>): Promise<A> =>
  connected(privileged, (sql) =>
    Effect.gen(function* () {
      const lock = ({ id, table }: Row) => sql.unsafe(`select from ledger.${table} where id = $1 for update`, [id])
      const waiting = sql`select from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`
      const before = yield* deadlocksIn(sql)
      const { underWay } = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`set local deadlock_timeout = '1min'` // so that it is the ledger that gives in
          yield* lock(rows[0])
          const underWay = work()
          underWay.catch(() => {}) // it is awaited below
          while ((yield* waiting).length === 0) yield* Effect.sleep("5 millis")
          yield* lock(rows[1])
          return { underWay }
        })
      )
      const done = yield* Effect.promise(() => underWay)
      // a session publishes its counts when it ends, and else once a second while it works
      while ((yield* deadlocksIn(sql)) === before) yield* Effect.sleep("20 millis")
      return done
    }).pipe(Effect.timeout("5 seconds"))
  )

const twoAccounts = Effect.fnUntraced(function* (url: string) {
  const ledger = yield* open(url)
  const [a, b] = [yield* keyOf(ledger), yield* keyOf(ledger)].toSorted((a, b) => (a.account_id < b.account_id ? -1 : 1))
  if (a === undefined || b === undefined) throw new Error("two keys were made")
  const last: Row = { table: "account", id: b.account_id }
  const first: Row = { table: "account", id: a.account_id }
  return { ledger, keys: [a, b], rows: [last, first] as const }
})

describe("a deadlock with another session", () => {
  it.live(
    "retries a group of two accounts: its calls are held and charged once",
    () =>
      Effect.gen(function* () {
        const { privileged, url } = yield* impatientDatabase
        const { keys, ledger, rows } = yield* twoAccounts(url)
        const holds = yield* Effect.promise(() =>
          againstTheOrder(privileged, rows, () => Promise.all(keys.map((key) => admitted(ledger, key, 100))))
        )
        yield* Effect.promise(() =>
          againstTheOrder(privileged, rows, () => Promise.all(holds.map((held, call) => held.commit(`req_${call}`))))
        )
        for (const key of keys) assert.strictEqual(yield* balanceOf(ledger, key), 4_900)
        assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      }).pipe(Effect.scoped),
    again
  )

  it.live(
    "retries a booking on two accounts, and books it once",
    () =>
      Effect.gen(function* () {
        const { privileged, url } = yield* impatientDatabase
        const { keys, ledger, rows } = yield* twoAccounts(url)
        const drafts = keys.map(({ account_id }) => ({
          account_id,
          type: "adjustment" as const,
          occurred_at: "2026-10-31T00:00:00.000Z",
          key_id: null,
          endpoint: null,
          credits: 100,
          budget_credits: null,
          request_id: null,
          note: "more",
          ...plainEntry
        }))
        yield* Effect.promise(() =>
          againstTheOrder(privileged, rows, () => connected(url, (sql) => bookWhileFree(sql, drafts)))
        )
        for (const key of keys) assert.strictEqual(yield* balanceOf(ledger, key), 5_100)
        assert.deepStrictEqual((yield* ledger.administration.verify({})).problems, [])
      }).pipe(Effect.scoped),
    again
  )

  it.live(
    "retries an operator's edit of a key, also when it strikes in the middle",
    () =>
      Effect.gen(function* () {
        const { privileged, url } = yield* impatientDatabase
        const ledger = yield* open(url)
        const { account_id, id: key_id } = yield* keyOf(ledger)
        const rows = [
          { table: "api_key", id: key_id },
          { table: "account", id: account_id }
        ] as const
        const edited = yield* Effect.promise(() =>
          againstTheOrder(privileged, rows, () =>
            connected(url, (sql) => administerPostgres(sql).editKey({ key_id, budget_credits: 7_000 }))
          )
        )
        assert.strictEqual(edited.budget_usd, 7)
        const [listed] = yield* ledger.administration.listKeys({ account_id })
        assert.strictEqual(listed?.budget_usd, 7)
      }).pipe(Effect.scoped),
    again
  )
})
