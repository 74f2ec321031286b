/**
 * Kills one of two servers that share a ledger in PostgreSQL, or the database, or both at once: with -9, repeatedly and under
 * load. A killed server is started again while the other one continues. When the database is killed, both servers return 503
 * until it is back, and recover by themselves. At the end, one server is stopped under load. The first kill hits a server,
 * the second one the database, the third one both.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Postgres, startPostgres } from "../support/postgres/server.ts"
import type { Server } from "../support/programs.ts"
import type { Callers } from "./callers.ts"
import { type History, runHistory } from "./history.ts"
import { collectTotals, historiesWith, historyTimeout } from "./kills.ts"
import { stopUnderLoad } from "./stop-under-load.ts"

/** Waits until the server reports that it is ready, or that it is not. */
const waitForStatus = async ({ console: operators }: Server, status: 200 | 503) => {
  while ((await fetch(`${operators}/readyz`)).status !== status) await sleep(20)
}

interface CalledServer {
  readonly server: Server
  readonly callers: Callers
}

/** Kills immediately after the calls in flight are counted. */
const killServer = ({ count }: History, { callers, server }: CalledServer) => {
  count("kills of a server")
  count("calls in flight at kills", callers.countInFlight())
  callers.giveUp()
  return server.stop("SIGKILL")
}

/** The database stays down until each server reports it. */
const killDatabase = async (
  { count }: History,
  postgres: Postgres,
  { outage, survivors }: { readonly survivors: ReadonlyArray<CalledServer>; readonly outage: number }
) => {
  count("kills of the database")
  await postgres.kill()
  await Promise.all(survivors.map(({ server }) => waitForStatus(server, 503)))
  await sleep(outage)
  await postgres.restart()
  await Promise.all(survivors.map(({ server }) => waitForStatus(server, 200)))
}

const kinds = ["a server", "the database", "both"] as const

/** Kills one process or both, and returns the servers that run afterwards, when all calls have ended. */
const killUnderLoad = async (
  context: History,
  {
    number,
    postgres,
    servers
  }: { readonly postgres: Postgres; readonly servers: ReadonlyArray<Server>; readonly number: number }
): Promise<ReadonlyArray<Server>> => {
  const { bookings, chance, observations } = context
  const kind = kinds[number % kinds.length]
  const called = servers.map((server) => ({ server, callers: context.call(server) }))
  bookings.begin()
  await Promise.all(called.map(({ callers }) => callers.allStarted))
  await sleep(chance.between(0, 400))

  observations.setOutage(kind !== "a server")
  const survivors = [...called]
  const targets = kind === "the database" ? [] : survivors.splice(chance.between(0, servers.length - 1), 1)
  const killed = targets.map((server) => killServer(context, server))
  // at every sixth kill, the outage is longer than a call waits for its charge
  const outage = number % 6 === 4 ? 6_000 : chance.between(0, 500)
  if (kind !== "a server") await killDatabase(context, postgres, { survivors, outage })
  await Promise.all(killed)
  const started = await Promise.all(targets.map(context.start))
  await Promise.all([bookings.end(), ...called.map(({ callers }) => callers.end())])
  observations.setOutage(false)
  return [...survivors.map(({ server }) => server), ...started]
}

/** Two of three kills hit a server, and two the database. */
export const testSharedLedgerKills = ({ kills: totalKills }: { readonly kills: number }) =>
  describe("a ledger in PostgreSQL whose two servers or database are killed with -9 under load", () => {
    const add = collectTotals("ledger in PostgreSQL")
    let postgres: Postgres
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres.remove())

    it.each(historiesWith(totalKills))(
      "has exactly one charge for each 200 that a caller received after $kills kills and a clean stop",
      async ({ first, kills }) => {
        const environment = { LARDER_LEDGER_URL: await postgres.newDatabase() }
        const numbers = await runHistory("ledger in PostgreSQL", environment, async (context) => {
          let servers: ReadonlyArray<Server> = await Promise.all([context.start(), context.start()])
          for (let number = first; number < first + kills; number++) {
            if (number > first) await context.actors.replenish()
            servers = await killUnderLoad(context, { postgres, servers, number })
            expect(await context.bookings.repeat()).toEqual([])
            await context.checks.run()
          }
          const [, second] = servers
          if (second !== undefined) await stopUnderLoad(context, second)
          await context.checks.run()
        })
        add(numbers)
      },
      historyTimeout
    )
  })
