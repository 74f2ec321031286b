/**
 * Kills servers or their database with -9 under load, repeatedly and with the same ledger. A killed server is started again;
 * those that were not killed continue, and recover by themselves. At the end, one server is stopped under load. After each
 * kill the ledger is compared with what the callers have seen.
 */
import { expect } from "vitest"
import type { Environment, Server } from "../support/programs.ts"
import type { Callers } from "./callers.ts"
import { type History, runHistory } from "./history.ts"
import type { Killed } from "./killing.ts"
import { stopUnderLoad } from "./stop-under-load.ts"

/** A ledger with its servers. `number` counts the kills, from 0. */
export interface KilledServers extends Pick<Killed, "name" | "begin" | "end"> {
  readonly servers: number
  /** Where the servers of a new history find their ledger. */
  readonly newLedger: () => Promise<Environment>
  readonly kills: (number: number) => { readonly server: boolean; readonly database: boolean }
  /** Waits under load until it is time to kill. */
  readonly wait: (history: History, number: number) => Promise<void>
  /** Kills the database and starts it again, while these servers run. */
  readonly killDatabase?: (history: History, number: number, survivors: ReadonlyArray<Server>) => Promise<void>
  /** Runs before killed servers are started again. */
  readonly whileDown?: (history: History, number: number) => Promise<void>
}

export const killsPerHistory = 20

interface CalledServer {
  readonly server: Server
  readonly callers: Callers
}

/** Kills immediately after the calls in flight are counted. */
const killServer = async ({ count }: History, { callers, server }: CalledServer) => {
  count("kills of a server")
  count("calls in flight at kills", callers.countInFlight())
  callers.giveUp()
  await server.stop("SIGKILL")
  await callers.end()
}

/** Returns the servers that run afterwards, when all calls have ended. */
const killUnderLoad = async (
  subject: KilledServers,
  history: History,
  servers: ReadonlyArray<Server>,
  number: number
): Promise<ReadonlyArray<Server>> => {
  const { bookings, chance, count, observations } = history
  const kills = subject.kills(number)
  const called = servers.map((server) => ({ server, callers: history.call(server) }))
  bookings.begin()
  await Promise.all(called.map(({ callers }) => callers.allStarted))
  await subject.wait(history, number)

  observations.setOutage(kills.database)
  const survivors = [...called]
  const targets = kills.server ? survivors.splice(chance.between(0, servers.length - 1), 1) : []
  const killed = targets.map((target) => killServer(history, target))
  const running = survivors.map(({ server }) => server)
  if (kills.database) {
    count("kills of the database")
    await subject.killDatabase?.(history, number, running)
  }
  await Promise.all(killed)
  await subject.whileDown?.(history, number)
  const started = await Promise.all(targets.map(history.start))
  await Promise.all([bookings.end(), ...survivors.map(({ callers }) => callers.end())])
  observations.setOutage(false)
  return [...running, ...started]
}

export const killedServers = (subject: KilledServers): Killed => ({
  ...subject,
  outcome: "has exactly one charge for each 200 that a caller received, and stops cleanly under load",
  killsPerHistory,
  runHistory: async ({ first, kills }) =>
    runHistory(subject.name, await subject.newLedger(), async (history) => {
      let servers: ReadonlyArray<Server> = await Promise.all(Array.from({ length: subject.servers }, history.start))
      for (let number = first; number < first + kills; number++) {
        if (number > first) await history.actors.replenish()
        servers = await killUnderLoad(subject, history, servers, number)
        expect(await history.bookings.repeat()).toEqual([])
        await history.checks.run()
      }
      const last = servers.at(-1)
      if (last !== undefined) await stopUnderLoad(history, last)
      await history.checks.run() // without a server over its folder, by commands that open the ledger themselves
    })
})
