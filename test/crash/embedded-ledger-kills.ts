/**
 * The server of an embedded ledger, which is killed during calls and at the start, and whose write-ahead log a power
 * failure has torn. Two kills cover all of this except a long log, which the long run covers.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import { start, waitForExit } from "../support/programs.ts"
import type { History } from "./history.ts"
import { type KilledServers, killedServers, killsPerHistory } from "./killed-servers.ts"
import { killing } from "./killing.ts"
import { headerLength, logPath, tearLog, tears } from "./torn-log.ts"

/** Bytes. From this length on, a thread copies pages into the file while they change, or a commit has just reset the log. */
const longLog = 1_000_000

const readHeader = (log: string) => {
  const header = Buffer.alloc(headerLength)
  const fd = openSync(log, "r")
  readSync(fd, header)
  closeSync(fd)
  return header
}

const waitForLongLog = async ({ chance, setup }: History) => {
  const log = logPath(path.join(setup.home, "ledger"))
  const first = readHeader(log)
  while (statSync(log).size < longLog && readHeader(log).equals(first)) await sleep(1)
  await sleep(chance.between(0, 100))
}

/** Milliseconds. A little longer than a start takes. */
const maxStartTime = 1_500

/** Kills a server that opens the ledger, or has just opened it. */
const killDuringStart = async ({ chance, count, setup: { home } }: History) => {
  count("kills while starting")
  const freePorts = { LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }
  const child = start("larder-serve", ["start"], { LARDER_HOME: home, ...freePorts })
  const end = waitForExit(child)
  await sleep(chance.between(0, maxStartTime))
  child.kill("SIGKILL")
  expect((await end).signal).toBe("SIGKILL")
}

/** SQLite silently drops a transaction that was not written completely. */
const tearLastWrite = ({ bookings, chance, count, observations, setup }: History) => {
  const isConfirmed = (id: string) => observations.paid.has(id) || bookings.isConfirmed(id)
  count(`logs with a part of ${tearLog(setup.home, chance.oneOf(tears), isConfirmed, chance)}`)
}

const embedded: KilledServers = {
  name: "an embedded ledger whose server is killed",
  servers: 1,
  newLedger: async () => ({}),
  kills: () => ({ server: true, database: false }),
  wait: async (history, number) => {
    if (number % killsPerHistory === killsPerHistory - 1) await waitForLongLog(history)
    else await sleep(history.chance.between(0, 400))
  },
  whileDown: async (history, number) => {
    await history.bookings.end()
    if (number % 3 === 0) tearLastWrite(history)
    if (number % 3 === 1) await killDuringStart(history)
  }
}

export const testEmbeddedLedgerKills = (options: { readonly kills: number }): void =>
  killing(killedServers(embedded), options)
