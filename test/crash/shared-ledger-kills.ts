/**
 * Kills with -9, again and again under load, one of two servers that share a ledger in PostgreSQL, or the database, or both
 * at once. A killed server is started again while the other one goes on; of a killed database both recover by themselves,
 * and answer 503 until then. In the end one server is told to stop under load. Two blows meet a server and the database; of
 * three, one kills both at once.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Postgres, startPostgres } from "../support/postgres/server.ts"
import type { Server } from "../support/programs.ts"
import type { Callers } from "./callers.ts"
import { type History, history } from "./history.ts"
import { historiesWith, longest, totalsOf } from "./kills.ts"
import { stopUnderLoad } from "./stop-under-load.ts"

/** Waits until the server says that it is ready, or that it is not. */
const until = async ({ console: operators }: Server, status: 200 | 503) => {
  while ((await fetch(`${operators}/readyz`)).status !== status) await sleep(20)
}

interface Called {
  readonly server: Server
  readonly callers: Callers
}

/** The signal follows the last look at the callers at once. */
const killServer = ({ count }: History, { callers, server }: Called) => {
  count("kills of a server")
  count("calls in flight at them", callers.waiting())
  callers.giveUp()
  return server.stop("SIGKILL")
}

/** The database stays away long enough for each server to notice. */
const killDatabase = async (
  { count }: History,
  postgres: Postgres,
  { outage, survivors }: { readonly survivors: ReadonlyArray<Called>; readonly outage: number }
) => {
  count("kills of the database")
  await postgres.kill()
  await Promise.all(survivors.map(({ server }) => until(server, 503)))
  await sleep(outage)
  await postgres.restart()
  await Promise.all(survivors.map(({ server }) => until(server, 200)))
}

const victims = ["a server", "the database", "both"] as const

/** Kills one process, and returns the servers that run afterwards, when all calls have ended. */
const strike = async (
  its: History,
  {
    number,
    postgres,
    servers
  }: { readonly postgres: Postgres; readonly servers: ReadonlyArray<Server>; readonly number: number }
): Promise<ReadonlyArray<Server>> => {
  const { cashier, chance, diary } = its
  const victim = victims[number % victims.length]
  const called = servers.map((server) => ({ server, callers: its.call(server) }))
  cashier.begin()
  await Promise.all(called.map(({ callers }) => callers.underWay))
  await sleep(chance.between(0, 400))

  diary.outage(victim !== "a server")
  const survivors = [...called]
  const doomed = victim === "the database" ? [] : survivors.splice(chance.between(0, servers.length - 1), 1)
  const killed = doomed.map((one) => killServer(its, one))
  // every sixth blow, a longer outage than a call waits for its charge
  const outage = number % 6 === 4 ? 6_000 : chance.between(0, 500)
  if (victim !== "a server") await killDatabase(its, postgres, { survivors, outage })
  await Promise.all(killed)
  const started = await Promise.all(doomed.map(its.start))
  await Promise.all([cashier.end(), ...called.map(({ callers }) => callers.end())])
  diary.outage(false)
  return [...survivors.map(({ server }) => server), ...started]
}

/** Of three blows two kill a server, and two the database. */
export const sharedLedgerKills = (most: { readonly blows: number }) =>
  describe("a ledger in PostgreSQL that two servers share, any of which is killed with -9 under load", () => {
    const add = totalsOf("ledger in PostgreSQL")
    let postgres: Postgres
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres.remove())

    it.each(historiesWith(most.blows))(
      "has one charge for each 200 that a caller received, and no other, after $kills blows and a stop that answers all",
      async ({ first, kills }) => {
        const environment = { LARDER_LEDGER_URL: await postgres.newDatabase() }
        const numbers = await history("ledger in PostgreSQL", environment, async (its) => {
          let servers: ReadonlyArray<Server> = await Promise.all([its.start(), its.start()])
          for (let number = first; number < first + kills; number++) {
            if (number > first) await its.cast.giveMore()
            servers = await strike(its, { postgres, servers, number })
            expect(await its.cashier.again()).toEqual([])
            await its.books.check()
          }
          const [, second] = servers
          if (second !== undefined) await stopUnderLoad(its, second)
          await its.books.check()
        })
        add(numbers)
      },
      longest
    )
  })
