/**
 * Two servers that share a ledger in PostgreSQL: one of them is killed, or the database, or both at once. When the database
 * is killed, servers return 503 until it is back. The first kill hits a server, the second one the database, the third one
 * both; so of three kills, two hit a server and two the database.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { type Postgres, startPostgres } from "../support/postgres/server.ts"
import type { Server } from "../support/programs.ts"
import { type KilledServers, killedServers } from "./killed-servers.ts"
import { killing } from "./killing.ts"

/** Waits until the server reports that it is ready, or that it is not. */
const waitForStatus = async ({ console: operators }: Server, status: 200 | 503) => {
  while ((await fetch(`${operators}/readyz`)).status !== status) await sleep(20)
}

const shared = (): KilledServers => {
  let postgres: Postgres
  return {
    name: "a ledger in PostgreSQL whose two servers or database are killed",
    servers: 2,
    begin: async () => {
      postgres = await startPostgres()
    },
    end: () => postgres.remove(),
    newLedger: async () => ({ LARDER_LEDGER_URL: await postgres.newDatabase() }),
    kills: (number) => ({ server: number % 3 !== 1, database: number % 3 !== 0 }),
    wait: ({ chance }) => sleep(chance.between(0, 400)),
    /** The database stays down until each server reports it. */
    killDatabase: async ({ chance }, number, survivors) => {
      await postgres.kill()
      await Promise.all(survivors.map((server) => waitForStatus(server, 503)))
      // at every sixth kill, the outage is longer than a call waits for its charge
      await sleep(number % 6 === 4 ? 6_000 : chance.between(0, 500))
      await postgres.restart()
      await Promise.all(survivors.map((server) => waitForStatus(server, 200)))
    }
  }
}

export const testSharedLedgerKills = (options: { readonly kills: number }): void =>
  killing(killedServers(shared()), options)
