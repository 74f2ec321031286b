/**
 * Kills real servers with -9 under load, repeatedly and with the same embedded ledger: during calls, at the start, and with a
 * write-ahead log that a power failure has torn. At the end, one is stopped under load. Each 200 that a caller has received
 * is charged once. Two kills cover all of this except a long log, which the long run covers.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { type Server, start, waitForExit } from "../support/programs.ts"
import type { Setup } from "./actors.ts"
import type { Chance } from "./chance.ts"
import { type History, runHistory } from "./history.ts"
import { collectTotals, historiesWith, historyTimeout, maxKills } from "./kills.ts"
import { stopUnderLoad } from "./stop-under-load.ts"
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

const killDuringCalls = async (context: History, server: Server, number: number) => {
  const { call, bookings, chance, count } = context
  const callers = call(server)
  bookings.begin()
  await callers.allStarted
  if (number % maxKills === maxKills - 1) await waitForLongLog(context)
  else await sleep(chance.between(0, 400))
  count("kills under load")
  count("calls in flight at kills", callers.countInFlight())
  callers.giveUp()
  await server.stop("SIGKILL")
  await Promise.all([callers.end(), bookings.end()])
}

/** Milliseconds. A little longer than a start takes. */
const maxStartTime = 1_500

/** Kills a server that opens the ledger, or has just opened it. */
const killDuringStart = async ({ home }: Setup, { between }: Chance) => {
  const freePorts = { LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }
  const child = start("larder-serve", ["start"], { LARDER_HOME: home, ...freePorts })
  const end = waitForExit(child)
  await sleep(between(0, maxStartTime))
  child.kill("SIGKILL")
  expect((await end).signal).toBe("SIGKILL")
}

/** SQLite silently drops a transaction that was not written completely. */
const tearLastWrite = ({ bookings, chance, count, observations, setup }: History) => {
  const isConfirmed = (id: string) => observations.paid.has(id) || bookings.isConfirmed(id)
  count(`logs with a part of ${tearLog(setup.home, chance.oneOf(tears), isConfirmed, chance)}`)
}

export const testEmbeddedLedgerKills = ({ kills: totalKills }: { readonly kills: number }) =>
  describe("an embedded ledger whose server is killed with -9 under load", () => {
    const add = collectTotals("embedded ledger")

    it.each(historiesWith(totalKills))(
      "has exactly one charge for each 200 that a caller received after $kills kills and a clean stop",
      async ({ kills }) => {
        const numbers = await runHistory("embedded ledger", {}, async (context) => {
          const { checks, actors, chance, count, setup } = context
          let server = await context.start()
          for (let number = 0; number < kills; number++) {
            if (number > 0) await actors.replenish()
            await killDuringCalls(context, server, number)
            if (number % 3 === 0) tearLastWrite(context)
            if (number % 3 === 1) {
              count("kills while starting")
              await killDuringStart(setup, chance)
            }
            server = await context.start()
            expect(await context.bookings.repeat()).toEqual([])
            await checks.run()
          }
          await stopUnderLoad(context, server)
          await checks.run() // by commands that open the ledger themselves
        })
        add(numbers)
      },
      historyTimeout
    )
  })
