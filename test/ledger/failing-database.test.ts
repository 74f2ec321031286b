/** Failures of the database under a running server: nothing is charged twice or overspent. */
import { execFileSync } from "node:child_process"
import { appendFileSync, chownSync, rmSync, statSync, writeFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import type { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { type LedgerAccess, LedgerUnavailable } from "@larder/serve/ledger"
import { Effect } from "effect"
import { freePort } from "../support/postgres/port.ts"
import { type Postgres, startPostgres } from "../support/postgres/server.ts"
import { withConnection } from "./outage.ts"
import {
  admit,
  assertNoProblems,
  catchError,
  charge,
  client,
  database,
  hold,
  type Key,
  makeKey,
  open,
  openWithClock,
  openWithLog,
  proxyTo,
  readEntries,
  waitUntil
} from "./shared-ledger.ts"

const server = Effect.acquireRelease(
  Effect.promise(() => startPostgres()),
  (postgres) => Effect.promise(postgres.remove)
)
/** After a restart of the database, until the first call succeeds. */
const waitUntilServed = (ledger: LedgerAccess, key: Key) =>
  waitUntil(async () => {
    const held = await hold(ledger, key, 1).catch(() => "lost")
    if (typeof held === "string") return false
    held.release()
    return true
  })
const readRequestIds = (ledger: LedgerAccess, key: Key) =>
  Effect.map(readEntries(ledger, key), (entries) => entries.map(({ request_id }) => request_id).slice(1))

/** The URL of a superuser in the database of the ledger. */
const superuserUrl = (superuser: string, ledger: string) => {
  const url = new URL(superuser)
  url.pathname = new URL(ledger).pathname
  return url.href
}
const readValue = (sql: PgClient.PgClient, statement: string) =>
  Effect.map(sql.unsafe<{ value: string }>(statement), ([row]) => row?.value ?? "")
const readPaths = (url: string) =>
  withConnection(url, (sql) =>
    Effect.all({
      data: readValue(sql, "select current_setting('data_directory') as value"),
      bin: readValue(sql, "select setting as value from pg_config where name = 'BINDIR'")
    })
  )
/** Keeps the owners of the files, which PostgreSQL checks. */
const copyFolder = (from: string, to: string) => {
  rmSync(to, { recursive: true, force: true })
  execFileSync("cp", ["-a", from, to])
}

describe("a primary that is frozen for seven seconds", () => {
  const frozenMs = 7_000

  it.live("charges each call that succeeds once, and refunds a refused call if it was charged", () =>
    Effect.gen(function* () {
      const postgres = yield* server
      const url = yield* Effect.promise(postgres.newDatabase)
      const ledger = yield* open(url)
      const key = yield* makeKey(ledger)
      yield* charge(ledger, key, "req_before")
      const held = yield* Effect.promise(() => admit(ledger, key, 100))
      const pids = yield* Effect.promise(() =>
        withConnection(postgres.url, (sql) =>
          Effect.map(
            sql<{ pid: number }>`select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::integer as pid
              union all select pid from pg_stat_activity where datname is not null and pid <> pg_backend_pid()`,
            (rows) => rows.map(({ pid }) => pid)
          )
        )
      )
      const charging = yield* Effect.promise(async () => {
        for (const pid of pids) process.kill(pid, "SIGSTOP")
        const charging = catchError(held.capture("req_frozen"))
        await sleep(frozenMs)
        assert.isFalse(ledger.writable())
        assert.instanceOf(await catchError(hold(ledger, key, 100)), LedgerUnavailable)
        for (const pid of pids.toReversed()) process.kill(pid, "SIGCONT")
        await waitUntil(ledger.writable)
        return charging
      })
      yield* charge(ledger, key, "req_after")
      const requests = yield* readRequestIds(ledger, key)
      const times = requests.filter((id) => id === "req_frozen").length
      if (charging === undefined) assert.strictEqual(times, 1)
      else assert.include([0, 2], times) // never charged, or refunded
      assert.deepStrictEqual([requests[0], requests.at(-1)], ["req_before", "req_after"])
      yield* assertNoProblems(ledger)
    }).pipe(Effect.scoped)
  )
})

/** Makes charges fail with the error of PostgreSQL when it cannot extend a file. */
const makeDiskFull = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  yield* sql`create function ledger.fail() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$`
  yield* sql`create trigger fail before insert on ledger.entry for each row execute function ledger.fail()`
})

describe("a disk that is full", () => {
  it.live("refuses charges, writes none of them, and makes servers not ready for one more second", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, pass } = yield* openWithClock(url)
      const key = yield* makeKey(ledger)
      yield* charge(ledger, key, "req_before")
      const sql = yield* client(url)
      yield* makeDiskFull(sql)
      for (const id of ["req_1", "req_2"]) {
        const held = yield* Effect.promise(() => admit(ledger, key, 4_900)) // a refused charge holds nothing
        assert.instanceOf(yield* Effect.promise(() => catchError(held.capture(id))), LedgerUnavailable)
        yield* Effect.promise(() => waitUntilServed(ledger, key)) // reads succeed
        assert.isFalse(ledger.writable())
        pass(1_001)
        assert.isTrue(ledger.writable())
      }
      yield* sql`drop trigger fail on ledger.entry`
      yield* charge(ledger, key, "req_after", 4_900)
      assert.deepStrictEqual(yield* readRequestIds(ledger, key), ["req_before", "req_after"])
      yield* assertNoProblems(ledger)
    }).pipe(Effect.scoped)
  )
})

