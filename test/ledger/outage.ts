/** Runs two servers under load through an outage of their database, and checks the ledger once they are ready again. */
import { setTimeout as sleep } from "node:timers/promises"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { expect } from "vitest"
import { type History, runHistory } from "../crash/history.ts"
import type { Server } from "../support/programs.ts"

export const ready = "200 ready, ledger writable"
export const notReady = "503 not ready, ledger not writable"

export const readReadiness = (servers: ReadonlyArray<Server>): Promise<ReadonlyArray<string>> =>
  Promise.all(
    servers.map(async ({ console: operators }) => {
      const response = await fetch(`${operators}/readyz`)
      const { ledger, status } = (await response.json()) as { readonly status: string; readonly ledger: string }
      return `${response.status} ${status}, ledger ${ledger}`
    })
  )

/** Calls continue before, during and after the outage. Some must fail with 503, and those are not charged. */
export const runThroughOutage = (
  name: string,
  url: string,
  causeOutage: (context: History, servers: ReadonlyArray<Server>) => Promise<void>
): Promise<unknown> =>
  runHistory(name, { LARDER_LEDGER_URL: url }, async (context) => {
    const { checks, call, observations, start } = context
    const servers = [await start(), await start()]
    const callers = servers.map(call)
    await Promise.all(callers.map(({ allStarted }) => allStarted))
    observations.setOutage(true)
    await causeOutage(context, servers)
    while ((await readReadiness(servers)).some((state) => state !== ready)) await sleep(20)
    const before = observations.paid.size
    while (observations.paid.size === before) await sleep(20)
    await Promise.all(callers.map(({ end }) => end()))
    await checks.run()
    expect(observations.unavailable.length).toBeGreaterThan(0)
  })

/** Runs work in a separate session of the database, with one connection. */
export const withConnection = <A, E>(url: string, use: (sql: PgClient.PgClient) => Effect.Effect<A, E>): Promise<A> =>
  PgClient.makeClient({ url: Redacted.make(url) }).pipe(
    Effect.flatMap(use),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.runPromise
  )
