/** Two servers under load, something that happens to the database they share, and what it comes to when all is well again. */
import { setTimeout as sleep } from "node:timers/promises"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { expect } from "vitest"
import { type History, history } from "../crash/history.ts"
import type { Server } from "../support/programs.ts"

export const ready = "200 ready, ledger writable"
export const notReady = "503 not ready, ledger not writable"

export const readiness = (servers: ReadonlyArray<Server>): Promise<ReadonlyArray<string>> =>
  Promise.all(
    servers.map(async ({ console: operators }) => {
      const response = await fetch(`${operators}/readyz`)
      const { ledger, status } = (await response.json()) as { readonly status: string; readonly ledger: string }
      return `${response.status} ${status}, ledger ${ledger}`
    })
  )

/** Calls go on before, while and after it happens; some must be answered with 503, and nobody is charged for those. */
export const through = (
  name: string,
  url: string,
  happen: (its: History, servers: ReadonlyArray<Server>) => Promise<void>
): Promise<unknown> =>
  history(name, { LARDER_LEDGER_URL: url }, async (its) => {
    const { books, call, diary, start } = its
    const servers = [await start(), await start()]
    const callers = servers.map(call)
    await Promise.all(callers.map(({ underWay }) => underWay))
    diary.outage(true)
    await happen(its, servers)
    while ((await readiness(servers)).some((answer) => answer !== ready)) await sleep(20)
    const before = diary.paid.size
    while (diary.paid.size === before) await sleep(20)
    await Promise.all(callers.map(({ end }) => end()))
    await books.check()
    expect(diary.unavailable.length).toBeGreaterThan(0)
  })

/** A session of one's own in the database, with one connection. */
export const connected = <A, E>(url: string, use: (sql: PgClient.PgClient) => Effect.Effect<A, E>): Promise<A> =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(
    Effect.flatMap(use),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.runPromise
  )