describe("a group that only refuses, while the disk is full", () => {
  it.live("does not count as written, nor as a sign that the database is back", () =>
    Effect.gen(function* () {
      const url = yield* database
      const { ledger, logged } = yield* openWithLog(url)
      const [key, revoked] = yield* Effect.all([makeKey(ledger), makeKey(ledger)])
      const sql = yield* client(url)
      yield* makeDiskFull(sql)
      const [full, refused] = yield* Effect.promise(() =>
        Promise.all([admit(ledger, key, 100), admit(ledger, revoked, 100, Date.now())])
      )
      assert.instanceOf(yield* Effect.promise(() => catchError(full.capture("req_full"))), LedgerUnavailable)
      yield* ledger.administration.revokeKey({ key_id: revoked.id })
      assert.strictEqual(yield* Effect.promise(() => refused.capture("req_refused")), "unknown_key")
      assert.strictEqual(ledger.counters.groups, 0)
      assert.strictEqual(logged.length, 1)
      assert.match(String(logged[0]), /could not extend file/)
    }).pipe(Effect.scoped)
  )
})

describe("an older copy that is put in place of the database", () => {
  const replace = async (postgres: Postgres, data: string, copy: string) => {
    await postgres.stop()
    copyFolder(copy, data)
    await postgres.restart()
  }

  it.live("decides a call in flight, and all later ones, by the balances and budgets of the copy", () =>
    Effect.gen(function* () {
      const postgres = yield* server
      const { data } = yield* Effect.promise(() => readPaths(postgres.url))
      const copy = `${data}-copy`
      const url = yield* Effect.promise(postgres.newDatabase)
      const ledger = yield* open(url)
      const key = yield* makeKey(ledger, 1_000)
      yield* charge(ledger, key, "req_1")
      yield* Effect.promise(async () => {
        await postgres.stop()
        copyFolder(data, copy)
        await postgres.restart()
        await waitUntilServed(ledger, key)
      })
      yield* charge(ledger, key, "req_2")
      const held = yield* Effect.promise(() => admit(ledger, key, 800))
      yield* Effect.promise(() => replace(postgres, data, copy))
      assert.strictEqual(yield* Effect.promise(() => held.capture("req_3")), "charged") // 900 were left in the copy
      assert.deepStrictEqual(yield* readRequestIds(ledger, key), ["req_1", "req_3"])
      yield* charge(ledger, key, "req_4", 100)
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "monthly_spend_cap_reached")
      yield* assertNoProblems(ledger)
    }).pipe(Effect.scoped)
  )
})

describe("a failover to a standby that lacks the last charges", () => {
  it.live("continues from what the standby has", () =>
    Effect.gen(function* () {
      const postgres = yield* server
      const { bin, data } = yield* Effect.promise(() => readPaths(postgres.url))
      const copy = `${data}-standby`
      const url = yield* Effect.promise(postgres.newDatabase)
      const proxy = yield* proxyTo(url)
      const ledger = yield* open(proxy.url)
      const key = yield* makeKey(ledger)

      const port = yield* Effect.promise(freePort)
      const owner = statSync(data)
      const control = (...args: ReadonlyArray<string>) =>
        execFileSync(`${bin}/pg_ctl`, ["-D", copy, "-w", "-l", `${copy}/log`, ...args], {
          cwd: data,
          ...(process.getuid?.() === 0 ? { uid: owner.uid, gid: owner.gid } : {})
        })
      const startStandby = () =>
        control(
          "-o",
          `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200`,
          "start"
        )
      yield* Effect.promise(() =>
        withConnection(postgres.url, (sql) =>
          Effect.gen(function* () {
            yield* sql`select pg_backup_start('standby', true)`
            execFileSync("cp", ["-aT", data, copy])
            const label = yield* readValue(sql, "select labelfile as value from pg_backup_stop(false)")
            rmSync(`${copy}/postmaster.pid`, { force: true })
            writeFileSync(`${copy}/backup_label`, label)
            writeFileSync(`${copy}/standby.signal`, "")
            const { hostname, password, port: primary, username } = new URL(postgres.url)
            appendFileSync(
              `${copy}/postgresql.auto.conf`,
              `primary_conninfo = 'host=${hostname} port=${primary} user=${username} password=${password}'\n`
            )
            for (const name of ["backup_label", "standby.signal"]) chownSync(`${copy}/${name}`, owner.uid, owner.gid)
          })
        )
      )
      const standby = new URL(url)
      standby.port = String(port)
      yield* Effect.acquireRelease(Effect.sync(startStandby), () =>
        Effect.sync(() => {
          try {
            control("-m", "immediate", "stop")
          } catch {} // it was stopped already
        })
      )
      yield* charge(ledger, key, "req_1")
      yield* Effect.promise(() =>
        withConnection(superuserUrl(postgres.url, url), (sql) =>
          Effect.gen(function* () {
            const caughtUpQuery =
              "select bool_and(replay_lsn = pg_current_wal_lsn())::text as value from pg_stat_replication"
            while ((yield* readValue(sql, caughtUpQuery)) !== "true") yield* Effect.sleep("20 millis")
          })
        )
      )
      control("-m", "fast", "stop")
      yield* charge(ledger, key, "req_2")
      const held = yield* Effect.promise(() => admit(ledger, key, 4_000))
      yield* Effect.promise(postgres.kill)
      startStandby()
      control("promote")
      proxy.redirectTo(standby.href)
      assert.strictEqual(yield* Effect.promise(() => held.capture("req_3")), "charged") // decided by what the standby has
      assert.deepStrictEqual(yield* readRequestIds(ledger, key), ["req_1", "req_3"])
      yield* charge(ledger, key, "req_4", 900)
      assert.strictEqual(yield* Effect.promise(() => hold(ledger, key, 1)), "insufficient_balance")
      yield* assertNoProblems(ledger)
    }).pipe(Effect.scoped)
  )
})
