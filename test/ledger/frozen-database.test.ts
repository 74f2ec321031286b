/**
 * A database that keeps its connections and does not answer on them: calls are not left waiting, and pay nothing. Thirty
 * seconds, because servers wait for it at most five.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type History, history } from "../crash/history.ts"
import { newDatabase, type Postgres, startPostgres } from "../postgres.ts"

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.remove())

/** Longer than a server waits for an answer, and then for an answer to its new name. */
const freeze = 11_000

const connected = <A, E>(url: string, use: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(
    Effect.flatMap(use),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.runPromise
  )

/** Nobody else reads or writes accounts while the lock is held, by an operator's forgotten session for example. */
const lockAccounts = (url: string, whileLocked: () => Promise<void>) =>
  connected(url, (sql) =>
    sql.withTransaction(
      Effect.andThen(sql.unsafe("lock table ledger.account in access exclusive mode"), Effect.promise(whileLocked))
    )
  )

/** The server's processes stand still, in the middle of whatever they do: nobody answers, and nobody hangs up. */
const stopDatabase = (url: string, whileStopped: () => Promise<void>) =>
  connected(postgres.url, (sql) =>
    Effect.gen(function* () {
      const [postmaster] = yield* sql.unsafe<{ pid: number }>(
        "select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::integer as pid"
      )
      const backends = "select pid from pg_stat_activity where datname = $1"
      const stopped: Array<number> = []
      const stop = (pids: ReadonlyArray<{ readonly pid: number }>) => {
        for (const { pid } of pids) {
          process.kill(pid, "SIGSTOP")
          stopped.push(pid)
        }
      }
      yield* Effect.gen(function* () {
        stop(postmaster === undefined ? [] : [postmaster]) // no more of them from here on
        stop(yield* sql.unsafe<{ pid: number }>(backends, [new URL(url).pathname.slice(1)]))
        yield* Effect.promise(whileStopped)
      }).pipe(Effect.ensuring(Effect.sync(() => stopped.map((pid) => process.kill(pid, "SIGCONT")))))
    })
  )

const calm = async ({ books, call, count, diary, start }: History, url: string, trouble: typeof lockAccounts) => {
  const servers = [await start(), await start()]
  const readiness = () =>
    Promise.all(
      servers.map(async ({ console: operators }) => {
        const response = await fetch(`${operators}/readyz`)
        const { ledger, status } = (await response.json()) as { readonly status: string; readonly ledger: string }
        return `${response.status} ${status}, ledger ${ledger}`
      })
    )
  const callers = servers.map(call)
  await Promise.all(callers.map(({ underWay }) => underWay))
  diary.outage(true)
  await trouble(url, async () => {
    await sleep(freeze)
    count("calls without an answer in the freeze", callers[0]?.waiting())
    const notReady = "503 not ready, ledger not writable"
    expect(await readiness()).toEqual([notReady, notReady])
  })
  const ready = "200 ready, ledger writable"
  while (!(await readiness()).every((answer) => answer === ready)) await sleep(20)
  await Promise.all(callers.map(({ end }) => end()))
  diary.outage(false)
  expect(diary.statuses[503]).toBeGreaterThan(0)
  await books.check()
}

describe("a database that does not answer", () => {
  it.each([
    ["because a session holds a lock", lockAccounts],
    ["because it stands still", stopDatabase]
  ])("%s lets calls end with 503, charges nothing for them, and is used again when it is back", async (_, trouble) => {
    const url = await newDatabase(postgres.url)
    await history("frozen database", { LARDER_LEDGER_URL: url }, (its) => calm(its, url, trouble))
  })
})
